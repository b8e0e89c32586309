// Origins and clients that respond, stall or send at the wrong moment: other clients are not affected.
#include "story/scene.hpp"

namespace garner::test {

namespace {

char const* const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n";

}   // namespace

TEST(HostileOrigin, a_101_that_nobody_asked_for_is_502_also_in_the_middle_of_an_upload_and_for_HEAD) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/up", [](Hand& hand) {
        hand.send(switching);
        hand.leave();
    });
    Client client(proxy, origin);
    auto posting = client.begin("POST", "/up", {{"Content-Length", "1000000"}});
    client.raw(std::string(100'000, 'a'));
    EXPECT_EQ(posting.status(), 502);
    EXPECT_EQ(Client(proxy, origin).head("/up").status(), 502);
    origin.answer("/page", fresh("alive"));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "alive");
}

TEST(HostileOrigin, an_upgrade_with_a_body_is_an_ordinary_request) {
    Origin origin;
    Proxy proxy;
    origin.answer("/ws", no_store("plain"));
    auto reply = Client(proxy, origin).post("/ws", "body", {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}});
    EXPECT_EQ(reply.body(), "plain");
    EXPECT_FALSE(origin.last("/ws").head.has("Upgrade"));
}

TEST(HostileOrigin, HEAD_of_a_stale_object_meets_a_503) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) {
        if (hand.request().head.has("If-None-Match") || hand.request().head.start.starts_with("HEAD"))
            hand.answer({.status = 503, .body = "down"});
        else
            hand.answer(
                {.fields = {{"Cache-Control", "max-age=1, stale-if-error=600"}, {"Age", "5"}, {"ETag", R"("a")"}}, .body = "body"});
    });
    get(proxy, origin, "/page").body();
    EXPECT_EQ(Client(proxy, origin).head("/page").status(), 200);
    EXPECT_EQ(get(proxy, origin, "/page").body(), "body");
}

TEST(HostileOrigin, no_request_goes_out_behind_half_a_body) {
    Origin origin;
    Proxy proxy(R"({"workers": 1, "deadlines": {"body": "1s"}})");
    origin.by_hand("/up", [](Hand& hand) {   // reads none of the body, and responds all the same
        std::this_thread::sleep_for(2500ms);
        hand.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        std::this_thread::sleep_for(1500ms);
        hand.leave();
    });
    origin.answer("/page", fresh("page"));
    Client client(proxy, origin);
    client.begin("POST", "/up", {{"Content-Length", "50000000"}});
    std::thread pouring([&] {
        std::string block(1'000'000, 'a');
        for (int i = 0; i < 50 && client.raw(block); ++i) {
        }
    });
    std::this_thread::sleep_for(3s);
    auto other = get(proxy, origin, "/page");
    EXPECT_EQ(other.body(), "page");
    pouring.join();   // the proxy has closed the connection by then
}

TEST(HostileOrigin, a_304_that_makes_the_answer_private_takes_it_out_of_the_cache) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) {
        if (hand.request().head.has("If-None-Match"))
            hand.answer({.status = 304,
                         .fields = {{"ETag", R"("a")"}, {"Cache-Control", "private, max-age=100"}, {"Set-Cookie", "sid=VICTIM"}}});
        else
            hand.answer({.fields = {{"ETag", R"("a")"}, {"Cache-Control", "max-age=1"}, {"Age", "5"}}, .body = "body"});
    });
    get(proxy, origin, "/page").body();
    auto own = get(proxy, origin, "/page", {{"Cookie", "sid=VICTIM"}});
    EXPECT_EQ(own.body(), "body");
    EXPECT_EQ(own.field("Set-Cookie"), "sid=VICTIM");
    auto other = get(proxy, origin, "/page");
    EXPECT_FALSE(other.hit());
    EXPECT_FALSE(other.has("Set-Cookie"));
}

TEST(HostileOrigin, a_304_about_another_response_is_asked_again_without_our_validators) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) {
        if (hand.request().head.has("If-None-Match"))
            hand.answer({.status = 304, .fields = {{"ETag", R"("b")"}}});
        else
            hand.answer({.fields = {{"ETag", R"("a")"}, {"Cache-Control", "max-age=1"}, {"Age", "5"}}, .body = "body"});
    });
    get(proxy, origin, "/page").body();
    auto second = get(proxy, origin, "/page");
    EXPECT_EQ(second.status(), 200);
    EXPECT_EQ(second.body(), "body");
    EXPECT_EQ(origin.requests("/page"), 3u);
}

TEST(HostileOrigin, a_dripping_body_that_nobody_reads_is_given_up) {
    Origin origin;
    Proxy proxy(R"({"deadlines": {"abandoned": "1s"}})");
    auto slow = origin.hold("/drip");
    Client client(proxy, origin);
    auto reply = client.get("/drip");
    slow.head(fresh(""), 1000);
    slow.piece("a");
    reply.early(1);
    client.close();
    for (int i = 0; i < 150 && !slow.nth(0).abandoned(1ms); ++i) {
        slow.piece("a");
        std::this_thread::sleep_for(100ms);
    }
    EXPECT_TRUE(slow.nth(0).abandoned());
}

TEST(HostileOrigin, rules_behind_one_that_names_a_destination_hold_for_accelerators_too) {
    Origin origin;
    origin.answer("/page", fresh("page"));
    Proxy proxy(Proxy::Setup{.patch = R"({"access": [{"deny": {"destination": ["10.0.0.0/8"]}}, {"deny": "all"}]})",
                             .accelerates = origin.url()});
    EXPECT_EQ(Client("127.0.0.1", proxy.accelerator()).get("/page").status(), 403);
    EXPECT_EQ(origin.requests("/page"), 0u);
}

TEST(HostileOrigin, a_204_has_no_length_and_a_fault_does_not_wear_the_last_requests_address) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    origin.answer("/nothing", {.status = 204, .fields = {{"Cache-Control", "max-age=600"}}});
    get(proxy, origin, "/nothing").status();
    Client client(proxy, origin);
    auto stored = client.get("/nothing");
    EXPECT_EQ(stored.status(), 204);
    EXPECT_FALSE(stored.has("Content-Length"));
    client.raw("GET " + origin.url("/x") + " HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
    auto refused = client.expect();
    EXPECT_EQ(refused.status(), 400);
    EXPECT_THAT(refused.body(), Not(HasSubstr("/nothing")));
}

}   // namespace garner::test
