// Access rules with names, reasons, named matchers, lists from files and tests.
#include <signal.h>

#include <fstream>

#include "story/scene.hpp"

namespace garner::test {

namespace {

std::string const loopback_open = R"({"allow": {"destination": ["127.0.0.0/8", "::1"], "port": ["1-65535"]}})";

}   // namespace

TEST(AccessRules, a_refusal_shows_name_and_reason_and_not_the_matchers) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(R"({"access": [{"name": "exams", "deny": {"url_contains": "/page"}, "because": "Until noon."}, )" + loopback_open +
                "]}");
    auto reply = get(proxy, origin, "/page");
    EXPECT_EQ(reply.status(), 403);
    EXPECT_THAT(reply.body(), HasSubstr("Decided by: exams (access[0]: deny)"));
    EXPECT_THAT(reply.body(), HasSubstr("Because: Until noon."));
    EXPECT_THAT(reply.body(), Not(HasSubstr("url_contains")));
    EXPECT_EQ(origin.connections(), 0u);
}

TEST(AccessRules, a_host_that_is_an_address_or_localhost_opens_it_and_another_name_does_not) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    auto const port = R"(, "port": "1-65535"}})";
    auto const at = [&](std::string const& host) { return "http://" + host + ":" + std::to_string(origin.port()) + "/page"; };
    Proxy proxy(R"({"access": [{"allow": {"host": ["127.0.0.1", "localhost"])" + std::string(port) + "]}");
    EXPECT_EQ(Client(proxy).get(at("127.0.0.1")).status(), 200);
    EXPECT_EQ(Client(proxy).get(at("localhost")).status(), 200);
    EXPECT_EQ(Client(proxy).get(at("127.0.0.2")).status(), 403);
    Proxy by_expression(R"({"access": [{"allow": {"host_matches": "localhost|127")" + std::string(port) + "]}");
    EXPECT_EQ(Client(by_expression).get(at("localhost")).status(), 403);
    EXPECT_EQ(Client(by_expression).get(at("127.0.0.1")).status(), 403);
}

TEST(AccessRules, a_list_from_a_file_is_read_again_by_a_reload) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    TempDir dir;
    auto const list = dir.write("hosts", "0.0.0.0 other.test\n");
    Proxy proxy(R"({"access": [{"deny": {"host": "file:)" + list + "\"}}, " + loopback_open + "]}");
    auto const url = "http://localhost:" + std::to_string(origin.port()) + "/page";
    EXPECT_EQ(Client(proxy).get(url).status(), 200);
    dir.write("hosts", "# now both\nother.test\nlocalhost\n");
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return Client(proxy).get(url).status() == 403; }));
}

TEST(AccessRules, a_reload_whose_tests_fail_is_refused) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    auto const configuration = [](std::string const& first) {
        return R"({"access": [)" + first + loopback_open + R"(], "tests": [{"url": "http://127.0.0.1/", "expect": "allow"}]})";
    };
    Proxy proxy(configuration(""));
    proxy.reconfigure(configuration(R"({"name": "shut", "deny": "all"}, )"));
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually(
        [&] { return proxy.errors().find("but the decision is deny by shut (access[0]: deny) all") != std::string::npos; }));
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
}

}   // namespace garner::test
