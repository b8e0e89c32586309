// Hop-by-hop fields are not forwarded; fields of proxies: Via, loop detection, forwarding fields.
#include "story/scene.hpp"

namespace garner::test {

TEST(Hops, hop_by_hop_fields_of_a_request_stay_with_the_client) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", no_store("x"));
    get(proxy, origin, "/page",
        {{"Connection", "keep-alive, X-Secret"},
         {"Connection", "x-other"},
         {"X-Secret", "1"},
         {"X-Other", "2"},
         {"Keep-Alive", "timeout=5"},
         {"Proxy-Connection", "keep-alive"},
         {"Proxy-Authorization", "Basic dTpw"},
         {"TE", "gzip"},
         {"Upgrade", "h2c"},
         {"HTTP2-Settings", "AAMAAABkAAQAAP__"},
         {"X-Stays", "3"},
         {"Cookie", "a=b"}})
        .body();
    auto const head = origin.last("/page").head;
    for (auto name : {"X-Secret", "X-Other", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "HTTP2-Settings"})
        EXPECT_FALSE(head.has(name)) << name;
    EXPECT_THAT(head.field("TE"), Not(HasSubstr("gzip")));
    EXPECT_THAT(head.field("Upgrade"), Not(HasSubstr("h2c")));
    EXPECT_THAT(lower(head.field("Connection")), Not(HasSubstr("x-")));
    EXPECT_EQ(head.field("X-Stays"), "3");
    EXPECT_EQ(head.field("Cookie"), "a=b");
}

TEST(Hops, hop_by_hop_fields_of_an_answer_stay_with_the_origin_and_out_of_the_store) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("x", 600,
                                 {{"Connection", "X-Inner"},
                                  {"X-Inner", "1"},
                                  {"Keep-Alive", "timeout=5"},
                                  {"Proxy-Connection", "keep-alive"},
                                  {"Upgrade", "h2c"},
                                  {"X-Stays", "2"}}));
    for (int i = 0; i < 2; ++i) {
        auto reply = get(proxy, origin, "/page");
        for (auto name : {"X-Inner", "Keep-Alive", "Proxy-Connection", "Upgrade"}) EXPECT_FALSE(reply.has(name)) << name;
        EXPECT_EQ(reply.field("X-Stays"), "2");
        EXPECT_EQ(reply.hit(), i == 1);
    }
}

TEST(Hops, Connection_cannot_be_used_to_strip_what_must_stay) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", no_store("x"));
    get(proxy, origin, "/page", {{"Connection", "close, Host, Cache-Control"}, {"Cache-Control", "no-transform"}}).body();
    EXPECT_EQ(origin.last("/page").head.field("Host"), origin.authority());
}

TEST(Hops, Via_is_added_in_both_directions_under_one_unique_name) {
    Origin origin;
    Proxy proxy, other;
    origin.answer("/page", no_store("x"));
    auto reply = get(proxy, origin, "/page", {{"Via", "1.0 fred"}});
    EXPECT_EQ(reply.body(), "x");
    auto const asked = origin.last("/page").head.field("Via");
    EXPECT_THAT(asked, StartsWith("1.0 fred, 1.1 "));
    auto const name = asked.substr(asked.rfind(' ') + 1);
    EXPECT_THAT(reply.field("Via"), HasSubstr("1.1 " + name));
    get(other, origin, "/page").body();
    EXPECT_THAT(origin.last("/page").head.field("Via"), Not(HasSubstr(name)));
}

TEST(Hops, a_request_that_has_been_here_before_is_a_loop) {
    auto const second_port = free_port();
    Proxy first(Proxy::Setup{.accelerates = "http://127.0.0.1:" + std::to_string(second_port)});
    Proxy second(
        Proxy::Setup{.accelerates = "http://127.0.0.1:" + std::to_string(first.accelerator()), .accelerator_port = second_port});
    auto reply = Client("127.0.0.1", first.accelerator()).get("/page");
    EXPECT_EQ(reply.status(), 508);
    EXPECT_THAT(lower(reply.body()), HasSubstr("loop"));
    EXPECT_LE(second.log().size(), 2u);
}

TEST(Hops, an_accelerator_for_itself_is_refused) {
    auto const port = free_port();
    Proxy proxy(Proxy::Setup{.accelerates = "http://127.0.0.1:" + std::to_string(port), .accelerator_port = port});
    EXPECT_THAT(Client("127.0.0.1", port).get("/page").status(), AnyOf(403, 508));
}

TEST(Hops, forwarding_fields_are_off_until_asked_for) {
    Origin origin;
    origin.answer("/page", no_store("x"));
    Proxy silent;
    get(silent, origin, "/page").body();
    EXPECT_FALSE(origin.last("/page").head.has("X-Forwarded-For"));
    EXPECT_FALSE(origin.last("/page").head.has("Forwarded"));
    Proxy old_style(R"({"forwarded": "x-forwarded-for"})");
    get(old_style, origin, "/page", {{"X-Forwarded-For", "10.0.0.1"}}).body();
    EXPECT_EQ(origin.last("/page").head.field("X-Forwarded-For"), "10.0.0.1, 127.0.0.1");
    Proxy new_style(R"({"forwarded": "forwarded"})");
    get(new_style, origin, "/page").body();
    EXPECT_THAT(origin.last("/page").head.field("Forwarded"), HasSubstr("for=127.0.0.1"));
}

// ---- accelerators ----

TEST(Accelerator, takes_origin_form_and_caches_under_its_own_partition) {
    Origin origin;
    origin.answer("/page", fresh("hello"));
    Proxy proxy(Proxy::Setup{.accelerates = origin.url()});
    Client client("127.0.0.1", proxy.accelerator());
    EXPECT_EQ(client.get("/page").body(), "hello");
    auto second = client.get("/page");
    EXPECT_TRUE(second.hit());
    EXPECT_EQ(second.body(), "hello");
    EXPECT_FALSE(get(proxy, origin, "/page").hit()) << "the forward proxy does not use responses that the accelerator stored";
}

TEST(Accelerator, takes_no_authority_from_the_client) {
    Origin origin, other;
    origin.answer("/page", fresh("ours"));
    other.answer("/page", fresh("theirs"));
    Proxy proxy(Proxy::Setup{.accelerates = origin.url()});
    Client client("127.0.0.1", proxy.accelerator());
    EXPECT_EQ(client.get("/page", {{"Host", other.authority()}}).body(), "ours");
    auto absolute = client.get(other.url("/page"));
    EXPECT_THAT(absolute.body(), Not(HasSubstr("theirs")));
    EXPECT_EQ(other.requests("/page"), 0u);
    EXPECT_THAT(client.connect_to(other.authority()).status(), AnyOf(400, 403, 405, 501));
}

TEST(Accelerator, a_forward_listener_refuses_origin_form) {
    Proxy proxy;
    Client client("127.0.0.1", proxy.port());
    auto reply = client.get("/page");
    EXPECT_EQ(reply.status(), 400);
    EXPECT_NE(reply.body(), "");
}

TEST(Hops, an_accelerator_passes_no_visitors_claim_about_addresses_on) {
    Origin origin;
    origin.answer("/page", no_store("x"));
    Fields const claims{{"X-Forwarded-For", "10.0.0.1"}, {"x-forwarded-host", "evil.example"}, {"Forwarded", "for=10.0.0.1"}};
    auto const asked_with = [&](Proxy& proxy, bool accelerator) {
        Client client("127.0.0.1", accelerator ? proxy.accelerator() : proxy.port());
        EXPECT_EQ(client.get(accelerator ? "/page" : origin.url("/page"), claims).status(), 200);
        auto const& head = origin.last("/page").head;
        return head.field("X-Forwarded-For") + "|" + head.field("X-Forwarded-Host") + "|" + head.field("Forwarded");
    };
    Proxy proxy(Proxy::Setup{.accelerates = origin.url()});
    EXPECT_EQ(asked_with(proxy, true), "127.0.0.1|" + origin.authority() + "|");
    EXPECT_EQ(asked_with(proxy, false), "10.0.0.1|evil.example|for=10.0.0.1");
    Proxy telling(Proxy::Setup{.patch = R"({"forwarded": "x-forwarded-for"})", .accelerates = origin.url()});
    EXPECT_EQ(asked_with(telling, true), "127.0.0.1||");
    Proxy strict(R"({"forwarded_received": "delete"})");
    EXPECT_EQ(asked_with(strict, false), "||");
    Proxy behind(Proxy::Setup{.patch = R"({"forwarded_received": "keep"})", .accelerates = origin.url()});
    EXPECT_EQ(asked_with(behind, true), "10.0.0.1, 127.0.0.1|evil.example|for=10.0.0.1");
}

}   // namespace garner::test
