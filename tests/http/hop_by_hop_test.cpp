// Hop-by-hop fields, and when the connection closes.
#include "http/hop_by_hop.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "util/text.hpp"

namespace garner::http {
namespace {

struct Line {
    std::string_view name, value;
};

Fields fields_of(std::vector<Line> const& lines) {
    Fields fields;
    for (auto const& line : lines) fields.add(line.name, line.value);
    return fields;
}

/// Names of forwarded fields, joined by spaces.
std::string kept(std::vector<Line> const& lines) {
    auto const fields = fields_of(lines);
    HopByHop const hop_by_hop(fields);
    std::string names;
    for (auto const& field : fields)
        if (!hop_by_hop.dropped(field)) names += (names.empty() ? "" : " ") + std::string(field.name);
    return names;
}

TEST(HopByHop, standard_fields_end_here) {
    for (auto name : {"Connection", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Connection",
                      "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info", "HTTP2-Settings"}) {
        EXPECT_EQ(kept({{name, "x"}, {"A", "b"}}), "A") << name;
        EXPECT_EQ(kept({{"A", "b"}, {lower_case(name), "x"}}), "A") << name;
    }
}

TEST(HopByHop, what_connection_names_ends_here) {
    EXPECT_EQ(kept({{"Connection", "x-one"}, {"X-One", "1"}, {"X-Two", "2"}}), "X-Two");
    EXPECT_EQ(kept({{"X-One", "1"}, {"X-Two", "2"}, {"CONNECTION", "close, X-TWO"}}), "X-One");
    EXPECT_EQ(kept({{"Connection", "a,,\tb ,"}, {"connection", "c"}, {"a", ""}, {"B", ""}, {"C", ""}, {"d", ""}}), "d");
    EXPECT_EQ(kept({{"Connection", "X-On, X-Onee"}, {"X-One", "1"}}), "X-One");
    EXPECT_EQ(kept({{"Connection", "\"X-One\""}, {"X-One", "1"}}), "X-One");
}

TEST(HopByHop, connection_cannot_strip_what_is_end_to_end) {
    // clang-format off
    for (auto name : {"Host", "Content-Length", "Content-Type", "Content-Range", "Cache-Control", "Authorization",
                      "Age", "Via", "Date", "ETag", "Expires", "Vary", "Cookie", "Set-Cookie", "If-None-Match", "Range",
                      "X-Forwarded-For", "Forwarded", "Max-Forwards", "Pragma", "Location"})
        EXPECT_EQ(kept({{"Connection", name}, {name, "x"}}), name);
    // clang-format on
}

TEST(HopByHop, other_proxy_fields_go_on) {
    EXPECT_EQ(kept({{"Proxy-Status", "a"}, {"Close", "b"}, {"Connection", "close"}}), "Proxy-Status Close");
}

TEST(HopByHop, thousands_of_names_are_no_burden) {
    std::string long_list;
    for (int i = 0; i < 10000; ++i) long_list += "n" + std::to_string(i) + ",";
    std::vector<Line> lines{{"Connection", long_list}};
    for (int i = 0; i < 10000; ++i) lines.push_back({"n9999", ""});
    lines.push_back({"n10000", ""});
    EXPECT_EQ(kept(lines), "n10000");
}

TEST(Connection, has_its_options_in_any_line_and_case) {
    auto const fields = fields_of({{"Connection", "a, Close"}, {"connection", "UPGRADE"}, {"Close", "b"}});
    EXPECT_TRUE(connection_has(fields, "close"));
    EXPECT_TRUE(connection_has(fields, "upgrade"));
    EXPECT_TRUE(connection_has(fields, "A"));
    EXPECT_FALSE(connection_has(fields, "keep-alive"));
    EXPECT_TRUE(wants_close(fields));
    EXPECT_FALSE(wants_close(fields_of({{"Connection", "closed, not-close"}, {"Proxy-Connection", "close"}})));
    EXPECT_FALSE(wants_close(fields_of({{"Connection", "\"close\""}})));
    EXPECT_FALSE(wants_close(fields_of({})));
}

TEST(Connection, persists_as_rfc_9112_says) {
    struct Row {
        Version version;
        std::vector<Line> lines;
        bool request, response;
    };
    std::vector<Row> const rows{
        {Version::http_1_1, {}, true, true},
        {Version::http_1_1, {{"Connection", "keep-alive"}}, true, true},
        {Version::http_1_1, {{"Connection", "close"}}, false, false},
        {Version::http_1_1, {{"Connection", "keep-alive, close"}}, false, false},
        {Version::http_1_1, {{"Connection", "keep-alive"}, {"Connection", "Close"}}, false, false},
        {Version::http_1_0, {}, false, false},
        {Version::http_1_0, {{"Connection", "Keep-Alive"}}, false, true},
        {Version::http_1_0, {{"Proxy-Connection", "keep-alive"}}, false, false},
        {Version::http_1_0, {{"Connection", "keep-alive, close"}}, false, false},
    };
    for (auto const& row : rows) {
        RequestHead request;
        ResponseHead response;
        request.version = response.version = row.version;
        request.fields = response.fields = fields_of(row.lines);
        EXPECT_EQ(keeps_alive(request), row.request) << row.lines.size();
        EXPECT_EQ(keeps_alive(response), row.response) << row.lines.size();
    }
}

TEST(KeepAlive, announces_the_seconds_of_an_idle_connection) {
    std::pair<std::vector<Line>, std::optional<std::uint32_t>> const rows[]{
        {{}, std::nullopt},
        {{{"Keep-Alive", "timeout=5"}}, 5},
        {{{"Keep-Alive", "timeout=5, max=100"}}, 5},
        {{{"Keep-Alive", "max=100,Timeout = 15"}}, 15},
        {{{"Keep-Alive", "max=100"}, {"Keep-Alive", "timeout=0"}}, 0},
        {{{"Keep-Alive", "timeout=99999999999"}}, UINT32_MAX},
        {{{"Keep-Alive", "timeout=4, timeout=9"}}, 4},
        {{{"Keep-Alive", "timeout"}}, std::nullopt},
        {{{"Keep-Alive", "timeout=-1"}}, std::nullopt},
        {{{"Keep-Alive", "300"}}, std::nullopt},
        {{{"Connection", "timeout=5"}}, std::nullopt},
    };
    for (auto const& [lines, timeout] : rows) EXPECT_EQ(keep_alive_timeout(fields_of(lines)), timeout) << lines.size();
}

TEST(Upgrade, needs_its_option_and_http_1_1) {
    struct Row {
        Version version;
        std::vector<Line> lines;
        bool wants;
    };
    std::vector<Row> const rows{
        {Version::http_1_1, {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}}, true},
        {Version::http_1_1, {{"Connection", "keep-alive, upgrade"}, {"Upgrade", "websocket"}}, true},
        {Version::http_1_1, {{"Connection", "Upgrade"}, {"Upgrade", "x/2, y"}}, true},
        {Version::http_1_1, {{"Connection", "Upgrade"}, {"Upgrade", "h2cx"}}, true},
        {Version::http_1_1, {{"Connection", "Upgrade, HTTP2-Settings"}, {"Upgrade", "h2c"}}, false},
        {Version::http_1_1, {{"Connection", "Upgrade"}, {"Upgrade", "websocket, H2C"}}, false},
        {Version::http_1_1, {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}, {"Upgrade", "h2"}}, false},
        {Version::http_1_1, {{"Connection", "Upgrade"}, {"Upgrade", "HTTP/2.0"}}, false},
        {Version::http_1_1, {{"Upgrade", "websocket"}}, false},
        {Version::http_1_1, {{"Connection", "Upgrade"}}, false},
        {Version::http_1_1, {{"Connection", "Upgrade"}, {"Upgrade", ""}}, false},
        {Version::http_1_0, {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}}, false},
    };
    for (auto const& row : rows) {
        RequestHead request;
        request.version = row.version;
        request.fields = fields_of(row.lines);
        EXPECT_EQ(wants_upgrade(request), row.wants) << row.lines.size();
    }
}

}   // namespace
}   // namespace garner::http
