// Members of a group behind each other: nothing that was invalidated comes back through a parent, a sibling, or a fetch that began
// before.
#include <signal.h>

#include "story/mesh/group_scene.hpp"
#include "support/child.hpp"
#include "support/programs.hpp"
#include "support/squid.hpp"

namespace garner::test {

using nlohmann::json;

namespace {

json const never_direct{{"never", json::array({"all"})}};

json parent_at(std::string const& host, std::uint16_t port) {
    return {{"name", "parent"}, {"type", "parent"}, {"host", host}, {"http_port", port}, {"no_query", true}, {"default", true}};
}

/// A member that asks these peers only.
std::string with_peers(Lab const& lab, std::size_t member, std::vector<json> const& peers, json const& more = json::object()) {
    auto patch = json::parse(lab.patch_of(member));
    patch["peers"] = peers;
    patch["direct"] = never_direct;
    patch.merge_patch(more);
    return patch.dump();
}

json at_icp(std::uint16_t port) {
    return {{"icp", {{"address", "127.0.0.1:" + std::to_string(port)}, {"allow", {"127.0.0.0/8"}}, {"timeout_min", "2s"}}},
            {"digest", {{"publish", false}}}};
}

json state_of(Proxy& proxy) { return json::parse(Client("127.0.0.1", proxy.admin()).get("/group").body()); }
bool is_current(Proxy& proxy) { return state_of(proxy)["state"] == "current"; }

/// Two leases after the start of `proxy`: its requests use the caches of others.
bool uses_caches(Proxy& proxy, VersionedOrigin& pages) {
    int number = 0;
    return eventually([&] {
        auto const path = "/z" + std::to_string(++number);
        (void)get(proxy, pages.origin(), path).body();
        // Squid sends a max-age of its own.
        return std::string(pages.origin().last(path).head.field("Cache-Control")).find("no-cache") == std::string::npos;
    });
}

Reply post_purge(Proxy& proxy, std::string const& form) {
    return Client("127.0.0.1", proxy.admin())
        .post("/purge", form, {{"Garner-Admin", "1"}, {"Content-Type", "application/x-www-form-urlencoded"}});
}

Finished purge_at(Proxy& proxy, std::vector<std::string> words) {
    words.insert(words.begin(), {garner_binary(), "purge"});
    words.insert(words.end(), {"--set", "admin.address=127.0.0.1:" + std::to_string(proxy.admin())});
    return run(words, Millis{60'000});
}

}   // namespace

/// The voter stands still: parent and sibling hear of nothing, and serve what they have until their leases end.
TEST(GroupTiers, a_parent_and_a_sibling_that_have_not_heard_bring_nothing_back) {
    Lab lab(2, 1, R"({"group": {"lease": "4s"}})");
    auto& voter = lab[0];
    auto& parent = lab[1];
    auto const icp_of_sibling = free_port();
    auto sibling_patch = json::parse(lab.patch_of(2));
    sibling_patch.merge_patch(at_icp(icp_of_sibling));
    Proxy sibling(sibling_patch.dump());
    json const as_sibling{{"name", "sibling"},
                          {"type", "sibling"},
                          {"host", "127.0.0.1"},
                          {"http_port", sibling.port()},
                          {"icp_port", icp_of_sibling}};
    Proxy child(with_peers(lab, 3, {as_sibling, parent_at("127.0.0.1", parent.port())}, at_icp(free_port())));
    auto const ask = [&](Proxy& proxy, std::string const& path) { return told(get(proxy, lab.pages.origin(), path)); };
    ASSERT_TRUE(eventually([&] { return is_current(child) && is_current(sibling); }));
    for (auto const* path : {"/a", "/b"}) ask(parent, path);
    for (auto const* path : {"/a", "/c"}) ask(sibling, path);
    ASSERT_TRUE(uses_caches(child, lab.pages));
    ASSERT_EQ(ask(child, "/a"), "version 1");
    ASSERT_EQ(child.logged("/a").all.value("hierarchy", ""), "SIBLING_HIT");

    voter.signal(SIGSTOP);
    lab.pages.renew();
    EXPECT_EQ(ask(child, "/b"), "version 1") << "the parent has not heard of the new version";
    EXPECT_EQ(ask(child, "/c"), "version 1") << "nor the sibling";
    auto const purging = post_purge(child, "group=1&url=" + lab.pages.origin().url("/a"));
    EXPECT_TRUE(eventually([&] { return child.stats()["invalidations"]["accepted"]["url"] == 1; }));
    auto const anew = ask(child, "/a");
    bool const were_current = is_current(parent) && is_current(sibling) && is_current(child);
    EXPECT_EQ(anew, "version 2");
    EXPECT_TRUE(were_current) << "or else they validated by themselves";
    EXPECT_EQ(child.logged("/a", 2).all.value("hierarchy", ""), "DEFAULT_PARENT");
    EXPECT_THAT(lab.pages.origin().last("/a").head.field("Cache-Control"), HasSubstr("no-cache")) << "it passes the parent";
    EXPECT_EQ(ask(child, "/a"), "version 2 hit");
    voter.signal(SIGCONT);
    EXPECT_THAT(purging.status(), AnyOf(200, 503));
}

TEST(GroupTiers, a_fetch_that_began_before_brings_nothing_back_to_those_that_join_it) {
    Lab lab(1, 1);
    auto& parent = lab[0];
    Proxy child(with_peers(lab, 1, {parent_at("127.0.0.1", parent.port())}));
    ASSERT_TRUE(eventually([&] { return is_current(child); }));
    auto& origin = lab.pages.origin();
    auto slow = origin.hold("/slow");
    auto const version = [](int number) {
        return fresh("version " + std::to_string(number) + " of it", 600, {{"Surrogate-Key", "slow"}});
    };
    auto const before_at_child = get(child, origin, "/slow");
    slow.arrived();
    auto const done = purge_at(child, {"--tag", "slow", "--wait"});
    EXPECT_EQ(done.code, 0) << done.errors;
    auto const after_at_child = get(child, origin, "/slow"), after_at_parent = get(parent, origin, "/slow");
    EXPECT_FALSE(after_at_parent.begins_within(Millis{200}));
    slow.release(version(1));
    EXPECT_EQ(told(before_at_child), "version 1");
    slow.nth(1).release(version(2));
    slow.nth(2).release(version(2));
    EXPECT_EQ(told(after_at_child), "version 2");
    EXPECT_EQ(told(after_at_parent), "version 2");
    EXPECT_EQ(told(get(child, origin, "/slow")), "version 2 hit");
    // Of two fetches at once the earlier one may not be stored, and that of a request with no-cache leads no others.
    auto const later = get(parent, origin, "/slow");
    if (!later.begins_within(Millis{1'000})) slow.nth(3).release(version(2));
    EXPECT_THAT(told(later), StartsWith("version 2"));
}

/// Squid is no member, and hears of no invalidation.
TEST(GroupTiers, a_Squid_between_two_members_brings_nothing_back) {
    NEEDS("squid");
    Lab lab(1, 1);
    auto& parent = lab[0];
    Squid squid("cache_peer 127.0.0.1 parent " + std::to_string(parent.port()) +
                " 0 no-query no-digest no-netdb-exchange default name=garner\nnever_direct allow all\n");
    Proxy child(with_peers(lab, 1, {parent_at(Squid::address, squid.ports().http)}));
    ASSERT_TRUE(eventually([&] { return is_current(child); }));
    auto& origin = lab.pages.origin();
    ASSERT_TRUE(uses_caches(child, lab.pages));
    auto const at_squid = [&](std::string const& path) {
        auto const body = squid.client().get(origin.url(path)).body();
        return body.substr(0, body.find(' ', 8));
    };
    EXPECT_EQ(told(get(child, origin, "/a")), "version 1");
    EXPECT_EQ(at_squid("/b"), "version 1") << "the child does not have it";
    int number = 1;
    for (auto* const purges : {&parent, &child}) {
        lab.pages.renew();
        auto const renewed = "version " + std::to_string(++number);
        EXPECT_NE(at_squid("/a"), renewed) << "it has an older one, which is fresh";
        auto const done = purge_at(*purges, {"--tag", "all", "--wait"});
        EXPECT_EQ(done.code, 0) << done.errors;
        for (auto const* path : {"/a", "/b"}) {
            EXPECT_EQ(told(get(child, origin, path)), renewed) << path;
            EXPECT_EQ(at_squid(path), renewed) << "the request of the child has replaced it: " << path;
        }
    }
    EXPECT_GE(squid.logged("/a", "TCP_MISS").size(), 3u) << "at first, and after each purge";
}

}   // namespace garner::test
