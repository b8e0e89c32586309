// Copies that bypass the processor's caches copy every byte, and nothing beside them.
#include "util/copy_out.hpp"

#include <gtest/gtest.h>

#include <string>

namespace garner {
namespace {

TEST(CopyOut, copies_every_byte_and_no_other_at_any_place) {
    std::string source(70'000, '\0');
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<char>((i * 2654435761u) >> 13 | 1);
    for (std::size_t size : {0, 1, 15, 63, 64, 65, 127, 128, 200, 4'096, 65'536})
        for (std::size_t to : {0, 1, 16, 33, 63})
            for (std::size_t from : {0, 5, 64}) {
                std::string into(size + 200, '\0');
                copy_out(into.data() + to, source.data() + from, size);
                std::string expected(size + 200, '\0');
                expected.replace(to, size, source, from, size);
                ASSERT_TRUE(into == expected) << size << " bytes from " << from << " to " << to;
            }
}

}   // namespace
}   // namespace garner
