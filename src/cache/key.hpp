// The texts of cache keys, and the partitions of the cache.
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace garner::cache {

/// They never answer for each other: an accelerator's objects come from its own origin alone.
enum class Partition : char { forward = 'f', accelerator = 'a' };
inline constexpr std::array partitions{Partition::forward, Partition::accelerator};

/// The text of a cache key: the partition and the URL in its normal form.
inline void write_key_text(Partition partition, std::string_view url, std::string& out) {
    out.assign(1, static_cast<char>(partition));
    out += url;
}

/// The key of one variant of a URL (RFC 9111 4.1): the primary key and the selecting fields' canonical text.
std::string variant_text(std::string_view key, std::string_view variant);
/// The key of the parts of what has `key` (a URL's, or a variant's) when it is whole.
std::string parts_text(std::string_view key);

}  // namespace garner::cache
