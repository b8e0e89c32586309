#include "sim/logged_request.hpp"

#include <gtest/gtest.h>

namespace garner::sim {
namespace {

LogFormatRow const& format(std::string_view name) {
    for (auto const& row : log_formats())
        if (row.name == name) return row;
    ADD_FAILURE() << name;
    return log_formats().front();
}

LoggedRequest read(std::string_view name, std::string_view line) {
    LoggedRequest request;
    EXPECT_EQ(fault_of(format(name).read(line, request)), "");
    return request;
}

TEST(LoggedRequest, of_squid_has_time_client_user_and_peer) {
    auto const request = read("squid", "1763890210.603    310 10.0.0.7 TCP_MISS/200 1462 GET http://a.example/x?y anna "
                                       "HIER_DIRECT/192.0.2.7 text/html");
    EXPECT_EQ(format("squid").seconds(request.time), 1'763'890'210);
    EXPECT_EQ(request.client, "10.0.0.7");
    EXPECT_EQ(request.user, "anna");
    EXPECT_EQ(request.method, "GET");
    EXPECT_EQ(request.url, "http://a.example/x?y");
    EXPECT_EQ(request.peer, "192.0.2.7");
    EXPECT_TRUE(request.direct);
    EXPECT_FALSE(request.denied);
    auto const denied =
        read("squid", "1763890210.603 0 10.0.0.7 TCP_DENIED/407 3998 CONNECT a.example:443 - HIER_NONE/- text/html");
    EXPECT_TRUE(denied.denied);
    EXPECT_EQ(denied.status, "407");
    EXPECT_FALSE(denied.direct);
}

TEST(LoggedRequest, of_the_combined_format_has_its_time_zone) {
    auto const request = read("combined", "10.0.0.7 - anna karl [10/Oct/2000:13:55:36 -0700] \"GET http://a/ HTTP/1.0\" 403 2326");
    EXPECT_EQ(format("combined").seconds(request.time), 971'211'336);
    EXPECT_EQ(request.client, "10.0.0.7");
    EXPECT_EQ(request.user, "anna karl");
    EXPECT_TRUE(request.denied);
    for (char const* time : {"", "10/Oct/2000:13:55:36", "10/Okt/2000:13:55:36 -0700", "40/Oct/2000:13:55:36 -0700"})
        EXPECT_FALSE(format("combined").seconds(time)) << time;
}

TEST(LoggedRequest, of_json_has_escapes) {
    auto const request =
        read("json", R"({"time":"2025-11-23T09:30:10.603Z","client":"10.0.0.7","user":"an\"na","result":"TCP_MISS",)"
                     R"("status":200,"bytes":9,"method":"GET","url":"http://a/\\u00e4","hierarchy":"HIER_DIRECT","peer":"::1"})");
    EXPECT_EQ(format("json").seconds(request.time), 1'763'890'210);
    std::string scratch;
    EXPECT_EQ(unescaped(request.user, scratch), "an\"na");
    EXPECT_EQ(unescaped(R"(a\u00e4\u20ac\n\\)", scratch), "a\xe4\\u20acn\\");
    EXPECT_EQ(request.peer, "::1");
    EXPECT_TRUE(request.direct);
    for (char const* time : {"", "2025-11-23", "2025-13-23T09:30:10Z", "2025-11-23 09:30:10Z"})
        EXPECT_FALSE(format("json").seconds(time)) << time;
}

}   // namespace
}   // namespace garner::sim
