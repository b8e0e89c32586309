// Cache-Status (RFC 9211): what this cache did with the request, for people and tools downstream.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace garner::http {

/// Why a request went forward (RFC 9211 2.2).
enum class Fwd : std::uint8_t { none, bypass, method, uri_miss, vary_miss, miss, request, stale, partial };

struct CacheStatus {
    std::string_view cache_name = "garner";  // cut at 32 bytes
    bool hit = false;
    Fwd fwd = Fwd::none;           // written, with the members that belong to it, when not none and not a hit
    std::uint16_t fwd_status = 0;  // the status the next hop answered; 0: none
    std::optional<std::int64_t> ttl{};  // seconds; negative when stale
    bool stored = false;
    bool collapsed = false;
    std::string_view source{};     // the peer it came from and why, before the detail; cut at 48 bytes
    std::string_view detail{};     // cut at 64 bytes; a quote, a backslash and what is not printable ASCII become '?'
};

inline constexpr std::size_t cache_status_bytes = 256;

/// Writes the field's value into `out`, which has room for cache_status_bytes; returns its length. Allocates nothing.
std::size_t write_cache_status(char* out, CacheStatus const&);

}  // namespace garner::http
