// A takeover goes on with what quotas have counted, in both processes.
#include "story/takeover/service.hpp"

namespace garner::test {

namespace {

std::size_t used_of_quota(Proxy const& proxy) {
    auto const rows = proxy.stats()["quotas"];
    return rows.empty() ? 0 : rows[0]["bytes"].get<std::size_t>();
}

}   // namespace

TEST(TakeoverQuotas, go_on_with_what_was_used_in_both_processes) {
    Origin origin;
    origin.answer("/page", {.fields = {{"Cache-Control", "no-store"}}, .body = pattern(100'000)});
    origin.answer("/slow", {.fields = {{"Cache-Control", "no-store"}}, .body = pattern(600'000)});
    TempDir state;
    auto const path = state.path("").string();
    Service service(R"({"deadlines": {"drain_idle": "100ms"}, "caps": [{"url_contains": ["slow"], "down": "100 KB/s"}],
                        "quotas": [{"name": "guests", "bytes": "1 GB", "per": "month"}], "state": {"path": ")" +
                    path + R"("}})");
    EXPECT_EQ(get(service.proxy(), origin, "/page").status(), 200);
    auto const slow = get(service.proxy(), origin, "/slow");
    EXPECT_GE(slow.early(1'000).size(), 1'000u);
    auto const before = used_of_quota(service.proxy());
    EXPECT_GT(before, 100'000u);
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_GE(used_of_quota(service.proxy()), before);
    EXPECT_EQ(get(service.proxy(), origin, "/page").status(), 200);
    EXPECT_EQ(slow.body().size(), 600'000u) << "the former process ends its request";
    service.expect_former_to_end();
    EXPECT_TRUE(eventually([&] { return used_of_quota(service.proxy()) > 800'000u; })) << used_of_quota(service.proxy());
    EXPECT_LT(used_of_quota(service.proxy()), 830'000u) << "nothing is counted twice";
    auto const after = used_of_quota(service.proxy());
    ASSERT_TRUE(service.take_over()) << service.refused();
    EXPECT_EQ(used_of_quota(service.proxy()), after);
    EXPECT_TRUE(eventually([&] { return std::filesystem::exists(state.path("quotas")); }, Millis{20'000}));
    EXPECT_EQ(service.proxy().stats()["ledger"]["trouble"], "");
}

TEST(TakeoverQuotas, count_and_end_a_tunnel_that_goes_on_in_the_new_process) {
    Origin origin;
    origin.answer("/page", {.fields = {{"Cache-Control", "no-store"}}, .body = pattern(300'000)});
    origin.answer("/large", {.fields = {{"Cache-Control", "no-store"}}, .body = pattern(4'000'000)});
    Service service(R"({"access": [{"allow": {"destination": ["127.0.0.0/8"], "port": ["1-65535"]}}],
                        "quotas": [{"name": "guests", "bytes": "1 MB", "per": "month"}]})");
    Client client(service.proxy());
    ASSERT_EQ(client.connect_to(origin.authority()).status(), 200);
    auto const ask = [&](std::string const& path) {
        client.raw("GET " + path + " HTTP/1.1\r\nHost: " + origin.authority() + "\r\n\r\n");
        return client.expect();
    };
    EXPECT_EQ(ask("/page").body().size(), 300'000u);
    ASSERT_TRUE(service.take_over()) << service.refused();
    service.expect_former_to_end(Millis{10'000});
    EXPECT_TRUE(eventually([&] { return used_of_quota(service.proxy()) > 300'000u; })) << used_of_quota(service.proxy());
    EXPECT_EQ(ask("/page").body().size(), 300'000u) << service.errors();
    EXPECT_TRUE(eventually([&] { return used_of_quota(service.proxy()) > 600'000u; })) << used_of_quota(service.proxy());
    EXPECT_LT(used_of_quota(service.proxy()), 620'000u) << "nothing is counted twice";
    auto const ended = ask("/large");
    EXPECT_FALSE(ended.complete());
    EXPECT_LT(used_of_quota(service.proxy()), 1'000'000u + (1u << 20));
    Client again(service.proxy());
    EXPECT_EQ(again.connect_to(origin.authority()).status(), 429);
}

}   // namespace garner::test
