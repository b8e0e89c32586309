// Heads of responses with errors: the repaired text, what is refused, and input in pieces.
#include "http/head_repair.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace garner::http {
namespace {

using namespace std::string_literals;

constexpr HeadLimits limits{.bytes = 512, .fields = 8, .target = 128};

std::string const ok = "HTTP/1.1 200 OK\r\n";

/// As an exchange uses both parsers, with the bytes that end at `ends` in turn.
HeadRepair read(std::string_view bytes, std::vector<std::size_t> const& ends) {
    HeadRepair repair;
    std::size_t scanned = 0;
    ResponseHead head;
    for (auto const end : ends) {
        std::string const received(bytes.substr(0, end));
        auto const parsed = parse_response_head(received, limits, scanned, head);
        if (parsed.kind == HeadParse::Kind::incomplete) continue;
        EXPECT_EQ(parsed.kind, HeadParse::Kind::refused) << "needs no repair";
        repair = repair_response_head(received, limits, scanned);
        if (repair.kind != HeadParse::Kind::incomplete) return repair;
    }
    return repair;
}

HeadRepair read(std::string_view bytes) { return read(bytes, {bytes.size()}); }

void expect_same_in_pieces_of_a_byte(std::string_view bytes) {
    std::vector<std::size_t> ends;
    for (std::size_t end = 1; end <= bytes.size(); ++end) ends.push_back(end);
    auto const whole = read(bytes);
    auto const pieces = read(bytes, ends);
    EXPECT_EQ(pieces.kind, whole.kind);
    EXPECT_EQ(pieces.repair, whole.repair);
    EXPECT_EQ(pieces.text, whole.text);
    EXPECT_EQ(pieces.bytes, whole.bytes);
}

struct RepairedHead {
    std::string bytes;
    Repair repair;
    std::string text;
};

std::vector<RepairedHead> const repaired_heads{
    {ok + "A : b\r\n\r\n", Repair::clear, ok + "A: b\r\n\r\n"},
    {ok + "A\t \t:b\r\nC: d\r\n\r\n", Repair::clear, ok + "A: b\r\nC: d\r\n\r\n"},
    {ok + "Content-Length : 5\r\n\r\n", Repair::doubtful, ok + "Content-Length: 5\r\n\r\n"},
    {ok + "transfer-encoding : chunked\r\n\r\n", Repair::doubtful, ok + "transfer-encoding: chunked\r\n\r\n"},
    {ok + "A: b\r\n c\r\n\r\n", Repair::doubtful, ok + "A: b c\r\n\r\n"},
    {ok + "A: b\r\n\t c \r\n  \r\n d\r\n\r\n", Repair::doubtful, ok + "A: b c  d\r\n\r\n"},
    {ok + "A: b\r\n Content-Length: 5\r\nC: d\r\n\r\n", Repair::doubtful, ok + "A: b Content-Length: 5\r\nC: d\r\n\r\n"},
    {"HTTP/1.1 200 OK\nA: b\n\n", Repair::doubtful, ok + "A: b\r\n\r\n"},
    {ok + "A: b\nContent-Length: 5\r\n\r\n", Repair::doubtful, ok + "A: b\r\nContent-Length: 5\r\n\r\n"},
    {ok + "A: b\r\n\n", Repair::doubtful, ok + "A: b\r\n\r\n"},
    {ok + "A: b\x1b[2J\r\nC: \x01\x7f\r\n\r\n", Repair::clear, ok + "A: b [2J\r\nC:   \r\n\r\n"},
    {ok + "A: b\0c\r\n\r\n"s, Repair::doubtful, ok + "A: b c\r\n\r\n"},
    {ok + "A: b\rContent-Length: 5\r\n\r\n", Repair::doubtful, ok + "A: b Content-Length: 5\r\n\r\n"},
    {ok + "A: b\r\r\n\r\n", Repair::doubtful, ok + "A: b \r\n\r\n"},
    {"HTTP/1.1 200 O\x1bK\r\n\r\n", Repair::clear, "HTTP/1.1 200 O K\r\n\r\n"},
    {"HTTP/1.1 200 O\rK\r\n\r\n", Repair::doubtful, "HTTP/1.1 200 O K\r\n\r\n"},
    {"HTTP/1.1 200\n\n", Repair::doubtful, "HTTP/1.1 200\r\n\r\n"},
};

TEST(HeadRepair, writes_what_a_strict_parser_accepts) {
    for (auto const& row : repaired_heads) {
        SCOPED_TRACE(testing::PrintToString(row.bytes));
        for (std::string const after : {"", "body", "\r\n\r\n"}) {
            auto const repair = read(row.bytes + after);
            ASSERT_EQ(repair.kind, HeadParse::Kind::complete);
            EXPECT_EQ(repair.bytes, row.bytes.size());
            EXPECT_EQ(repair.repair, row.repair);
            EXPECT_EQ(repair.text, row.text);
            ResponseHead head;
            std::size_t scanned = 0;
            EXPECT_EQ(parse_response_head(repair.text, {}, scanned, head).kind, HeadParse::Kind::complete);
        }
        expect_same_in_pieces_of_a_byte(row.bytes + "body");
        for (std::size_t size = 0; size < row.bytes.size(); ++size)
            EXPECT_EQ(read(row.bytes.substr(0, size)).kind, HeadParse::Kind::incomplete) << size;
    }
}

TEST(HeadRepair, refuses_what_has_no_clear_meaning) {
    for (auto const& bytes : {
             "SSH-2.0-OpenSSH\r\n"s,
             "ICY 200 OK\r\n"s,
             "\r\n" + ok,
             "HTTP/2.0 200 OK\n\n"s,
             ok + " A: b\r\n",
             ok + "A\r\n",
             ok + ": a\r\n",
             ok + " : a\r\n",
             ok + "A b : c\r\n",
             ok + "A\x01: b\r\n",
             ok + "A\r: b\r\n",
             ok + "A: b\nC\r\n",
             ok + "Transfer-Encoding: \x0b"
                  "chunked\r\n\r\n",
             ok + "Content-Length: 5\0\r\n\r\n"s,
             ok + "Content-Length: 1\r\n 0\r\n\r\n",
             ok + "Transfer-Encoding:\r\n chunked\r\n\r\n",
             ok + "A: b\nC: " + std::string(600, 'd'),
         }) {
        SCOPED_TRACE(testing::PrintToString(bytes.substr(0, 80)));
        EXPECT_EQ(read(bytes).kind, HeadParse::Kind::refused);
        expect_same_in_pieces_of_a_byte(bytes);
    }
}

/// Bytes of a slow sender are not scanned repeatedly: a pass per byte would take minutes here.
TEST(HeadRepair, a_large_head_byte_by_byte_is_no_burden) {
    std::string bytes = "HTTP/1.1 200 OK\n";
    for (int i = 0; i < 250; ++i) bytes += "Name: " + std::string(1000, 'v') + "\n";
    bytes += "\n";
    std::size_t scanned = 0;
    HeadRepair repair;
    for (std::size_t size = 17; size <= bytes.size(); ++size)
        repair = repair_response_head({bytes.data(), size}, {.bytes = 1 << 20}, scanned);
    EXPECT_EQ(repair.kind, HeadParse::Kind::complete);
    EXPECT_EQ(repair.bytes, bytes.size());
}

}   // namespace
}   // namespace garner::http
