// TLS to origins, for https:// requests and accelerators; and IPv6 origins.
#include <sys/socket.h>

#include "story/scene.hpp"

namespace garner::test {

namespace {

struct Secure : ::testing::Test {
    TempDir dir;
    Certificate certificate;
    std::string const trusting = R"({"tls": {"ca_file": ")" + dir.write("ca.pem", certificate.pem()) + R"("}})";
};

}   // namespace

TEST_F(Secure, an_https_URL_is_fetched_over_verified_TLS_and_cached) {
    Origin origin({.certificate = &certificate});
    origin.answer("/page", fresh("secret"));
    Proxy proxy(trusting);
    auto first = get(proxy, origin, "/page");
    EXPECT_EQ(first.body(), "secret");
    EXPECT_EQ(first.outcome(), "uri-miss");
    auto second = get(proxy, origin, "/page");
    EXPECT_EQ(second.body(), "secret");
    EXPECT_TRUE(second.hit());
    EXPECT_EQ(origin.last("/page").head.target(), "/page");
    EXPECT_EQ(origin.last("/page").head.field("Host"), origin.authority());
}

TEST_F(Secure, twenty_mebibytes_pass_over_TLS_both_ways) {
    Origin origin({.certificate = &certificate});
    auto const reel = pattern(20 * 1024 * 1024);
    origin.answer("/reel", no_store(reel));
    Proxy proxy(trusting);
    Client client(proxy, origin);
    EXPECT_TRUE(client.get("/reel").body() == reel);
    EXPECT_TRUE(client.post("/reel", reel).body() == reel);
    EXPECT_TRUE(origin.last("/reel").body == reel);
    EXPECT_EQ(origin.connections(), 1u);
}

TEST_F(Secure, http_and_https_are_different_things) {
    Origin secure({.certificate = &certificate});
    Origin plain;
    secure.answer("/page", fresh("secret"));
    plain.answer("/page", fresh("plain"));
    Proxy proxy(trusting);
    EXPECT_EQ(get(proxy, secure, "/page").body(), "secret");
    EXPECT_EQ(get(proxy, plain, "/page").body(), "plain");
    Client client(proxy);
    EXPECT_EQ(client.get("http://" + secure.authority() + "/page").status(), 502);
}

TEST_F(Secure, a_certificate_that_nobody_vouches_for_is_502_and_sees_no_request) {
    Certificate stranger;
    Origin origin({.certificate = &stranger});
    origin.answer("/page", fresh("secret"));
    Proxy proxy(trusting);
    auto reply = get(proxy, origin, "/page");
    EXPECT_EQ(reply.status(), 502);
    EXPECT_THAT(lower(reply.body()), HasSubstr("certificate"));
    EXPECT_EQ(origin.requests("/page"), 0u);
    Proxy careless(R"({"tls": {"verify": false}})");
    EXPECT_EQ(get(careless, origin, "/page").body(), "secret");
}

TEST_F(Secure, a_certificate_for_another_name_is_502) {
    Origin origin({.certificate = &certificate});
    origin.answer("/page", fresh("secret"));
    auto const hosts = dir.write("hosts", "127.0.0.1 other.test\n");
    auto patch = nlohmann::json::parse(trusting);
    patch["dns"]["hosts_file"] = hosts;
    Proxy proxy(patch.dump());
    EXPECT_EQ(Client(proxy).get("https://other.test:" + std::to_string(origin.port()) + "/page").status(), 502);
    EXPECT_EQ(origin.requests("/page"), 0u);
}

TEST_F(Secure, an_accelerator_may_have_an_https_origin) {
    Origin origin({.certificate = &certificate});
    origin.answer("/page", fresh("secret"));
    Proxy proxy(Proxy::Setup{.patch = trusting, .accelerates = origin.url()});
    Client client("127.0.0.1", proxy.accelerator());
    EXPECT_EQ(client.get("/page").body(), "secret");
    EXPECT_TRUE(client.get("/page").hit());
}

TEST_F(Secure, an_origin_that_leaves_without_close_notify_is_not_believed) {
    Origin origin({.certificate = &certificate});
    origin.by_hand("/film", [](Hand& hand) {
        hand.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n\r\nhalf a film");
        // RFC 9112 9.8: without close_notify, an attacker may have truncated a body that ends with the connection.
        ::shutdown(hand.wire().fd(), SHUT_WR);
        hand.leave();
    });
    Proxy proxy(trusting);
    EXPECT_FALSE(get(proxy, origin, "/film").complete());
    EXPECT_FALSE(get(proxy, origin, "/film").hit());
}

// ---- IPv6 ----

TEST(IPv6, a_literal_address_is_reached_and_cached) {
    Origin origin({.address = "::1"});
    origin.answer("/page", fresh("six"));
    Proxy proxy;
    EXPECT_EQ(get(proxy, origin, "/page").body(), "six");
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
    EXPECT_EQ(origin.last("/page").head.field("Host"), origin.authority());
    EXPECT_EQ(Client(proxy).connect_to(origin.authority()).status(), 200);
}

TEST(IPv6, a_name_with_both_is_reached_by_the_one_that_answers) {
    TempDir dir;
    auto const hosts = dir.write("hosts", "::1 both.test\n127.0.0.1 both.test\n");
    for (std::string address : {"127.0.0.1", "::1"}) {
        Origin origin({.address = address});
        origin.answer("/page", no_store("here"));
        Proxy proxy(R"({"dns": {"hosts_file": ")" + hosts + R"("}})");
        EXPECT_EQ(Client(proxy).get("http://both.test:" + std::to_string(origin.port()) + "/page").body(), "here") << address;
    }
}

}   // namespace garner::test
