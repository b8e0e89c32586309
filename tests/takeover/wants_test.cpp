// Keys that the new process asks for are read from blocks of any size; an invalid length ends the reading.
#include "takeover/wants.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace garner::takeover {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> read(std::string_view bytes, std::size_t at_once) {
    Wants wants;
    std::vector<std::string> keys;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(at_once, bytes.size()))) {
        wants.add(bytes.substr(0, at_once));
        while (auto key = wants.next()) keys.push_back(*key);
    }
    return keys;
}

TEST(Wants, are_read_from_blocks_of_any_size) {
    auto const bytes = want("fhttp://a.example/") + want("x") + want(std::string(want_max, 'l'));
    for (std::size_t at_once : {1, 3, 7, 100, 10'000})
        EXPECT_THAT(read(bytes, at_once), ElementsAre("fhttp://a.example/", "x", std::string(want_max, 'l')));
}

TEST(Wants, are_not_made_of_long_or_empty_keys) {
    EXPECT_EQ(want(""), "");
    EXPECT_EQ(want(std::string(want_max + 1, 'l')), "");
}

TEST(Wants, end_at_an_invalid_length) {
    EXPECT_THAT(read(want("a") + std::string(4, '\0') + want("b"), 100), ElementsAre("a"));
    EXPECT_THAT(read(std::string(8, '\xff') + want("b"), 3), IsEmpty());
}

}   // namespace
}   // namespace garner::takeover
