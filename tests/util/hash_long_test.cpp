#include "util/hash_long.hpp"

#include <gtest/gtest.h>

#include <string>

#include "util/hash.hpp"

namespace garner {
namespace {

TEST(HashLong, is_the_fingerprint_whatever_the_processor_has) {
    std::string text;
    for (int i = 0; i < 5'000; ++i) text += static_cast<char>(i * 2654435761u >> 13);
    for (std::size_t length = 0; length <= text.size(); ++length) {
        auto const part = std::string_view(text).substr(0, length);
        ASSERT_EQ(hash_long(part, length * 77), fingerprint(part, length * 77)) << length;
    }
    std::string const blocks(1'000'001, 'x');
    EXPECT_EQ(hash_long(blocks, 1), fingerprint(blocks, 1));
}

}   // namespace
}   // namespace garner
