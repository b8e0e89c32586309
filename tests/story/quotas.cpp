// Quotas: what a client has used is counted, slowed, refused, shown and kept.
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "story/rest.hpp"
#include "support/credentials.hpp"

namespace garner::test {

namespace {

constexpr std::size_t MB = 1'000'000;

Answer kept(std::size_t bytes) { return {.fields = {{"Cache-Control", "max-age=1000"}}, .body = pattern(bytes)}; }
Answer never_kept(std::size_t bytes) { return {.fields = {{"Cache-Control", "no-store"}}, .body = pattern(bytes)}; }

/// `members`: "bytes": "1 MB"
std::string quota(std::string const& members, std::string const& more = "") {
    return R"({"quotas": [{"name": "guests", )" + members + "}]" + (more.empty() ? "" : ", " + more) + "}";
}

/// The row of this machine; null without one.
nlohmann::json row(Proxy const& proxy) {
    auto const rows = proxy.stats()["quotas"];
    return rows.empty() ? nlohmann::json() : rows[0];
}

std::size_t used(Proxy const& proxy) {
    auto const found = row(proxy);
    return found.is_null() ? 0 : found["bytes"].get<std::size_t>();
}

std::string const tunnels = R"("access": [{"allow": {"destination": ["127.0.0.0/8"], "port": ["1-65535"]}}])";

Finished garner(Proxy const& proxy, std::vector<std::string> words) {
    words.insert(words.begin(), garner_binary());
    words.insert(words.end(), {"--config", proxy.dir().path("garner.json").string()});
    return run(words);
}

}   // namespace

TEST(Quotas, refuse_what_goes_over_the_line_and_serve_what_is_stored) {
    Origin origin;
    origin.answer("/kept", kept(100'000));
    origin.answer("/large", never_kept(1'200'000));
    origin.answer("/small", never_kept(10));
    Proxy proxy(quota(R"("bytes": "1 MB", "per": "month")"));
    EXPECT_EQ(get(proxy, origin, "/kept").body().size(), 100'000u);
    EXPECT_GT(used(proxy), 100'000u);
    EXPECT_EQ(row(proxy)["state"], "within");
    EXPECT_FALSE(get(proxy, origin, "/large").complete()) << "a running body is ended";
    EXPECT_LT(used(proxy), 2 * MB);
    auto const asked = origin.requests("/small");
    auto const refused = get(proxy, origin, "/small", {{"Accept", "application/json"}});
    EXPECT_EQ(refused.status(), 429);
    EXPECT_EQ(origin.requests("/small"), asked);
    auto const seconds = std::stoll("0" + refused.field("Retry-After"));
    EXPECT_GT(seconds, 0);
    EXPECT_LE(seconds, 31 * 86'400);
    EXPECT_THAT(refused.body(), HasSubstr(R"(The quota \"guests\" is used up: )"));
    EXPECT_THAT(refused.body(), HasSubstr("It begins anew at 20"));
    EXPECT_EQ(refused.detail(), "quotas");
    EXPECT_TRUE(get(proxy, origin, "/kept").hit()) << "a stored response is sent";
    EXPECT_EQ(row(proxy)["state"], "over");
    EXPECT_EQ(proxy.logged("/small").status, 429);
    EXPECT_THAT(proxy.metrics(), HasSubstr("garner_quota_refused_total{quota=\"guests\"} 1"));
    EXPECT_THAT(proxy.metrics(), Not(HasSubstr("127.0.0.1\"")));
}

TEST(Quotas, end_an_upload_and_a_stored_body_too) {
    Origin origin;
    origin.answer("/take", never_kept(1));
    origin.answer("/film", kept(4'000'000));
    {
        Proxy proxy(quota(R"("bytes": "1 MB")"));
        Client client(proxy, origin);
        // The client may still be sending when the connection is closed.
        EXPECT_THAT(client.post("/take", pattern(4'000'000)).status(), AnyOf(429, 0));
        EXPECT_TRUE(eventually([&] { return proxy.logged("/take").status == 429; }));
        EXPECT_LT(used(proxy), 1 * MB + (1u << 20));
    }
    Proxy proxy(quota(R"("bytes": "1 MB")"));
    EXPECT_FALSE(get(proxy, origin, "/film").complete());
    EXPECT_TRUE(eventually([&] { return proxy.stats()["cache"]["fills"] == 0; }));
    EXPECT_LT(used(proxy), 1 * MB + (1u << 20));
    EXPECT_THAT(proxy.logged("/film").all.dump(), HasSubstr("quota"));
}

TEST(Quotas, a_follower_within_its_quota_goes_on_with_the_fetch_of_another_client) {
    Origin origin;
    origin.answer("/film", kept(4'000'000));
    Proxy proxy(quota(R"("bytes": "1 MB", "source": ["127.0.0.2"])", R"("share": {"down": "800 KB/s"})"));
    Client guest(proxy, origin), other(proxy, origin);
    guest.from("127.0.0.2");
    other.from("127.0.0.3");
    auto const first = guest.get("/film");
    EXPECT_GE(first.early(10'000).size(), 10'000u);
    auto const second = other.get("/film");
    EXPECT_EQ(second.body().size(), 4'000'000u);
    EXPECT_EQ(origin.requests("/film"), 1u);
}

/// Nothing else limits the follower: it has no rule at all.
TEST(Quotas, the_fetch_of_a_client_over_its_quota_goes_on_for_one_without) {
    Origin origin;
    auto film = origin.hold("/film");
    Proxy proxy(quota(R"("bytes": "1 MB", "source": ["127.0.0.2"])"));
    Client guest(proxy, origin), other(proxy, origin);
    guest.from("127.0.0.2");
    other.from("127.0.0.3");
    auto const first = guest.get("/film");
    film.head(kept(0), 2'000'000);
    film.piece(std::string(600'000, 'x'));
    EXPECT_EQ(first.early(600'000).size(), 600'000u);
    auto const second = other.get("/film");
    EXPECT_EQ(second.early(600'000).size(), 600'000u);
    for (int i = 0; i < 2; ++i) film.piece(std::string(700'000, 'x'));
    EXPECT_EQ(second.body().size(), 2'000'000u);
    EXPECT_TRUE(second.complete());
    EXPECT_EQ(origin.requests("/film"), 1u);
}

TEST(Quotas, end_a_tunnel_within_a_second_and_a_mebibyte) {
    Origin origin;
    origin.answer("/large", never_kept(8'000'000));
    Proxy proxy(quota(R"("bytes": "1 MB")", tunnels));
    Client client(proxy);
    ASSERT_EQ(client.connect_to(origin.authority()).status(), 200);
    auto const begun = std::chrono::steady_clock::now();
    client.raw("GET /large HTTP/1.1\r\nHost: " + origin.authority() + "\r\n\r\n");
    auto const reply = client.expect();
    EXPECT_LT(reply.body().size(), 1 * MB + (1u << 20));
    EXPECT_GT(reply.body().size(), MB / 2);
    EXPECT_FALSE(reply.complete());
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
    EXPECT_LT(used(proxy), 1 * MB + (1u << 20));
    Client again(proxy);
    EXPECT_EQ(again.connect_to(origin.authority()).status(), 429);
}

TEST(Quotas, end_a_slowed_tunnel_within_a_second_of_another_transfer_that_uses_the_rest) {
    Origin origin;
    origin.answer("/endless", never_kept(8'000'000));
    origin.answer("/rest", never_kept(900'000));
    Proxy proxy(quota(R"("bytes": "1 MB", "soft": 0.1, "slow": "20 KB/s")", tunnels));
    Client tunnel(proxy);
    ASSERT_EQ(tunnel.connect_to(origin.authority()).status(), 200);
    tunnel.raw("GET /endless HTTP/1.1\r\nHost: " + origin.authority() + "\r\n\r\n");
    auto const slowed = tunnel.expect();
    EXPECT_TRUE(eventually([&] { return !row(proxy).is_null() && row(proxy)["state"] == "slow"; }));
    EXPECT_FALSE(slowed.ends_within(Millis{500}));
    proxy.reconfigure(quota(R"("bytes": 1000, "soft": 0.1, "slow": "20 KB/s")", tunnels));
    proxy.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return row(proxy)["state"] == "over"; })) << "a reload keeps what is used";
    EXPECT_TRUE(slowed.ends_within(Millis{2'500})) << "one second, on a busy machine";
    EXPECT_FALSE(slowed.complete());
}

TEST(Quotas, the_slow_lane_has_its_rate) {
    Origin origin;
    origin.answer("/first", never_kept(600'000));
    origin.answer("/second", never_kept(400'000));
    Proxy proxy(quota(R"("bytes": "100 MB", "soft": 0.005, "slow": "200 KB/s", "over": "slow")"));
    EXPECT_TRUE(get(proxy, origin, "/first").complete());
    EXPECT_EQ(row(proxy)["state"], "slow");
    auto const begun = std::chrono::steady_clock::now();
    EXPECT_EQ(get(proxy, origin, "/second").body().size(), 400'000u);
    auto const took = std::chrono::steady_clock::now() - begun;
    EXPECT_GT(took, 1s);
    EXPECT_LT(took, 20s);
}

TEST(Quotas, requests_are_granted_whole) {
    Origin origin;
    origin.answer("/page", never_kept(10));
    origin.answer("/kept", kept(10));
    Proxy proxy(quota(R"("requests": 3)"));
    EXPECT_EQ(get(proxy, origin, "/kept").status(), 200);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
    EXPECT_EQ(get(proxy, origin, "/page").status(), 429);
    EXPECT_TRUE(get(proxy, origin, "/kept").hit());
    EXPECT_EQ(row(proxy)["used"], 3);
    EXPECT_EQ(row(proxy)["unit"], "requests");
}

TEST(Quotas, addresses_of_one_network_are_one_client) {
    Origin origin;
    origin.answer("/page", never_kept(10));
    Proxy proxy(quota(R"("requests": 2)", R"("limits": {"client_prefix4": 24})"));
    auto const status = [&](char const* address) { return Client(proxy, origin).from(address).get("/page").status(); };
    EXPECT_EQ(status("127.0.0.2"), 200);
    EXPECT_EQ(status("127.0.0.3"), 200);
    EXPECT_EQ(status("127.0.0.4"), 429);
    EXPECT_EQ(status("127.0.1.2"), 200);
    EXPECT_EQ(row(proxy)["subject"], "127.0.0.0");
}

TEST(Quotas, are_those_of_the_client_that_a_trusted_gateway_names) {
    Origin origin;
    origin.answer("/page", never_kept(10));
    Proxy proxy(quota(R"("requests": 1)", R"("forwarded_trust": ["127.0.0.1"],
        "access": [{"allow": {"source": ["192.0.2.0/24", "127.0.0.0/8"], "destination": ["127.0.0.0/8"], "port": ["1-65535"]}}])"));
    Client gateway(proxy, origin), other(proxy, origin);
    other.from("127.0.0.9");
    auto const status = [](Client& client, char const* named) {
        return client.get("/page", {{"X-Forwarded-For", named}}).status();
    };
    EXPECT_EQ(status(gateway, "192.0.2.7"), 200);
    EXPECT_EQ(status(gateway, "192.0.2.7"), 429);
    EXPECT_EQ(status(gateway, "192.0.2.8"), 200) << "on the same connection";
    EXPECT_EQ(status(other, "192.0.2.9"), 200);
    EXPECT_EQ(status(other, "192.0.2.10"), 429) << "it is not trusted, and pays itself";
    std::set<std::string> subjects;
    auto const stats = proxy.stats();
    for (auto const& one : stats["quotas"]) subjects.insert(one["subject"]);
    EXPECT_EQ(subjects, (std::set<std::string>{"127.0.0.9", "192.0.2.7", "192.0.2.8"}));
    Client itself("127.0.0.1", proxy.port());
    EXPECT_THAT(itself.get("/quota", {{"X-Forwarded-For", "192.0.2.8"}}).body(), HasSubstr("1 of 1 requests"));
}

TEST(Quotas, are_reset_by_an_operator) {
    Origin origin;
    origin.answer("/page", never_kept(10));
    Proxy proxy(quota(R"("requests": 1)"));
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
    EXPECT_EQ(get(proxy, origin, "/page").status(), 429);
    auto const told = garner(proxy, {"quota"});
    EXPECT_EQ(told.code, 0) << told.errors;
    EXPECT_THAT(told.output, HasSubstr("127.0.0.1"));
    EXPECT_THAT(told.output, HasSubstr("used up"));
    EXPECT_EQ(nlohmann::json::parse(garner(proxy, {"quota", "--json"}).output)[0]["state"], "over");
    auto const explained = garner(proxy, {"explain", origin.url("/page")});
    EXPECT_THAT(explained.output, HasSubstr("refused: The quota \"guests\" is used up"));
    EXPECT_THAT(explained.output, HasSubstr("guests: 1 of 1 requests, used up, until"));
    EXPECT_EQ(garner(proxy, {"quota", "reset", "others"}).code, 1);
    EXPECT_EQ(garner(proxy, {"quota", "reset", "guests", "10.1.1.1"}).code, 1);
    EXPECT_NE(garner(proxy, {"quota", "reset", "guests", ""}).code, 0);
    EXPECT_EQ(get(proxy, origin, "/page").status(), 429) << "an empty client is not all clients";
    EXPECT_EQ(garner(proxy, {"quota", "reset", "guests", "127.0.0.1"}).code, 0);
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
    Client admin("127.0.0.1", proxy.admin());
    for (char const* form : {"name=guests&client=", "name=guests&client", "client=&name=guests"}) {
        auto const refused = admin.post("/quota/reset", form, {{"Garner-Admin", "1"}});
        EXPECT_EQ(refused.status(), 400) << form;
        EXPECT_THAT(refused.body(), HasSubstr("leave it out to reset the quota for all clients"));
    }
    EXPECT_EQ(get(proxy, origin, "/page").status(), 429);
    EXPECT_EQ(garner(proxy, {"quota", "reset", "guests"}).code, 0);
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
}

/// A user "127.0.0.1" logs in from 127.0.0.2.
TEST(Quotas, of_users_are_shown_after_a_login_and_told_apart_from_addresses) {
    Origin origin;
    origin.answer("/page", never_kept(10));
    origin.answer("/open", never_kept(10));
    TempDir dir;
    nlohmann::json patch{{"quotas", {{{"name", "guests"}, {"requests", 2}}}}};
    patch["auth"]["sources"] = {{{"type", "htpasswd"}, {"file", dir.write("users", alice)}},
                                {{"type", "address"}, {"users", {{"127.0.0.2", "127.0.0.1"}}}}};
    patch["access"] = {{{"allow", {{"url_contains", "/open"}, {"destination", "127.0.0.0/8"}, {"port", "1-65535"}}}},
                       {{"allow", {{"user", "*"}, {"destination", "127.0.0.0/8"}, {"port", "1-65535"}}}}};
    Proxy proxy(patch.dump());
    Client client(proxy.address(), proxy.port());
    auto const asked = client.get("/quota");
    EXPECT_EQ(asked.status(), 407);
    EXPECT_THAT(asked.field("Proxy-Authenticate"), StartsWith("Basic "));
    EXPECT_THAT(asked.body(), Not(HasSubstr("guests")));
    EXPECT_EQ(client.get("/quota", login("alice:wrong")).status(), 407);
    EXPECT_EQ(Client(proxy, origin).get("/page", login("alice:wonder")).status(), 200);
    auto const shown = client.get("/quota", login("alice:wonder"));
    EXPECT_EQ(shown.status(), 200);
    EXPECT_THAT(shown.body(), HasSubstr("1 of 2 requests"));

    EXPECT_EQ(Client(proxy, origin).get("/open").status(), 200);
    EXPECT_EQ(garner(proxy, {"quota", "reset", "guests", "127.0.0.1"}).code, 0) << "only the address has this name";
    EXPECT_EQ(Client(proxy, origin).get("/open").status(), 200);
    EXPECT_EQ(Client(proxy, origin).from("127.0.0.2").get("/page").status(), 200);
    EXPECT_THAT(garner(proxy, {"quota"}).output, HasSubstr("user:127.0.0.1"));
    auto const ambiguous = garner(proxy, {"quota", "reset", "guests", "127.0.0.1"});
    EXPECT_EQ(ambiguous.code, 2);
    EXPECT_THAT(ambiguous.errors, HasSubstr("write user:127.0.0.1 or source:127.0.0.1"));
    EXPECT_EQ(garner(proxy, {"quota", "reset", "guests", "user:127.0.0.1"}).code, 0);
    EXPECT_EQ(garner(proxy, {"quota", "reset", "guests", "source:127.0.0.1"}).code, 0);
    EXPECT_EQ(garner(proxy, {"quota", "reset", "guests", "user:bob"}).code, 1);
}

TEST(Quotas, a_client_sees_its_own) {
    Origin origin;
    origin.answer("/page", never_kept(1'000));
    Proxy proxy(R"({"quotas": [{"name": "<b>guests", "bytes": "1 MB", "source": ["127.0.0.1"]},
                               {"name": "others", "bytes": "1 MB", "source": ["127.0.0.9"]}]})");
    get(proxy, origin, "/page").body();
    ASSERT_TRUE(eventually([&] { return used(proxy) > 1'000; })) << row(proxy);   // the client may be faster than the count
    Client client(proxy.address(), proxy.port());
    auto const html = client.get("/quota", {{"Accept", "text/html"}});
    EXPECT_EQ(html.status(), 200);
    EXPECT_EQ(html.field("Content-Type"), "text/html;charset=utf-8");
    EXPECT_THAT(html.body(), HasSubstr("&lt;b&gt;guests"));
    EXPECT_THAT(html.body(), Not(HasSubstr("others")));
    auto const text = client.get("/quota");
    EXPECT_THAT(text.body(), HasSubstr(" of 1 MB"));
    EXPECT_THAT(text.body(), HasSubstr("within the limits"));
    auto const json = nlohmann::json::parse(client.get("/quota?x", {{"Accept", "application/json"}}).body());
    ASSERT_EQ(json["quotas"].size(), 1u) << json;
    EXPECT_GT(json["quotas"][0]["bytes"]["used"], 1'000);
    EXPECT_EQ(json["quotas"][0]["bytes"]["limit"], 1'000'000);
    EXPECT_GT(json["quotas"][0]["left_seconds"], 0);
    EXPECT_EQ(client.post("/quota", "x").status(), 405);
    Proxy none;
    EXPECT_EQ(Client(none.address(), none.port()).get("/quota").status(), 404);
}

TEST(Quotas, a_restart_goes_on_with_what_is_used) {
    Origin origin;
    origin.answer("/page", never_kept(200'000));
    TempDir state;
    auto const patch = quota(R"("bytes": "1 MB")", R"("state": {"path": ")" + state.path("").string() + R"("})");
    std::size_t before = 0;
    {
        Proxy proxy(patch);
        get(proxy, origin, "/page").body();
        // The last bytes are counted after they are sent.
        EXPECT_TRUE(eventually([&] { return (before = used(proxy)) > 200'000; })) << before;
    }
    Proxy proxy(patch);
    EXPECT_EQ(used(proxy), before);
}

namespace {

/// Each kill may lose what was counted in the ten seconds before it, and nothing else.
class Killed {
public:
    Killed(Origin& origin, unsigned seed) : origin_(origin), random_(seed) {
        auto const proxy = start();
        get(*proxy, origin_, "/page").body();
        EXPECT_TRUE(eventually([&] { return used(*proxy) > 0; })) << proxy->stats()["quotas"];
        least_ = used(*proxy);   // a stop loses nothing
    }
    void live_and_die(Millis life, bool is_written) {
        auto const proxy = start();
        auto const restored = used(*proxy);
        EXPECT_GE(restored, least_);
        EXPECT_LE(proxy->stats()["ledger"]["damaged"], 1) << "at most a torn end";
        least_ = restored;
        auto const end = std::chrono::steady_clock::now() + life;
        while (std::chrono::steady_clock::now() < end) {
            get(*proxy, origin_, "/page").body();
            auto const now_used = used(*proxy);
            if (std::chrono::steady_clock::now() + loss < end) least_ = now_used;
            pause_for(Millis{100});
        }
        if (is_written) EXPECT_GT(least_, restored);
        proxy->kill();
    }
    void die(int kills) {
        live_and_die(long_life, true);
        for (int i = 1; i < kills; ++i) live_and_die(Millis{random_() % 1'000}, false);
        left_ = used(*start());
    }
    std::size_t least() const { return least_; }
    std::size_t left() const { return left_; }

private:
    static constexpr Millis long_life{12'000}, loss{10'000};
    std::unique_ptr<Proxy> start() const {
        static std::mutex one_at_a_time;   // another thread may take a free port
        std::lock_guard const lock(one_at_a_time);
        return std::make_unique<Proxy>(
            quota(R"("bytes": "1 GB", "per": "month")", R"("state": {"path": ")" + state_.path("").string() + R"("})"));
    }

    Origin& origin_;
    std::mt19937 random_;
    TempDir state_;
    std::size_t least_ = 0;   // what must be there after a kill
    std::size_t left_ = 0;    // bytes in the ledger after the last kill
};

}   // namespace

/// Four ledgers at a time, since a life of more than ten seconds is needed for each.
TEST(Quotas, twenty_kills_lose_at_most_ten_seconds_each) {
    Origin origin;
    origin.answer("/page", never_kept(10'000));
    std::vector<std::thread> lives;
    for (unsigned seed = 1; seed <= 4; ++seed)
        lives.emplace_back([&origin, seed] {
            Killed killed(origin, seed);
            killed.die(5);
            EXPECT_GE(killed.left(), killed.least());
        });
    for (auto& life : lives) life.join();
}

TEST(Quotas, a_damaged_or_unwritable_ledger_ends_nothing) {
    Origin origin;
    origin.answer("/page", never_kept(10'000));
    TempDir state;
    std::ofstream(state.path("quotas")) << "no ledger\nat all";
    auto const path = state.path("").string();
    {
        Proxy proxy(quota(R"("bytes": "1 MB")", R"("state": {"path": ")" + path + R"("})"));
        EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
        EXPECT_EQ(proxy.stats()["ledger"]["damaged"], 2);
        EXPECT_TRUE(proxy.says("dropped 1 damaged rows"));
    }
    std::filesystem::remove(state.path("quotas"));
    std::filesystem::create_directory(state.path("quotas"));   // no file can be there, even for root
    Proxy proxy(quota(R"("bytes": "1 MB")", R"("state": {"path": ")" + path + R"("})"));
    EXPECT_EQ(get(proxy, origin, "/page").status(), 200);
    EXPECT_NE(proxy.stats()["ledger"]["trouble"], "");
    EXPECT_THAT(proxy.stats()["health"].dump(), HasSubstr("a restart would forget what quotas have counted"));
    EXPECT_TRUE(proxy.says("the counts of quotas are only in memory"));
}

}   // namespace garner::test
