// The parts of the cache, and the text of a key within one.
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

}  // namespace garner::cache
