#include "http/trace_id.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace garner::http {
namespace {

std::string const id_of_trace = "4bf92f3577b34da6a3ce929d0e0e4736";
std::string const valid_parent = "00-" + id_of_trace + "-00f067aa0ba902b7-01";

TEST(TraceId, is_that_of_the_specification) {
    EXPECT_EQ(trace_id(valid_parent), id_of_trace);
    EXPECT_EQ(trace_id("00-" + id_of_trace + "-00f067aa0ba902b7-00"), id_of_trace);
}

TEST(TraceId, of_a_later_version_may_have_more_after_it) {
    EXPECT_EQ(trace_id("01" + valid_parent.substr(2)), id_of_trace);
    EXPECT_EQ(trace_id("cc" + valid_parent.substr(2) + "-what-the-future-will-be-like"), id_of_trace);
    EXPECT_EQ(trace_id("cc" + valid_parent.substr(2) + ".what-the-future-will-be-like"), "");
    EXPECT_EQ(trace_id(valid_parent + "-more"), "");
}

TEST(TraceId, is_empty_for_each_invalid_value) {
    for (std::string const& wrong : std::vector<std::string>{
             "", "00", valid_parent.substr(0, 54), valid_parent + " ", "ff" + valid_parent.substr(2), "0G" + valid_parent.substr(2),
             "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", "00-" + std::string(32, '0') + "-00f067aa0ba902b7-01",
             "00-" + id_of_trace + "-0000000000000000-01", "00-" + id_of_trace + "-00f067aa0ba902b7-0x",
             "00_" + valid_parent.substr(3)})
        EXPECT_EQ(trace_id(wrong), "") << wrong;
}

/// A changed byte leaves an id of 32 lower-case digits, or none.
TEST(TraceId, of_any_bytes_is_an_id_or_empty) {
    std::mt19937 random(7);
    int found = 0;
    for (int i = 0; i < 20'000; ++i) {
        auto text = valid_parent;
        for (int changes = 0; changes < 2; ++changes) text[random() % text.size()] = "0123456789abcdefABCDEFg- \xff"[random() % 26];
        auto const id = trace_id(text);
        if (id.empty()) continue;
        ++found;
        EXPECT_EQ(id.size(), 32u) << text;
        EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), id.npos) << text;
        EXPECT_NE(id.find_first_not_of('0'), id.npos) << text;
    }
    EXPECT_GT(found, 1'000);
    EXPECT_LT(found, 20'000);
}

}   // namespace
}   // namespace garner::http
