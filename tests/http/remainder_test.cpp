#include "http/remainder.hpp"

#include <gtest/gtest.h>

#include "http/heads.hpp"

namespace garner::http {
namespace {

constexpr std::string_view strong = "ETag: \"a\"\r\nContent-Type: text/plain\r\n";

std::string head(std::string_view status, std::string_view lines = strong) {
    return "HTTP/1.1 " + std::string(status) + " x\r\n" + std::string(lines);
}

Framing of_length(std::uint64_t bytes) { return {.kind = Framing::Kind::length, .length = bytes}; }
Framing chunked() { return {.kind = Framing::Kind::chunked}; }

ResponseHead part(std::string_view range, std::string_view etag = R"("a")") {
    return response(206, {{"Content-Range", range}, {"ETag", etag}, {"Content-Type", "text/plain"}});
}
ResponseHead whole(std::string_view etag = R"("a")") { return response(200, {{"ETag", etag}, {"Content-Type", "text/plain"}}); }

using Skipped = std::optional<std::uint64_t>;

TEST(Remainder, of_a_200_the_rest_is_asked_for_under_its_validator) {
    Remainder rest(head("200"), {.done = 40, .announced = 100});
    EXPECT_TRUE(rest.is_obtainable(test_now));
    EXPECT_EQ(rest.request_lines(test_now), "Range: bytes=40-\r\nIf-Range: \"a\"\r\n");
    EXPECT_EQ(rest.skipped_in(part("bytes 40-99/100"), of_length(60), test_now), Skipped(0));
    EXPECT_EQ(rest.skipped_in(whole(), of_length(100), test_now), Skipped(40));
}

TEST(Remainder, what_is_not_exactly_the_rest_is_something_else) {
    Remainder rest(head("200"), {.done = 40, .announced = 100});
    EXPECT_FALSE(rest.skipped_in(part("bytes 40-99/100", R"("b")"), of_length(60), test_now));
    EXPECT_FALSE(rest.skipped_in(part("bytes 40-99/100", R"(W/"a")"), of_length(60), test_now));
    EXPECT_FALSE(rest.skipped_in(part("bytes 41-99/100"), of_length(59), test_now));
    EXPECT_FALSE(rest.skipped_in(part("bytes 40-98/100"), of_length(59), test_now));
    EXPECT_FALSE(rest.skipped_in(part("bytes 40-99/101"), of_length(60), test_now));
    EXPECT_FALSE(rest.skipped_in(part("bytes 40-99/100"), of_length(50), test_now));
    EXPECT_FALSE(rest.skipped_in(part("bytes 41-99/100"), chunked(), test_now));
    EXPECT_FALSE(rest.skipped_in(whole(R"("b")"), of_length(100), test_now));
    EXPECT_FALSE(rest.skipped_in(whole(), of_length(101), test_now));
    EXPECT_FALSE(rest.skipped_in(response(504, {{"ETag", R"("a")"}}), of_length(100), test_now));
}

TEST(Remainder, an_answer_whose_framing_does_not_tell_is_to_have_as_much_as_is_missing) {
    Remainder rest(head("200"), {.done = 40, .announced = 100});
    for (auto const& framing : {chunked(), Framing{.kind = Framing::Kind::until_close}}) {
        EXPECT_EQ(rest.skipped_in(part("bytes 40-99/100"), framing, test_now), Skipped(0));
        EXPECT_EQ(rest.left_in(part("bytes 40-99/100"), framing), Skipped(60));
        EXPECT_EQ(rest.skipped_in(whole(), framing, test_now), Skipped(40));
        EXPECT_EQ(rest.left_in(whole(), framing), Skipped(60));
        EXPECT_FALSE(rest.skipped_in(whole(R"("b")"), framing, test_now));
        Remainder endless(head("200"), {.done = 40});
        EXPECT_EQ(endless.skipped_in(part("bytes 40-79/80"), framing, test_now), Skipped(0));
        EXPECT_EQ(endless.left_in(part("bytes 40-79/80"), framing), Skipped(40));
        EXPECT_EQ(endless.left_in(whole(), framing), std::nullopt);
        auto with_range = whole();
        with_range.fields.add("Content-Range", "bytes 0-9/10");
        EXPECT_EQ(endless.left_in(with_range, framing), std::nullopt) << "Content-Range counts only in a 206";
    }
    EXPECT_EQ(rest.left_in(part("bytes 40-99/100"), of_length(60)), std::nullopt);
}

TEST(Remainder, of_unknown_length_the_answer_says_where_it_ends) {
    Remainder rest(head("200"), {.done = 40});
    EXPECT_EQ(rest.request_lines(test_now), "Range: bytes=40-\r\nIf-Range: \"a\"\r\n");
    EXPECT_EQ(rest.skipped_in(part("bytes 40-79/80"), of_length(40), test_now), Skipped(0));
    EXPECT_FALSE(rest.skipped_in(part("bytes 40-78/80"), of_length(39), test_now));
    EXPECT_EQ(rest.skipped_in(whole(), chunked(), test_now), Skipped(40));
    EXPECT_EQ(rest.skipped_in(whole(), of_length(80), test_now), Skipped(40));
    EXPECT_FALSE(rest.skipped_in(whole(), of_length(39), test_now));
}

TEST(Remainder, of_a_206_it_lies_where_the_part_does) {
    auto const lines = std::string(strong) + "Content-Range: bytes 100-199/1000\r\n";
    Remainder rest(head("206", lines), {.done = 40, .announced = 100});
    EXPECT_EQ(rest.request_lines(test_now), "Range: bytes=140-199\r\nIf-Range: \"a\"\r\n");
    EXPECT_EQ(rest.skipped_in(part("bytes 140-199/1000"), of_length(60), test_now), Skipped(0));
    EXPECT_FALSE(rest.skipped_in(part("bytes 140-999/1000"), of_length(860), test_now));
    // The range would not end with the part.
    EXPECT_FALSE(rest.skipped_in(whole(), of_length(1000), test_now));
    Remainder several(head("206"), {.done = 40, .announced = 100});
    EXPECT_FALSE(several.is_obtainable(test_now));
}

TEST(Remainder, behind_bytes_that_were_there_before_it_counts_from_them) {
    Remainder rest(head("200"), {.first = 500, .done = 40, .announced = 100, .length = 1000});
    EXPECT_EQ(rest.request_lines(test_now), "Range: bytes=540-599\r\nIf-Range: \"a\"\r\n");
    EXPECT_EQ(rest.skipped_in(part("bytes 540-599/1000"), of_length(60), test_now), Skipped(0));
    EXPECT_FALSE(rest.skipped_in(whole(), of_length(1000), test_now));
}

TEST(Remainder, without_a_strong_validator_only_what_was_not_begun) {
    for (auto lines : {"", "ETag: W/\"a\"\r\n", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"}) {
        Remainder begun(head("200", lines), {.done = 1, .announced = 100});
        EXPECT_FALSE(begun.is_obtainable(test_now)) << lines;
        Remainder untouched(head("200", lines), {.announced = 100});
        EXPECT_TRUE(untouched.is_obtainable(test_now)) << lines;
        EXPECT_EQ(untouched.request_lines(test_now), "");
    }
    Remainder dated(head("200", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:50:37 GMT\r\n"),
                    {.done = 1, .announced = 100});
    EXPECT_TRUE(dated.is_obtainable(test_now));
}

TEST(Remainder, what_was_not_begun_may_come_anew_when_it_is_described_the_same) {
    Remainder rest(head("404", "Content-Type: text/plain\r\nCache-Control: max-age=5\r\n"), {.announced = 100});
    Field const type{"Content-Type", "text/plain"};
    Field const control{"Cache-Control", "max-age=5"};
    EXPECT_EQ(rest.skipped_in(response(404, {type, control}), of_length(100), test_now), Skipped(0));
    EXPECT_FALSE(rest.skipped_in(response(200, {type, control}), of_length(100), test_now));
    EXPECT_FALSE(rest.skipped_in(response(404, {type, control}), of_length(99), test_now));
    EXPECT_FALSE(rest.skipped_in(response(404, {type}), of_length(100), test_now));
    EXPECT_FALSE(rest.skipped_in(response(404, {type, {"Cache-Control", "private"}}), of_length(100), test_now));
    EXPECT_FALSE(rest.skipped_in(response(404, {type, control, {"Set-Cookie", "a=b"}}), of_length(100), test_now));
    Remainder begun(head("404"), {.done = 1, .announced = 100});
    EXPECT_FALSE(begun.is_obtainable(test_now));
}

}   // namespace
}   // namespace garner::http
