// fingerprint() of long texts.
#pragma once
#include <cstdint>
#include <string_view>

namespace garner {

/// The same number as fingerprint(). A call into the library, which takes the widest vectors that the processor has: twice
/// as fast from some kilobytes on, where what is compiled in goes by the least that every processor has.
std::uint64_t hash_long(std::string_view bytes, std::uint64_t seed);

}  // namespace garner
