// fingerprint() of long texts.
#pragma once
#include <cstdint>
#include <string_view>

namespace garner {

/// Returns the same number as fingerprint(). Calls the library, which uses the widest vectors of the processor: twice as
/// fast for more than some kilobytes. The inlined version is limited to the baseline instruction set.
std::uint64_t hash_long(std::string_view bytes, std::uint64_t seed);

}   // namespace garner
