#include "proxy/access_log_format.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>

#include "support/places.hpp"

namespace garner::proxy {
namespace {

LogEntry hit() {
    LogEntry entry;
    entry.end = WallTime(milliseconds(1'066'036'250'603));   // 2003-10-13 09:10:50 UTC
    entry.elapsed = milliseconds(310);
    entry.client = "192.168.0.227";
    entry.tag = ResultTag::tcp_miss;
    entry.status = 200;
    entry.bytes = 1462;
    entry.method = "GET";
    entry.url = "http://www.example.org/film?x=1";
    entry.hierarchy = Hierarchy::direct;
    entry.peer = "62.27.27.10";
    entry.content_type = "text/html; charset=utf-8";
    entry.referer = "http://www.example.org/";
    entry.user_agent = "Mozilla/5.0 (X11)";
    entry.reason = "allowed by access[0]";
    entry.cache_status = "garner;fwd=uri-miss;stored";
    return entry;
}

std::string line(LogFormat format, LogEntry const& entry) {
    LineBuffer buffer;
    return std::string(format_line(format, entry, buffer));
}
std::string squid(LogEntry const& entry) { return line(LogFormat::squid, entry); }
std::string combined(LogEntry const& entry) { return line(LogFormat::combined, entry); }
std::string json(LogEntry const& entry) { return line(LogFormat::json, entry); }

TEST(LogEntry, squid_writes_its_native_line) {
    EXPECT_EQ(squid(hit()), "1066036250.603    310 192.168.0.227 TCP_MISS/200 1462 GET http://www.example.org/film?x=1 - "
                            "HIER_DIRECT/62.27.27.10 text/html\n");
}

TEST(LogEntry, the_document_shows_the_lines_of_squid_and_combined) {
    std::ifstream file(test::source("docs/reference/access-log.md"));
    std::string const document(std::istreambuf_iterator<char>(file), {});
    EXPECT_NE(document.find("\n    " + squid(hit())), document.npos);
    EXPECT_NE(document.find("\n    " + combined(hit())), document.npos);
}

TEST(LogEntry, squid_fills_empty_fields) {
    LogEntry nothing;
    nothing.end = WallTime(milliseconds(5'007));
    EXPECT_EQ(squid(nothing), "5.007      0 - NONE_NONE/000 0 - error:invalid-request - HIER_NONE/- -\n");
}

TEST(LogEntry, what_had_no_readable_head_is_named_as_squid_and_apache_do) {
    LogEntry refused;
    refused.end = WallTime(milliseconds(5'007));
    refused.client = "10.0.0.7";
    refused.status = 400;
    EXPECT_EQ(squid(refused), "5.007      0 10.0.0.7 NONE_NONE/400 0 - error:invalid-request - HIER_NONE/- -\n");
    EXPECT_EQ(combined(refused), "10.0.0.7 - - [01/Jan/1970:00:00:05 +0000] \"-\" 400 0 \"-\" \"-\"\n");
    refused.status = 408;
    EXPECT_EQ(squid(refused), "5.007      0 10.0.0.7 NONE_NONE/408 0 - error:transaction-end-before-headers - HIER_NONE/- -\n");
    refused.method = "GET";
    EXPECT_EQ(squid(refused), "5.007      0 10.0.0.7 NONE_NONE/408 0 GET - - HIER_NONE/- -\n");
}

TEST(LogEntry, squid_widens_for_long_requests_and_marks_how_they_ended) {
    auto entry = hit();
    entry.elapsed = milliseconds(12'345'678);
    entry.aborted = true;
    entry.user = "karl";
    entry.hierarchy = Hierarchy::first_parent_miss;
    entry.peers_timed_out = true;
    EXPECT_EQ(squid(entry),
              "1066036250.603 12345678 192.168.0.227 TCP_MISS_ABORTED/200 1462 GET http://www.example.org/film?x=1 karl "
              "TIMEOUT_FIRST_PARENT_MISS/62.27.27.10 text/html\n");
    entry.aborted = false;
    entry.truncated = true;
    EXPECT_NE(squid(entry).find(" TCP_MISS_TRUNCATED/200 "), std::string::npos);
}

TEST(LogEntry, combined_writes_apaches_line) {
    EXPECT_EQ(combined(hit()),
              "192.168.0.227 - - [13/Oct/2003:09:10:50 +0000] \"GET http://www.example.org/film?x=1 HTTP/1.1\" 200 1462 "
              "\"http://www.example.org/\" \"Mozilla/5.0 (X11)\"\n");
}

TEST(LogEntry, json_writes_one_object) {
    EXPECT_EQ(json(hit()),
              R"j({"time":"2003-10-13T09:10:50.603Z","elapsed_ms":310,"client":"192.168.0.227","user":"",)j"
              R"j("result":"TCP_MISS","status":200,"bytes":1462,"method":"GET",)j"
              R"j("url":"http://www.example.org/film?x=1","http":"1.1","hierarchy":"HIER_DIRECT","peer":"62.27.27.10",)j"
              R"j("content_type":"text/html; charset=utf-8","referer":"http://www.example.org/",)j"
              R"j("user_agent":"Mozilla/5.0 (X11)","reason":"allowed by access[0]",)j"
              R"j("cache_status":"garner;fwd=uri-miss;stored"})j"
              "\n");
}

TEST(LogEntry, the_id_of_an_error_page_changes_no_field_of_other_formats) {
    auto entry = hit();
    entry.id = "1066036250.603-9f3a0c1d";
    EXPECT_TRUE(combined(entry).starts_with("192.168.0.227 1066036250.603-9f3a0c1d - [")) << combined(entry);
    EXPECT_TRUE(json(entry).ends_with(R"(,"id":"1066036250.603-9f3a0c1d"})"
                                      "\n"))
        << json(entry);
    EXPECT_EQ(squid(entry), squid(hit())) << "its first field is the number before the hyphen";
}

TEST(LogEntry, every_result_and_hierarchy_has_a_name_of_its_own) {
    std::set<std::string_view> names;
    for (int i = 0; i < static_cast<int>(ResultTag::count_); ++i)
        EXPECT_TRUE(names.insert(name_of(static_cast<ResultTag>(i))).second);
    names.clear();
    for (int i = 0; i < static_cast<int>(Hierarchy::count_); ++i)
        EXPECT_TRUE(names.insert(name_of(static_cast<Hierarchy>(i))).second);
    EXPECT_EQ(name_of(ResultTag::tcp_tunnel), "TCP_TUNNEL");
    EXPECT_EQ(name_of(ResultTag::tcp_refresh_unmodified), "TCP_REFRESH_UNMODIFIED");
    EXPECT_EQ(name_of(Hierarchy::sibling_hit), "SIBLING_HIT");
    EXPECT_EQ(name_of(Hierarchy::any_old_parent), "ANY_OLD_PARENT");
}

constexpr std::string_view forgery = "x\"\r\n1.000 1 10.0.0.1 TCP_HIT/200 \\ \t\x1b[2J\x7f\xff";

LogEntry forged() {
    auto entry = hit();
    entry.client = entry.user = entry.method = entry.url = entry.peer = entry.content_type = forgery;
    entry.referer = entry.user_agent = entry.reason = entry.cache_status = entry.id = forgery;
    return entry;
}

TEST(LogEntry, squid_lets_nobody_forge_a_field_or_a_line) {
    auto text = squid(forged());
    EXPECT_EQ(std::ranges::count(text, '\n'), 1);
    auto collapsed = text.substr(text.find("310 "));
    EXPECT_EQ(std::ranges::count(collapsed, ' '), 8) << text;
    EXPECT_NE(text.find("x%22%0D%0A1.000%201%2010.0.0.1%20TCP_HIT/200%20%5C%20%09%1B[2J%7F%FF"), text.npos);
}

TEST(LogEntry, combined_lets_nobody_leave_the_quotes) {
    auto text = combined(forged());
    EXPECT_EQ(std::ranges::count(text, '\n'), 1);
    EXPECT_NE(text.find(R"("x\"\x0D\x0A1.000 1 10.0.0.1 TCP_HIT/200 \\ \x09\x1B[2J\x7F\xFF")"), text.npos) << text;
    // Unescaped quotes: three pairs.
    int quotes = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\')
            ++i;
        else
            quotes += text[i] == '"';
    }
    EXPECT_EQ(quotes, 6);
}

TEST(LogEntry, json_alone_has_the_way_to_a_peer) {
    auto entry = hit();
    EXPECT_EQ(json(entry).find("peer_reach"), std::string::npos);
    entry.peer = "campus";
    entry.peer_reach = "CONNECT over TLS";
    EXPECT_NE(json(entry).find(R"("peer":"campus","peer_reach":"CONNECT over TLS",)"), std::string::npos) << json(entry);
    EXPECT_EQ(squid(entry).find("TLS"), std::string::npos);
}

TEST(LogEntry, json_alone_has_the_trace) {
    auto entry = hit();
    EXPECT_EQ(json(entry).find("trace"), std::string::npos);
    entry.trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    EXPECT_NE(json(entry).find(R"(,"trace":"4bf92f3577b34da6a3ce929d0e0e4736","reason":)"), std::string::npos) << json(entry);
    EXPECT_EQ(squid(entry), squid(hit()));
    EXPECT_EQ(combined(entry), combined(hit()));
}

TEST(LogEntry, json_stays_one_valid_object) {
    auto text = json(forged());
    EXPECT_EQ(std::ranges::count(text, '\n'), 1);
    auto parsed = nlohmann::json::parse(text);
    EXPECT_EQ(parsed.size(), 18u);
    EXPECT_EQ(parsed["url"], "x\"\r\n1.000 1 10.0.0.1 TCP_HIT/200 \\ \t\x1b[2J\x7f\u00ff");
    for (char c : text.substr(0, text.size() - 1)) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
}

TEST(LogEntry, json_keeps_valid_utf8_and_nothing_else) {
    struct {
        std::string_view text, expected;
    } cases[] = {
        {"Käse €\U0001F9C0", "Käse €\U0001F9C0"},
        {"\xc0\xaf", "\\u00C0\\u00AF"},   // overlong
        {"\xe0\x80\x80", "\\u00E0\\u0080\\u0080"},
        {"\xed\xa0\x80", "\\u00ED\\u00A0\\u0080"},   // a surrogate
        {"\xf4\x90\x80\x80", "\\u00F4\\u0090\\u0080\\u0080"},
        {"\xe2\x82", "\\u00E2\\u0082"},   // truncated sequence
        {"\xc2\x9b", "\\u00C2\\u009B"},   // a control character that terminals execute
    };
    for (auto const& [text, expected] : cases) {
        auto entry = hit();
        entry.url = text;
        EXPECT_NE(json(entry).find("\"url\":\"" + std::string(expected) + "\""), std::string::npos) << json(entry);
    }
}

TEST(LogEntry, nothing_a_client_sends_makes_a_line_too_long) {
    std::mt19937 random(4);
    for (char filling : {'a', '\0', '"', '\xff', '\n', '?'}) {
        std::string text(100'000, filling);
        if (filling == '?') std::ranges::generate(text, [&] { return static_cast<char>(random()); });
        auto entry = forged();
        entry.client = entry.user = entry.method = entry.url = entry.peer = entry.content_type = text;
        entry.referer = entry.user_agent = entry.reason = entry.cache_status = entry.id = entry.trace = text;
        entry.end = WallTime(milliseconds(INT64_MAX / 1'000'000));
        entry.elapsed = milliseconds(INT64_MAX);
        entry.bytes = UINT64_MAX;
        entry.status = UINT16_MAX;
        for (auto format : {LogFormat::squid, LogFormat::combined, LogFormat::json}) {
            auto written = line(format, entry);
            EXPECT_LE(written.size(), sizeof(LineBuffer));
            EXPECT_EQ(std::ranges::count(written, '\n'), 1);
        }
        EXPECT_TRUE(nlohmann::json::accept(json(entry)));
    }
}

TEST(LogEntry, takes_times_before_1970_for_1970) {
    auto entry = hit();
    entry.end = WallTime(milliseconds(-5));
    entry.elapsed = milliseconds(-5);
    EXPECT_TRUE(squid(entry).starts_with("0.000      0 "));
    EXPECT_NE(combined(entry).find("[01/Jan/1970:00:00:00 +0000]"), std::string::npos);
}

}   // namespace
}   // namespace garner::proxy
