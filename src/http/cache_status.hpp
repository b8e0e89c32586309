// Cache-Status (RFC 9211): how this cache handled the request, for downstream readers and tools.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace garner::http {

/// Why a request went forward (RFC 9211 2.2).
enum class Fwd : std::uint8_t { none, bypass, method, uri_miss, vary_miss, miss, request, stale, partial };
/// The token in the field: "uri-miss"; empty for none.
std::string_view text(Fwd);

struct CacheStatus {
    std::string_view cache_name = "garner";   // truncated to 32 bytes
    bool hit = false;
    Fwd fwd = Fwd::none;                 // written, with its parameters, when not none and not a hit
    std::uint16_t fwd_status = 0;        // the status from the next hop; 0: none
    std::optional<std::int64_t> ttl{};   // seconds; negative when stale
    bool stored = false;
    bool collapsed = false;
    std::string_view source{};   // the peer and the reason for it, before the detail; truncated to 48 bytes
    std::string_view detail{};   // truncated to 64 bytes; quotes, backslashes and bytes other than printable ASCII become '?'
};

inline constexpr std::size_t cache_status_bytes = 256;

/// Writes the field's value to `out`, which must hold cache_status_bytes; returns its length. Allocates nothing.
std::size_t write_cache_status(char* out, CacheStatus const&);
/// Likewise, without the name that the value begins with.
std::size_t write_cache_parameters(char* out, CacheStatus const&);
/// The name as the value begins with it: a token, or else quoted.
std::string cache_name_item(std::string_view name);

}   // namespace garner::http
