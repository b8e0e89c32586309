// Clients that flood the admin address: its figures and the proxy go on.
#include "story/rest.hpp"
#include "story/scene.hpp"

namespace garner::test {

namespace {

/// The number of requests that the viewer sees on its stream.
bool sees_requests(Reply const& stream, int requests) {
    auto const text = "\"f:requests.total\":[\"" + std::to_string(requests) + "\"]";
    return eventually([&] { return stream.early(stream.early(0).size() + 1).find(text) != std::string::npos; });
}

}   // namespace

TEST(AdminFlood, ten_thousand_viewers_are_bounded_and_change_nothing_for_others) {
    auto const count = clients_up_to(number_from("GARNER_VIEWERS", 10'000));
    Origin origin;
    origin.answer("/page", fresh("body"));
    Proxy proxy;
    int requests = 0;
    auto const fetch = [&] {
        auto const reply = get(proxy, origin, "/page");
        EXPECT_TRUE(reply.ends_within(10s));
        ++requests;
    };
    fetch();
    auto const at_rest = descriptors(proxy);
    Client viewer("127.0.0.1", proxy.admin());
    auto const stream = viewer.get("/events");
    EXPECT_TRUE(sees_requests(stream, requests));

    auto const request = "GET /events HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(proxy.admin()) + "\r\n\r\n";
    std::vector<Wire> others;
    for (std::size_t i = 0; i < count; ++i) {
        others.push_back(Wire::connect("127.0.0.1", proxy.admin()));
        others.back().send(request);
        if (i % 1'000 != 999) continue;
        EXPECT_TRUE(Client("127.0.0.1", proxy.admin()).get("/stats.json").ends_within(10s)) << i;
        EXPECT_LE(descriptors(proxy), at_rest + 140) << "at most 128 connections";
        fetch();
    }
    EXPECT_TRUE(sees_requests(stream, requests)) << "the first viewer goes on";
    std::size_t served = 0;
    for (auto& one : others) {
        while (one.buffer().size() < 13 && one.receive(Millis{5'000}) == Wire::Read::data) {
        }
        served += one.buffer().starts_with("HTTP/1.1 200 ");
        EXPECT_THAT(one.buffer().substr(0, 13), AnyOf("", "HTTP/1.1 200 ", "HTTP/1.1 503 "));
    }
    EXPECT_EQ(served, 63u) << "with the first one 64";
    others.clear();
    viewer.close();
    EXPECT_TRUE(eventually([&] { return descriptors(proxy) <= at_rest + 2; })) << descriptors(proxy) << " of " << at_rest;
    Client again("127.0.0.1", proxy.admin());
    EXPECT_TRUE(sees_requests(again.get("/events"), requests));
}

}   // namespace garner::test
