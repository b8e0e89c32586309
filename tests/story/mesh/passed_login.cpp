// Logins along a chain of proxies: peers[].login "pass" as Squid's login=PASS, and Squid that logs in to Garner.
#include <atomic>

#include "story/mesh/squid.hpp"
#include "support/credentials.hpp"

namespace garner::test {

struct PassedLogin : MeshWithSquid {
    TempDir dir;
    json const never_direct{{"direct", {{"never", json::array({"all"})}}}};
    json const passes{{"login", "pass"}};

    /// Squid that asks for the login of bob.
    Squid::Setup squid_for_bob() {
        auto const users = dir.write("squid-users", "bob:$1$abcdefgh$OG8ThcMs28pRS0i6HKg9B/\n");
        return squid_with("auth_param basic program /usr/lib/squid/basic_ncsa_auth " + users +
                          "\nauth_param basic children 2\nauth_param basic realm Campus\n"
                          "acl known proxy_auth REQUIRED\nhttp_access deny !known\n");
    }
    /// Garner that asks for the login of a user.
    json asks_for(std::string const& users, std::string const& realm) const {
        return {{"auth", {{"realm", realm}, {"sources", {{{"type", "htpasswd"}, {"file", dir.write(realm, users)}}}}}},
                {"access", {{{"allow", {{"user", "*"}, {"destination", "127.0.0.0/8"}, {"port", "1-65535"}}}}, {{"deny", "all"}}}}};
    }
    json parent_at(std::string const& name, std::uint16_t port, json const& more = json::object()) const {
        json peer{{"name", name},      {"type", "parent"}, {"host", "127.0.0.1"},
                  {"http_port", port}, {"icp_port", 0},    {"no_query", true}};
        peer.merge_patch(more);
        return peer;
    }
    static auto curl(std::string const& proxy, std::string const& user, std::vector<std::string> const& more) {
        std::vector<std::string> command{"curl", "-sS", "--max-time", "20", "-x", proxy, "--proxy-user", user};
        command.insert(command.end(), more.begin(), more.end());
        return run(command, 30s);
    }
};

// ---- Garner passes it ----

TEST_F(PassedLogin, Squid_as_the_parent_decides_by_the_login_of_the_client) {
    origin.answer("/page", fresh("hello"));
    origin.answer("/form", no_store("taken"));
    Squid squid(squid_for_bob());
    Proxy proxy(ours({squid_as("parent", passes)}, never_direct));
    Client client(proxy, origin);
    auto const asked = client.get("/page");
    EXPECT_EQ(asked.status(), 407);
    EXPECT_EQ(asked.field("Proxy-Authenticate"), "Basic realm=\"Campus\"");
    EXPECT_THAT(asked.detail(), EndsWith("; peers[].login"));
    EXPECT_EQ(asked.fwd_status(), 407);
    EXPECT_EQ(client.get("/page", login("bob:guess")).status(), 407);
    EXPECT_EQ(client.post("/form", pattern(50'000)).status(), 407);
    EXPECT_EQ(origin.requests("/page") + origin.requests("/form"), 0u);
    EXPECT_EQ(client.get("/page", login("bob:builder")).body(), "hello");
    EXPECT_EQ(client.post("/form", pattern(50'000), login("bob:builder")).body(), "taken");
    EXPECT_TRUE(client.get("/page").hit());   // Garner itself asks for no login
    EXPECT_FALSE(origin.last("/page").head.has("Proxy-Authorization"));
    EXPECT_FALSE(origin.last("/form").head.has("Proxy-Authorization"));
    for (auto const* secret : {"builder", "Ym9iOmJ1aWxkZXI="}) EXPECT_THAT(read_file(proxy.log_file()), Not(HasSubstr(secret)));
    EXPECT_EQ(proxy.logged("/page", 4).tag, "TCP_MEM_HIT");
}

TEST_F(PassedLogin, a_tunnel_through_Squid_opens_for_the_right_password_only) {
    NEEDS("curl");
    origin.answer("/page", fresh("hello"));
    Squid squid(squid_for_bob());
    Proxy proxy(ours({squid_as("parent", passes)}, never_direct));
    auto const tunnelled = [&](std::string const& user) {
        return curl(proxy.url(), user, {"-p", "-w", " %{http_connect}", origin.url("/page")});
    };
    EXPECT_EQ(tunnelled("bob:builder").output, "hello 200");
    EXPECT_EQ(tunnelled("bob:guess").output, " 407");
    Client client(proxy);
    auto const asked = client.connect_to(origin.authority());
    EXPECT_EQ(asked.status(), 407);
    EXPECT_EQ(asked.field("Proxy-Authenticate"), "Basic realm=\"Campus\"");
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST_F(PassedLogin, both_proxies_check_the_same_credentials) {
    origin.answer("/page", no_store("hello"));
    Proxy parent(ours({}, asks_for(alice, "Campus")));
    auto more = never_direct;
    more.merge_patch(asks_for(std::string(alice) + bob, "Office"));
    more["icp"]["address"] = at_us(free_port());
    Proxy child(ours({parent_at("campus", parent.port(), passes)}, more));
    Client client(child, origin);
    EXPECT_THAT(client.get("/page").field("Proxy-Authenticate"), HasSubstr("Office"));
    EXPECT_EQ(client.get("/page", login("alice:wonder")).body(), "hello");
    EXPECT_EQ(parent.logged("/page").all["user"], "alice");
    EXPECT_EQ(child.logged("/page", 2).all["user"], "alice");
    auto const refused = client.get("/page", login("bob:builder"));   // the parent does not know bob
    EXPECT_EQ(refused.status(), 407);
    EXPECT_THAT(refused.field("Proxy-Authenticate"), HasSubstr("Campus"));
    EXPECT_THAT(client.get("/page", login("alice:guess")).field("Proxy-Authenticate"), HasSubstr("Office"));
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST_F(PassedLogin, no_other_peer_and_no_origin_gets_it) {
    origin.answer("/direct", no_store("hello"));
    std::atomic<int> with_login = 0;
    Origin other;
    other.otherwise([&](Hand& hand) {
        with_login += hand.request().head.has("Proxy-Authorization");
        hand.answer(no_store("from the other"));
    });
    auto const gone = parent_at("gone", free_port(), passes);   // would get it, but does not listen
    Proxy proxy(ours({gone, parent_at("other", other.port(), {{"domains", {"localhost"}}})}));
    Client client(proxy);
    EXPECT_EQ(client.get("http://localhost/page", login("bob:builder")).body(), "from the other");
    EXPECT_EQ(with_login, 0);
    EXPECT_EQ(get(proxy, origin, "/direct", login("bob:builder")).body(), "hello");
    EXPECT_FALSE(origin.last("/direct").head.has("Proxy-Authorization"));
}

TEST_F(PassedLogin, without_pass_it_ends_here) {
    Squid squid(squid_for_bob());
    Proxy proxy(ours({squid_as("parent")}, never_direct));
    auto const reply = get(proxy, origin, "/page", login("bob:builder"));
    EXPECT_EQ(reply.status(), 502);
    EXPECT_FALSE(reply.has("Proxy-Authenticate"));
}

TEST_F(PassedLogin, a_demand_for_a_login_is_not_stored_and_nothing_stale_replaces_it) {
    Origin parent;
    parent.otherwise([](Hand& hand) {
        if (hand.request().head.has("Proxy-Authorization"))
            return hand.answer(fresh("page", 1, {{"Cache-Control", "stale-if-error=600"}}));
        hand.answer({.status = 407,
                     .fields = {{"Cache-Control", "max-age=600"},
                                {"Proxy-Authenticate", "Negotiate"},
                                {"Proxy-Authenticate", "Basic realm=\"Campus\""}},
                     .body = "log in"});
    });
    Proxy proxy(ours({parent_at("campus", parent.port(), passes)}, never_direct));
    Client client(proxy, origin);
    auto const asked = client.get("/page");
    EXPECT_EQ(asked.status(), 407);
    EXPECT_EQ(asked.head().all("Proxy-Authenticate"), std::vector<std::string>{"Basic realm=\"Campus\""});
    EXPECT_EQ(client.get("/page", login("bob:builder")).body(), "page");
    EXPECT_EQ(client.get("/page", {{"Proxy-Authorization", "Negotiate YWJj"}, {"Cache-Control", "no-cache"}}).status(), 407);
    pause_for(Millis{2'100});
    EXPECT_EQ(client.get("/page").status(), 407);
    EXPECT_EQ(client.get("/page", login("bob:builder")).body(), "page");
    EXPECT_EQ(client.connections(), 1);
}

// ---- Squid passes it ----

struct SquidLogsIn : PassedLogin {
    std::string only_us(Proxy const& proxy, std::string const& options) const {
        return us_as("parent", proxy, "no-query default " + options) + "never_direct allow all\n";
    }
};

TEST_F(SquidLogsIn, with_a_login_of_its_own) {
    origin.answer("/page", no_store("hello"));
    Proxy proxy(ours({}, asks_for(alice, "Uni")));
    Squid squid(squid_with(only_us(proxy, "login=alice:wonder")));
    auto client = squid.client();
    EXPECT_EQ(client.get(origin.url("/page")).body(), "hello");
    EXPECT_EQ(proxy.logged("/page").all["user"], "alice");
    ASSERT_EQ(client.connect_to(origin.authority()).status(), 200);
    EXPECT_EQ(client.get("/page").body(), "hello");
}

TEST_F(SquidLogsIn, with_a_wrong_password_it_gets_nothing) {
    Proxy proxy(ours({}, asks_for(alice, "Uni")));
    Squid squid(squid_with(only_us(proxy, "login=alice:guess")));
    EXPECT_NE(squid.client().get(origin.url("/page")).status(), 200);
    EXPECT_EQ(proxy.logged("/page").status, 407);
    EXPECT_EQ(origin.requests("/page"), 0u);
}

TEST_F(SquidLogsIn, with_the_login_of_each_client) {
    NEEDS("curl");
    origin.answer("/page", no_store("hello"));
    Proxy proxy(ours({}, asks_for(std::string(alice) + bob, "Uni")));
    Squid squid(squid_with(only_us(proxy, "login=PASS")));
    auto client = squid.client();
    auto const asked = client.get(origin.url("/page"));
    EXPECT_EQ(asked.status(), 407);
    EXPECT_THAT(asked.field("Proxy-Authenticate"), HasSubstr("realm=\"Uni\""));
    EXPECT_EQ(squid.client().get(origin.url("/page"), login("alice:wonder")).body(), "hello");
    EXPECT_EQ(squid.client().get(origin.url("/page"), login("bob:builder")).body(), "hello");
    EXPECT_EQ(squid.client().get(origin.url("/page"), login("bob:guess")).status(), 407);
    proxy.logged("/page", 4);
    EXPECT_EQ(proxy.log().at(1).all["user"], "alice");
    EXPECT_EQ(proxy.log().at(2).all["user"], "bob");
    EXPECT_EQ(curl(squid.url(), "bob:builder", {"-p", origin.url("/page")}).output, "hello");
}

}   // namespace garner::test
