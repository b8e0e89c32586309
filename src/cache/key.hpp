// Cache key texts and cache partitions.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "util/hash.hpp"

namespace garner::cache {

/// A cache key's text and its keyed fingerprint. Made by MemoryTier::key; the text is borrowed.
struct Key {
    std::string_view text;   // partition and normalised URI
    Fingerprint fingerprint = 0;
};

/// Partitions never share objects: an accelerator's objects come from its own origin only, and its origin is told whether
/// the client speaks TLS.
enum class Partition : char { forward = 'f', accelerator = 'a', secure_accelerator = 's' };
inline constexpr std::array partitions{Partition::forward, Partition::accelerator, Partition::secure_accelerator};

/// The text of a cache key: the partition and the URL in its normal form.
inline void write_key_text(Partition partition, std::string_view url, std::string& out) {
    out.assign(1, static_cast<char>(partition));
    out += url;
}

/// The key of the same URL for the accelerator's other clients, those with or without TLS; empty for a forward proxy's key.
std::string twin_text(std::string_view key);

/// The key of one variant of a URL (RFC 9111 4.1): the primary key and the selecting fields' canonical text.
std::string variant_text(std::string_view key, std::string_view variant);
/// The URL's primary key, from the key of a URL, variant or parts.
std::string_view url_of(std::string_view key);
/// The URL in normal form, without the partition.
std::string_view plain_url_of(std::string_view key);
/// The key of the stored parts of a response. `key`: the key (of a URL or a variant) of the whole response.
std::string parts_text(std::string_view key);
inline bool is_parts_text(std::string_view key) { return key.ends_with('\x02'); }

/// The key of the whole response, from its own key or the key of its parts.
inline std::string_view whole_of(std::string_view key) { return key.substr(0, key.find('\x02')); }

}   // namespace garner::cache
