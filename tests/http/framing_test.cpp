// Message framing: every ambiguity is refused, and bodies decode equally however they are split.
#include "http/framing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "http/heads.hpp"

namespace garner::http {
namespace {

using namespace std::string_literals;

using Kind = Framing::Kind;
using Step = BodyDecoder::Step;

struct Lines {
    std::string_view name, value;
};

/// A head as received, so that each row is something a hostile peer can send.
struct Message {
    RequestHead request;
    ResponseHead response;

    explicit Message(std::vector<Lines> const& lines, Version version = Version::http_1_1, std::uint16_t status = 200) {
        request.version = response.version = version;
        response.status = status;
        for (auto const& line : lines) {
            request.fields.add(line.name, line.value);
            response.fields.add(line.name, line.value);
        }
    }
};

struct Refused {
    std::vector<Lines> lines;
    char const* refusal;
    std::uint16_t status = 400;
};

constexpr std::string_view length = "Content-Length", coding = "Transfer-Encoding";

std::vector<Refused> const refused_framings{
    {{{length, "5"}, {coding, "chunked"}}, "Content-Length with Transfer-Encoding"},
    {{{coding, "chunked"}, {length, "0"}}, "Content-Length with Transfer-Encoding"},
    {{{coding, "gzip"}, {length, "5"}}, "Content-Length with Transfer-Encoding"},
    {{{coding, ""}, {length, "5"}}, "Content-Length with Transfer-Encoding"},
    {{{length, "5"}, {length, "5"}}, "more than one Content-Length"},
    {{{length, "5"}, {length, "6"}}, "more than one Content-Length"},
    {{{length, "5"}, {"CONTENT-LENGTH", ""}}, "more than one Content-Length"},
    {{{length, "5, 5"}}, "Content-Length is a list"},
    {{{length, "5,6"}}, "Content-Length is a list"},
    {{{length, "5,"}}, "Content-Length is a list"},
    {{{length, ",5"}}, "Content-Length is a list"},
    {{{length, ""}}, "Content-Length is not a number"},
    {{{length, "+5"}}, "Content-Length is not a number"},
    {{{length, "-5"}}, "Content-Length is not a number"},
    {{{length, "-0"}}, "Content-Length is not a number"},
    {{{length, "5 5"}}, "Content-Length is not a number"},
    {{{length, "5\t"}}, "Content-Length is not a number"},
    {{{length, "0x5"}}, "Content-Length is not a number"},
    {{{length, "a"}}, "Content-Length is not a number"},
    {{{length, "1_000"}}, "Content-Length is not a number"},
    {{{length, "5.0"}}, "Content-Length is not a number"},
    {{{length, "1e3"}}, "Content-Length is not a number"},
    {{{length, "\"5\""}}, "Content-Length is not a number"},
    {{{length, "5;a"}}, "Content-Length is not a number"},
    {{{length, "\xef\xbc\x95"}}, "Content-Length is not a number"},
    {{{length, "9223372036854775808"}}, "Content-Length too large"},
    {{{length, "18446744073709551616"}}, "Content-Length too large"},
    {{{length, "18446744073709551621"}}, "Content-Length too large"},
    {{{length, "99999999999999999999999999999999"}}, "Content-Length too large"},
    {{{coding, "gzip"}}, "unknown transfer coding", 501},
    {{{coding, "identity"}}, "unknown transfer coding", 501},
    {{{coding, "gzip, chunked"}}, "unknown transfer coding", 501},
    {{{coding, "gzip"}, {coding, "chunked"}}, "unknown transfer coding", 501},
    {{{coding, "xchunked"}}, "unknown transfer coding", 501},
    {{{coding, "chunke"}}, "unknown transfer coding", 501},
    {{{coding, "chunked, gzip"}}, "chunked is not the last coding"},
    {{{coding, "chunked"}, {coding, "identity"}}, "chunked is not the last coding"},
    {{{coding, "chunked, chunked"}}, "chunked twice"},
    {{{coding, "chunked"}, {coding, "Chunked"}}, "chunked twice"},
    {{{coding, ""}}, "malformed Transfer-Encoding"},
    {{{coding, ","}}, "malformed Transfer-Encoding"},
    {{{coding, "chunked,"}}, "malformed Transfer-Encoding"},
    {{{coding, ", chunked"}}, "malformed Transfer-Encoding"},
    {{{coding, "chunked"}, {coding, ""}}, "malformed Transfer-Encoding"},
    {{{coding, "\"chunked\""}}, "malformed Transfer-Encoding"},
    {{{coding, "'chunked\""}}, "malformed Transfer-Encoding"},
    {{{coding, "chunked;q=1"}}, "malformed Transfer-Encoding"},
    {{{coding, "chunked chunked"}}, "malformed Transfer-Encoding"},
    {{{coding, "\x0b"
               "chunked"}},
     "malformed Transfer-Encoding"},
    {{{coding, "chunked\x80"}}, "malformed Transfer-Encoding"},
};

TEST(Framing, ambiguous_messages_are_refused_by_name) {
    for (auto const& row : refused_framings) {
        Message const message(row.lines);
        SCOPED_TRACE(row.lines.front().value);
        auto request = request_framing(message.request);
        EXPECT_STREQ(request.refusal, row.refusal);
        EXPECT_EQ(request.status, row.status);
        EXPECT_STREQ(response_framing(message.response, Method::get).refusal, row.refusal);
    }
}

TEST(Framing, http_1_0_knows_no_transfer_codings) {
    for (auto value : {"chunked", "gzip", ""}) {
        Message const message({{coding, value}}, Version::http_1_0);
        EXPECT_STREQ(request_framing(message.request).refusal, "Transfer-Encoding in HTTP/1.0");
        EXPECT_STREQ(response_framing(message.response, Method::get).refusal, "Transfer-Encoding in HTTP/1.0");
    }
}

void expect_framing(Framing const& framing, Kind kind, std::uint64_t bytes = 0) {
    EXPECT_EQ(framing.refusal, nullptr);
    EXPECT_EQ(framing.kind, kind);
    EXPECT_EQ(framing.length, bytes);
}

TEST(Framing, clear_messages_are_understood) {
    expect_framing(request_framing(Message({}).request), Kind::none);
    expect_framing(response_framing(Message({}).response, Method::get), Kind::until_close);
    for (auto value : {"chunked", "CHUNKED", "Chunked"}) {
        expect_framing(request_framing(Message({{coding, value}}).request), Kind::chunked);
        expect_framing(response_framing(Message({{coding, value}}).response, Method::get), Kind::chunked);
    }
    std::pair<std::string_view, std::uint64_t> const lengths[] = {
        {"0", 0}, {"5", 5}, {"0000000000000000000000000000000007", 7}, {"9223372036854775807", INT64_MAX}};
    for (auto [value, bytes] : lengths) {
        Message const message({{length, value}});
        expect_framing(request_framing(message.request), Kind::length, bytes);
        expect_framing(response_framing(message.response, Method::get), Kind::length, bytes);
    }
}

TEST(Framing, bodiless_responses_stay_so_whatever_their_fields_say) {
    struct Row {
        std::uint16_t status;
        Method request;
    };
    std::vector<std::vector<Lines>> const heads{
        {}, {{length, "5"}}, {{coding, "chunked"}}, {{length, "5"}, {coding, "chunked"}}, {{length, "x"}}};
    // clang-format off
    for (Row row : {Row{200, Method::head}, {404, Method::head}, {100, Method::get}, {103, Method::get},
                    {101, Method::get}, {204, Method::get}, {304, Method::get}, {200, Method::connect},
                    {299, Method::connect}})
        for (auto const& lines : heads)
            expect_framing(response_framing(Message(lines, Version::http_1_1, row.status).response, row.request),
                           Kind::none);
    // clang-format on
    Message const refusal({{length, "5"}}, Version::http_1_1, 403);
    expect_framing(response_framing(refusal.response, Method::connect), Kind::length, 5);
    Message const reset({{length, "0"}}, Version::http_1_1, 205);
    expect_framing(response_framing(reset.response, Method::get), Kind::length, 0);
}

TEST(Framing, of_a_response_is_settled_where_RFC_9112_says_how) {
    struct Row {
        std::vector<Lines> lines;
        Version version;
        Kind kind;
        std::uint64_t bytes;
        char const* refusal;
    };
    auto const v1 = Version::http_1_1;
    std::vector<Row> const rows{
        {{{length, "5"}, {length, "5"}}, v1, Kind::length, 5, nullptr},
        {{{length, "5, 5"}, {length, "05"}}, v1, Kind::length, 5, nullptr},
        {{{length, "5"}, {coding, "chunked"}}, v1, Kind::chunked, 0, nullptr},
        {{{coding, "Chunked"}, {length, "x"}}, v1, Kind::chunked, 0, nullptr},
        {{{coding, "chunked"}}, Version::http_1_0, Kind::chunked, 0, nullptr},
        {{{coding, "chunked"}, {length, "5"}}, Version::http_1_0, Kind::chunked, 0, nullptr},
        {{{length, "5"}, {length, "4"}}, v1, Kind::none, 0, "Content-Length values differ"},
        {{{length, "5, 4"}}, v1, Kind::none, 0, "Content-Length values differ"},
        {{{length, "5,"}}, v1, Kind::none, 0, "Content-Length is not a number"},
        {{{length, "+5"}, {length, "+5"}}, v1, Kind::none, 0, "Content-Length is not a number"},
        {{{length, "5"}, {coding, "gzip"}}, v1, Kind::none, 0, "unknown transfer coding"},
        {{{coding, "gzip, chunked"}}, v1, Kind::none, 0, "unknown transfer coding"},
        {{{coding, "chunked"}, {coding, "chunked"}}, v1, Kind::none, 0, "chunked twice"},
        {{{coding, "chunked, identity"}, {length, "5"}}, v1, Kind::none, 0, "chunked is not the last coding"},
    };
    for (auto const& row : rows) {
        SCOPED_TRACE(row.lines.front().value);
        Message const message(row.lines, row.version);
        EXPECT_NE(response_framing(message.response, Method::get).refusal, nullptr);
        auto const settled = settled_response_framing(message.response, Method::get);
        EXPECT_STREQ(settled.refusal, row.refusal);
        EXPECT_EQ(settled.kind, row.kind);
        EXPECT_EQ(settled.length, row.bytes);
        EXPECT_NE(request_framing(message.request).refusal, nullptr) << "requests stay strict";
        EXPECT_EQ(settled_response_framing(message.response, Method::head).refusal, nullptr) << "there is no body";
    }
}

/// The result of decoding a body.
struct Decoded {
    enum class End { done, open, refused };
    End end = End::open;
    std::string body, trailers, refusal;
    std::size_t consumed = 0;   // set when done

    friend bool operator==(Decoded const&, Decoded const&) = default;
    friend std::ostream& operator<<(std::ostream& out, Decoded const& decoded) {
        return out << "end " << static_cast<int>(decoded.end) << " after " << decoded.consumed << " (" << decoded.refusal
                   << ") body '" << decoded.body << "' trailers '" << decoded.trailers << "'";
    }
};

/// Takes every step of `piece`, which is in a separate allocation. True if there are no more steps.
bool take(BodyDecoder& decoder, std::string_view piece, Decoded& decoded) {
    auto const owned = std::make_unique<char[]>(piece.size());
    piece.copy(owned.get(), piece.size());
    std::string_view rest(owned.get(), piece.size());
    while (true) {
        auto step = decoder.step(rest);
        decoded.consumed += step.consumed;
        if (!step.data.empty()) {
            EXPECT_EQ(step.data.data() + step.data.size(), rest.data() + step.consumed) << "the data must be a view of the input";
        }
        EXPECT_LE(step.consumed, rest.size());
        rest.remove_prefix(step.consumed);
        switch (step.kind) {
        case Step::Kind::data:
            EXPECT_FALSE(step.data.empty());
            decoded.body += step.data;
            break;
        case Step::Kind::need_more: EXPECT_TRUE(rest.empty()); return false;
        case Step::Kind::done: decoded.end = Decoded::End::done; return true;
        case Step::Kind::refused: decoded.end = Decoded::End::refused; return true;
        }
    }
}

Decoded decode(Framing const& framing, std::string_view bytes, std::vector<std::size_t> const& ends) {
    BodyDecoder decoder(framing, 256);
    Decoded decoded;
    std::size_t begin = 0;
    for (auto end : ends) {
        if (take(decoder, bytes.substr(begin, end - begin), decoded)) break;
        begin = end;
    }
    EXPECT_EQ(decoder.done(), decoded.end == Decoded::End::done);
    if (decoded.end != Decoded::End::done) decoded.consumed = 0;
    if (decoder.refusal()) decoded.refusal = decoder.refusal();
    if (decoder.done()) decoded.trailers = decoder.trailers();
    return decoded;
}

Decoded decode(Framing const& framing, std::string_view bytes) { return decode(framing, bytes, {bytes.size()}); }

void expect_same_in_pieces(Framing const& framing, std::string_view bytes) {
    auto const expected = decode(framing, bytes);
    std::vector<std::size_t> every_byte;
    for (std::size_t end = 0; end <= bytes.size(); ++end) every_byte.push_back(end);
    EXPECT_EQ(decode(framing, bytes, every_byte), expected) << "byte by byte";
    if (bytes.size() > 2000) return;
    for (std::size_t split = 0; split <= bytes.size(); ++split)
        EXPECT_EQ(decode(framing, bytes, {split, bytes.size()}), expected) << "split at " << split;
}

constexpr Framing chunked{.kind = Kind::chunked};

struct Body {
    std::string bytes, body, trailers;
};

std::vector<Body> const good_bodies{
    {"0\r\n\r\n", "", ""},
    {"5\r\nhello\r\n0\r\n\r\n", "hello", ""},
    {"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world", ""},
    {"a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789", ""},
    {"0000000000000000000000000000003\r\nabc\r\n000\r\n\r\n", "abc", ""},
    {"2\r\n\r\n\r\n0\r\n\r\n", "\r\n", ""},
    {"1;a\r\nx\r\n0;b=c\r\n\r\n", "x", ""},
    {"1;a=b;c=\"d\"\r\nx\r\n0\r\n\r\n", "x", ""},
    {"1 ; a = b\t;\tc\r\nx\r\n0\r\n\r\n", "x", ""},
    {"1;a=\"; \\\" \\\\ \xff\t\"\r\nx\r\n0\r\n\r\n", "x", ""},
    {"1;a=" + std::string(4000, 'b') + "\r\nx\r\n0\r\n\r\n", "x", ""},
    {"0\r\nA: b\r\n\r\n", "", "A: b\r\n"},
    {"1\r\nx\r\n0\r\nA: b\r\nX-Checksum:  c d \r\nempty:\r\n\r\n", "x", "A: b\r\nX-Checksum:  c d \r\nempty:\r\n"},
    {"0\r\nETag: \"b\"\r\nContent-Digest: c\r\n\r\n", "", "ETag: \"b\"\r\nContent-Digest: c\r\n"},
    {"0\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nHost: evil\r\nA: b\r\n\r\n", "", "A: b\r\n"},
    {"0\r\nAuthorization: a\r\nProxy-Authorization: a\r\nWWW-Authenticate: a\r\nCookie: a\r\nSet-Cookie: a\r\n\r\n", "", ""},
    {"0\r\nCache-Control: no-store\r\nCDN-Cache-Control: a\r\nAge: 1\r\nExpires: 0\r\nVary: *\r\n\r\n", "", ""},
    {"0\r\nConnection: close\r\nTrailer: a\r\nTE: a\r\nUpgrade: a\r\nRange: a\r\nIf-Match: a\r\nRetry-After: 1\r\n\r\n", "", ""},
    {"0\r\nA: " + std::string(249, 'b') + "\r\n\r\n", "", "A: " + std::string(249, 'b') + "\r\n"},
};

TEST(Chunked, well_formed_bodies_are_decoded) {
    for (auto const& row : good_bodies) {
        SCOPED_TRACE(testing::PrintToString(row.bytes.substr(0, 80)));
        for (std::string const next : {"", "GET / HTTP/1.1\r\n\r\n", "\r\n"}) {
            Decoded const expected{Decoded::End::done, row.body, row.trailers, "", row.bytes.size()};
            EXPECT_EQ(decode(chunked, row.bytes + next), expected);
            expect_same_in_pieces(chunked, row.bytes + next);
        }
    }
}

TEST(Chunked, without_its_last_chunk_is_incomplete) {
    std::string const bytes = "5\r\nhello\r\n0;a=\"b\"\r\nA: b\r\n\r\n";
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        BodyDecoder decoder(chunked);
        Decoded decoded;
        EXPECT_FALSE(take(decoder, std::string_view(bytes).substr(0, size), decoded)) << size;
        EXPECT_FALSE(decoder.closed()) << size;
        EXPECT_FALSE(decoder.done()) << size;
    }
}

struct BadBody {
    std::string bytes;
    char const* refusal;
    std::string body = "";   // decoded before the error
};

/// 200 chunks of one byte, each with an extension of a kilobyte.
std::string drizzle() {
    std::string bytes;
    for (int i = 0; i < 200; ++i) bytes += "1;" + std::string(1000, 'e') + "\r\nx\r\n";
    return bytes + "0\r\n\r\n";
}

std::vector<BadBody> const bad_bodies{
    {"\r\n", "chunk size is not a number"},
    {"\n", "chunk size is not a number"},
    {";a\r\n", "chunk size is not a number"},
    {"g\r\n", "chunk size is not a number"},
    {"0x5\r\nhello\r\n", "chunk size is not a number"},
    {"0X5\r\n", "chunk size is not a number"},
    {"x5\r\n", "chunk size is not a number"},
    {"+5\r\nhello\r\n", "chunk size is not a number"},
    {"-5\r\nhello\r\n", "chunk size is not a number"},
    {"-0\r\n\r\n", "chunk size is not a number"},
    {" 5\r\nhello\r\n", "chunk size is not a number"},
    {"\t5\r\nhello\r\n", "chunk size is not a number"},
    {"5_0\r\n", "chunk size is not a number"},
    {"5,5\r\n", "chunk size is not a number"},
    {"5\0\r\n"s, "chunk size is not a number"},
    {"5\x80\r\n", "chunk size is not a number"},
    {"5 \r\nhello\r\n", "white space after chunk size"},
    {"5 5\r\nhello\r\n", "white space after chunk size"},
    {"8000000000000000\r\n", "chunk size too large"},
    {"ffffffffffffffff\r\n", "chunk size too large"},
    {"10000000000000005\r\nhello\r\n", "chunk size too large"},
    {"fffffffffffffffffffffffffffffffffffffffff\r\n", "chunk size too large"},
    {"5\nhello\r\n0\r\n\r\n", "bare LF in chunk-size line"},
    {"5 \nhello\r\n", "bare LF in chunk-size line"},
    {"5;a\nhello\r\n", "bare LF in chunk-size line"},
    {"5;a=\"b\nhello\r\n", "bare LF in chunk-size line"},
    {"5;a=\"b\\\nhello\r\n", "bare LF in chunk-size line"},
    {"5\rhello\r\n", "bare CR in chunk-size line"},
    {"5\r\rhello\r\n", "bare CR in chunk-size line"},
    {"5;a\rb\r\nhello\r\n", "bare CR in chunk-size line"},
    {"5;a=\"b\r\nhello\r\n", "unterminated quote in chunk extension"},
    {"5;a=\"b\rc\"\r\nhello\r\n", "unterminated quote in chunk extension"},
    {"5;a=\"b\\\r\nhello\r\n", "unterminated quote in chunk extension"},
    {"5;a=\"b\\\"\r\nhello\r\n", "unterminated quote in chunk extension"},
    {"5;a\0\r\n"s, "control byte in chunk extension"},
    {"5;a=\"\x01\"\r\n", "control byte in chunk extension"},
    {"5;a=\"\\\x01\"\r\n", "control byte in chunk extension"},
    {"5;\x7f\r\n", "control byte in chunk extension"},
    {"5;\xc3\xa9\r\n", "bad byte in chunk extension"},
    {"5;" + std::string(5000, 'a'), "chunk-size line too long"},
    {"5;a=\"" + std::string(1 << 20, 'b'), "chunk-size line too long"},
    {std::string(5000, '0'), "chunk-size line too long"},
    {drizzle(), "too many chunk extensions", std::string(16, 'x')},
    {"5\r\nhello!\r\n0\r\n\r\n", "data longer than its chunk", "hello"},
    {"5\r\nhello\n0\r\n\r\n", "data longer than its chunk", "hello"},
    {"5\r\nhello\r0\r\n\r\n", "data longer than its chunk", "hello"},
    {"5\r\nhello0\r\n\r\n", "data longer than its chunk", "hello"},
    {"0\r\nA: b\n\r\n", "bare LF in trailer section"},
    {"0\r\n\n", "bare LF in trailer section"},
    {"0\r\nA: b\rc\r\n\r\n", "bare CR in head"},
    {"0\r\n\r\r\n", "no colon in field line"},
    {"0\r\nA\r\n\r\n", "no colon in field line"},
    {"0\r\nA : b\r\n\r\n", "white space before colon"},
    {"0\r\n: b\r\n\r\n", "empty field name"},
    {"0\r\nA: b\r\n c\r\n\r\n", "folded field line"},
    {"0\r\n \r\n\r\n", "folded field line"},
    {"0\r\nA: \0\r\n\r\n"s, "NUL in head"},
    {"0\r\nContent-Length : 5\r\n\r\n", "white space before colon"},
    {"0\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "no colon in field line"},
    {"0\r\nA: " + std::string(250, 'b') + "\r\n\r\n", "trailer section too large"},
    {"0\r\nA: " + std::string(1 << 20, 'b'), "trailer section too large"},
    {"0\r\n" + std::string(300, 'b'), "trailer section too large"},
};

TEST(Chunked, faults_are_refused_by_name) {
    for (auto const& row : bad_bodies) {
        SCOPED_TRACE(testing::PrintToString(row.bytes.substr(0, 80)));
        Decoded const expected{Decoded::End::refused, row.body, "", row.refusal, 0};
        EXPECT_EQ(decode(chunked, row.bytes), expected);
        expect_same_in_pieces(chunked, row.bytes);
    }
}

TEST(Chunked, a_tolerant_decoder_repairs_bodies_of_responses) {
    struct Row {
        std::string bytes, body;
        Repair repair;
    };
    std::vector<Row> const rows{
        {"5  \r\nhello\r\n0\t\r\n\r\n", "hello", Repair::clear},
        {"5\nhello\n0\n\n", "hello", Repair::doubtful},
        {"5 \nhello\r\n0\r\n\r\n", "hello", Repair::doubtful},
        {"5\r\nhello\n0\r\n\r\n", "hello", Repair::doubtful},
        {"0\r\n\n", "", Repair::doubtful},
        {"0\r\nA: b\n\r\n", "", Repair::doubtful},
        {"0\r\nA : b\r\n c\r\nD\r\n\r\r\n\r\n", "", Repair::doubtful},
        {"5;a=b\r\nhello\r\n0\r\n\r\n", "hello", Repair::none},
    };
    for (auto const& row : rows) {
        SCOPED_TRACE(testing::PrintToString(row.bytes));
        BodyDecoder decoder(chunked);
        decoder.tolerate();
        Decoded decoded;
        for (char const& byte : row.bytes) take(decoder, {&byte, 1}, decoded);
        EXPECT_EQ(decoded.end, Decoded::End::done);
        EXPECT_EQ(decoded.body, row.body);
        EXPECT_EQ(decoded.consumed, row.bytes.size());
        EXPECT_EQ(decoder.repair(), row.repair);
    }
}

TEST(Chunked, a_tolerant_decoder_refuses_what_has_two_meanings) {
    for (std::string const bytes :
         {"0x5\r\nhello\r\n", " 5\r\nhello\r\n", "\n5\r\nhello", "5\rhello\r\n", "5\r\rhello", "5 6\r\nhello\r\n", "5;a\nhello\r\n",
          "5;a=\"b\nhello\r\n", "5\r\nhello!\r\n", "5\r\nhello\r0\r\n", "5\r\nhello\n\n0\r\n", "8000000000000000\r\n"}) {
        SCOPED_TRACE(testing::PrintToString(bytes));
        BodyDecoder decoder(chunked);
        decoder.tolerate();
        Decoded decoded;
        take(decoder, bytes, decoded);
        EXPECT_EQ(decoded.end, Decoded::End::refused);
    }
}

TEST(Chunked, extensions_may_grow_with_the_body) {
    std::string const piece(1000, 'x');
    std::string bytes, body;
    for (int i = 0; i < 200; ++i) {
        bytes += "3e8;signature=" + std::string(500, 'e') + "\r\n" + piece + "\r\n";
        body += piece;
    }
    EXPECT_EQ(decode(chunked, bytes + "0\r\n\r\n").body, body);
}

TEST(BodyDecoder, a_length_counts_down_and_leaves_the_next_message) {
    Framing const framing{.kind = Kind::length, .length = 5};
    EXPECT_EQ(decode(framing, "helloGET"), (Decoded{Decoded::End::done, "hello", "", "", 5}));
    expect_same_in_pieces(framing, "helloGET");
    BodyDecoder decoder(framing);
    EXPECT_EQ(decoder.remaining(), 5u);
    auto step = decoder.step("hel");
    EXPECT_EQ(step.kind, Step::Kind::data);
    EXPECT_EQ(step.data, "hel");
    EXPECT_EQ(decoder.remaining(), 2u);
    EXPECT_EQ(decoder.step("").kind, Step::Kind::need_more);
    EXPECT_FALSE(decoder.closed()) << "cut short";
    EXPECT_EQ(decoder.step("lo").kind, Step::Kind::data);
    EXPECT_TRUE(decoder.done());
    EXPECT_EQ(decoder.step("").kind, Step::Kind::done);
    EXPECT_TRUE(decoder.closed());
}

TEST(BodyDecoder, until_close_ends_with_the_connection) {
    Framing const framing{.kind = Kind::until_close};
    expect_same_in_pieces(framing, "a\r\n0\r\n\r\n");
    BodyDecoder decoder(framing);
    EXPECT_EQ(decoder.step("").kind, Step::Kind::need_more);
    EXPECT_EQ(decoder.step("abc").data, "abc");
    EXPECT_EQ(decoder.remaining(), 0u);
    EXPECT_FALSE(decoder.done());
    EXPECT_TRUE(decoder.closed());
    EXPECT_TRUE(decoder.done());
}

TEST(BodyDecoder, nothing_is_done_at_once) {
    for (BodyDecoder decoder : {BodyDecoder(), BodyDecoder(Framing{}), BodyDecoder(Framing{.kind = Kind::length})}) {
        EXPECT_TRUE(decoder.done());
        auto step = decoder.step("GET");
        EXPECT_EQ(step.kind, Step::Kind::done);
        EXPECT_EQ(step.consumed, 0u);
        EXPECT_TRUE(decoder.closed());
    }
}

TEST(BodyDecoder, a_refused_framing_decodes_nothing) {
    BodyDecoder decoder(Framing{.refusal = "Content-Length is a list"});
    EXPECT_EQ(decoder.step("a").kind, Step::Kind::refused);
    EXPECT_STREQ(decoder.refusal(), "Content-Length is a list");
    EXPECT_FALSE(decoder.closed());
    EXPECT_FALSE(decoder.done());
}

TEST(ChunkHeader, is_hexadecimal_and_fits) {
    std::pair<std::uint64_t, std::string_view> const rows[] = {
        {0, "0\r\n"}, {0x1a2b, "1a2b\r\n"}, {UINT64_MAX, "ffffffffffffffff\r\n"}};
    for (auto [size, expected] : rows) {
        char out[18];
        EXPECT_EQ(std::string_view(out, write_chunk_header(size, out)), expected);
    }
}

TEST(Trailers, only_announced_ones_go_on) {
    auto const head = fields({{"Trailer", "X-Sum, ETag"}, {"Trailer", "x-more"}});
    EXPECT_EQ(announced_trailers("X-Sum: 1\r\nX-Admin: 1\r\nX-More: 2\r\n", head), "X-Sum: 1\r\nX-More: 2\r\n");
    EXPECT_EQ(announced_trailers("X-Sum: 1\r\n", fields({})), "");
}

}   // namespace
}   // namespace garner::http
