// garner seen canon: one answer for each line, whatever it contains.
#include "seen_commands/seen_commands.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <streambuf>
#include <vector>

#include "crawl/canonical_url.hpp"

namespace garner::seen_commands {
namespace {

using namespace crawl;

struct Canon {
    std::string out, err;
    int code;
};

Canon canon(std::vector<std::string> const& arguments, std::string const& lines = "") {
    std::istringstream in(lines);
    std::ostringstream out, err;
    int const code = canon_command(arguments, in, out, err);
    return {out.str(), err.str(), code};
}

TEST(CanonCommand, answers_line_by_line) {
    auto const said = canon({}, "HTTP://a\nmailto:x\n\nhttp://b/#c\n");
    EXPECT_EQ(said.out, "http://a/\n!other-scheme\n!empty\nhttp://b/\n");
    EXPECT_EQ(said.err, "garner seen canon: 2 of 4 lines refused: 1 empty 1 other-scheme\n");
    EXPECT_EQ(said.code, 0);
}

TEST(CanonCommand, survives_whatever_a_line_holds) {
    auto const much = std::string(3'000'000, 'x');
    auto const binary = std::string("http://c\0/\nhttp://d/\0\xff\n", 23);
    auto const said = canon({}, "http://a/" + much + "\nhttp://b/\r\n\r\n" + binary + much + much + "\nhttp://e/");
    EXPECT_EQ(said.out, "!too-long\nhttp://b/\n!empty\n!forbidden-in-host\n"
                        "http://d/%00%EF%BF%BD\n!too-long\nhttp://e/\n");
    EXPECT_EQ(said.code, 0);
    EXPECT_EQ(canon({}, "").out, "");
    EXPECT_EQ(canon({}, "http://a").out, "http://a/\n");
    EXPECT_EQ(canon({}, much).out, "!too-long\n");
}

TEST(CanonCommand, keeps_lines_apart_at_every_size) {
    std::string lines, answers;
    for (std::size_t size : {url_bytes_max - 1, url_bytes_max, url_bytes_max + 1, std::size_t{20}, 2 * url_bytes_max}) {
        for (int i = 0; i < 5; ++i) {
            auto const url = "http://a/" + std::string(size - 9, static_cast<char>('a' + i));
            lines += url + (i % 2 ? "\r\n" : "\n");
            answers += (size > url_bytes_max ? "!too-long" : url) + "\n";
        }
    }
    EXPECT_EQ(canon({}, lines).out, answers);
}

TEST(CanonCommand, takes_a_base_layers_and_a_fingerprint) {
    EXPECT_EQ(canon({"--base", "http://www.a.org/b/", "--layers=www-strip,query-sort"}, "c?z&a\n").out, "http://a.org/b/c?a&z\n");
    auto const lines = "http://www.example.org\nx\n";
    auto const rest = "\thttp://www.example.org/\n!no-scheme\n";
    EXPECT_EQ(canon({"--fingerprint", "64"}, lines).out, std::string("e1be71dcc715f803") + rest);
    EXPECT_EQ(canon({"--fingerprint=128"}, lines).out, std::string("bb01052c60144b47a87b9088d73f163d") + rest);
    EXPECT_EQ(canon({"--fingerprint=rabin"}, lines).out, std::string("19e213ddce2efc02") + rest);
}

TEST(CanonCommand, says_what_is_wrong_with_a_command_line_and_what_would_do) {
    std::vector<std::pair<std::vector<std::string>, std::string>> const cases{
        {{"--layer=surt"}, "unknown option --layer=surt; did you mean --layers?"},
        {{"urls.txt"}, "\"urls.txt\" is no option; the URLs come from standard input"},
        {{"--base"}, "--base needs a value"},
        {{"--base", "a.html"}, "--base: \"a.html\" is no URL of http, https, ws, wss or ftp: no-scheme"},
        {{"--layers", "www"}, "--layers: \"www\" is not one of www-strip, default-document, query-sort, surt"},
        {{"--fingerprint", "md5"}, "--fingerprint: \"md5\" is not one of 64, 128, rabin"},
    };
    for (auto const& [arguments, fault] : cases) {
        auto const said = canon(arguments, "http://a/\n");
        EXPECT_EQ(said.err, "garner seen canon: " + fault + "\nTry: garner seen canon --help\n");
        EXPECT_EQ(said.out, "");
        EXPECT_EQ(said.code, 2);
    }
}

TEST(CanonCommand, explains_layers_and_reasons) {
    auto const said = canon({"--help"});
    EXPECT_EQ(said.code, 0);
    for (auto const* word : {"query-sort", "www-strip", "surt", "default-document", "port-too-large", "--fingerprint"})
        EXPECT_NE(said.out.find(word), std::string::npos) << word;
}

TEST(CanonCommand, tells_that_nobody_reads_it) {
    std::istringstream in("http://a/\n");
    std::ostringstream out, err;
    out.setstate(std::ios::badbit);
    EXPECT_EQ(canon_command({}, in, out, err), 1);
    EXPECT_EQ(err.str(), "garner seen canon: the answers cannot be written\n");
}

TEST(CanonCommand, tells_that_its_input_broke_off) {
    struct Broken : std::streambuf {
        std::string line = "http://a/\n";
        bool given = false;
        int_type underflow() override {
            if (std::exchange(given, true)) throw std::ios_base::failure("read");
            setg(line.data(), line.data(), line.data() + line.size());
            return traits_type::to_int_type(line.front());
        }
    } broken;
    std::istream in(&broken);
    std::ostringstream out, err;
    EXPECT_EQ(canon_command({}, in, out, err), 1);
    EXPECT_EQ(out.str(), "http://a/\n");
    EXPECT_EQ(err.str(), "garner seen canon: standard input cannot be read to its end\n");
}

/// Types the next line after the answers to all earlier ones were shown.
struct Typist : std::streambuf {
    std::vector<std::string> lines;
    std::ostringstream const* screen = nullptr;
    std::vector<std::string> seen;   // screen content before each line and at the end
    int_type underflow() override {
        seen.push_back(screen->str());
        if (seen.size() > lines.size()) return traits_type::eof();
        auto& line = lines[seen.size() - 1];
        setg(line.data(), line.data(), line.data() + line.size());
        return traits_type::to_int_type(line.front());
    }
};

TEST(CanonCommand, answers_a_line_before_it_waits_for_the_next) {
    std::ostringstream out, err;
    Typist typist;
    typist.lines = {"http://a\n", "http://", "b\nx\n"};
    typist.screen = &out;
    std::istream in(&typist);
    EXPECT_EQ(canon_command({}, in, out, err), 0);
    EXPECT_EQ(typist.seen[1], "http://a/\n");
    EXPECT_EQ(typist.seen[2], "http://a/\n");
    EXPECT_EQ(typist.seen[3], "http://a/\nhttp://b/\n!no-scheme\n");
}

/// A stream that cannot report how much is available.
struct Unwilling : std::stringbuf {
    using std::stringbuf::stringbuf;
    std::streamsize showmanyc() override { return 0; }
    std::string bytes;
    std::size_t given = 0;
    int_type underflow() override {
        if (given == bytes.size()) return traits_type::eof();
        setg(&bytes[given], &bytes[given], &bytes[given] + 1);
        ++given;
        return traits_type::to_int_type(*gptr());
    }
};

TEST(CanonCommand, reads_streams_that_give_a_byte_at_a_time) {
    Unwilling bytes;
    bytes.bytes = "http://a\n\nhttp://b/" + std::string(crawl::url_bytes_max, 'c') + "\nhttp://d";
    std::istream in(&bytes);
    std::ostringstream out, err;
    EXPECT_EQ(canon_command({}, in, out, err), 0);
    EXPECT_EQ(out.str(), "http://a/\n!empty\n!too-long\nhttp://d/\n");
}

}   // namespace
}   // namespace garner::seen_commands
