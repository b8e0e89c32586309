// Members of a group without a majority of the voters: they validate what is covered, and come back by themselves.
#include <signal.h>

#include <regex>
#include <thread>
#include <utility>
#include <vector>

#include "story/mesh/group_scene.hpp"
#include "support/child.hpp"

namespace garner::test {

using nlohmann::json;

namespace {

/// Voters that do not run for a time.
class Frozen {
public:
    explicit Frozen(std::vector<Proxy*> voters) : voters_(std::move(voters)) {
        for (auto* voter : voters_) voter->signal(SIGSTOP);
    }
    Frozen(Frozen const&) = delete;
    ~Frozen() { thaw(); }
    void thaw() {
        for (auto* voter : std::exchange(voters_, {})) voter->signal(SIGCONT);
    }

private:
    std::vector<Proxy*> voters_;
};

/// True as soon as its log has the pattern behind the last `before`.
bool logs_after(Proxy const& proxy, std::string const& before, std::string const& pattern) {
    std::regex const wanted(pattern);
    return eventually([&] {
        auto const log = proxy.errors();
        auto const from = log.rfind(before);
        return from != log.npos && std::regex_search(log.substr(from), wanted);
    });
}

bool becomes(Lab& lab, std::size_t member, std::string const& state) {
    return eventually([&] { return lab.state(member)["state"] == state; });
}

/// The first member uses a response that it fetched just before the voters fell silent for a lease; then it has to validate.
bool is_cut_off_for_a_lease(Lab& lab) {
    bool const is_cut_off = becomes(lab, 0, "cut off");
    std::this_thread::sleep_for(2s);
    return is_cut_off;
}

}   // namespace

TEST(GroupCutOff, validates_about_once_per_lease_and_comes_back) {
    Lab lab(3, 3);
    lab.ask(0, "/a");
    EXPECT_EQ(lab.ask(0, "/a"), "version 1 hit");
    Frozen frozen({&lab[1], &lab[2]});
    ASSERT_TRUE(is_cut_off_for_a_lease(lab));
    auto const held = get(lab[0], lab.pages.origin(), "/a");
    EXPECT_EQ(told(held), "version 1");
    EXPECT_EQ(held.detail(), "held back: lease expired");
    EXPECT_EQ(lab.pages.origin().last("/a").head.field("Cache-Control"), "no-cache");
    auto const asked = lab.pages.origin().requests("/a");
    EXPECT_EQ(lab.ask(0, "/a"), "version 1 hit") << "the validation is good for a lease";
    EXPECT_EQ(lab.pages.origin().requests("/a"), asked);
    EXPECT_TRUE(eventually([&] { return lab.ask(0, "/a") == "version 1"; })) << "then it is validated again";
    auto const text = lab.garner(0, {"group"});
    EXPECT_EQ(text.code, 1);
    EXPECT_THAT(text.output, AllOf(HasSubstr("cut off since "), HasSubstr(lab.voter(1)), HasSubstr(lab.voter(2))));
    EXPECT_TRUE(lab[0].says("this member is cut off"));
    EXPECT_TRUE(logs_after(lab[0], "this member is cut off", "group: member cache1 at [^ ]+ is gone: it was silent"))
        << "as a voter";
    frozen.thaw();
    ASSERT_TRUE(lab.become_current());
    EXPECT_TRUE(logs_after(lab[0], "this member is cut off", "group lab: this member is current \\(after [0-9.]+ s\\)"));
    EXPECT_TRUE(logs_after(lab[0], "is gone: it was silent", "group: member cache1 at [^ ]+ is connected"));
    EXPECT_TRUE(eventually([&] { return lab.ask(0, "/a") == "version 1 hit" && lab.ask(0, "/a") == "version 1 hit"; }));
    EXPECT_THAT(lab[0].metrics(), HasSubstr("garner_not_fresh_total{reason=\"held back: lease expired\"}"));
}

TEST(GroupCutOff, explain_names_the_silent_voters) {
    Lab lab(3, 3);
    lab.ask(0, "/a");
    Frozen const frozen({&lab[1], &lab[2]});
    ASSERT_TRUE(is_cut_off_for_a_lease(lab));
    auto const explained = lab.garner(0, {"explain", lab.pages.origin().url("/a")});
    EXPECT_THAT(explained.output, AllOf(HasSubstr("held back: lease expired"), HasSubstr(lab.voter(1)), HasSubstr(lab.voter(2))));
}

TEST(GroupCutOff, serves_nothing_stale_on_an_error) {
    Lab lab(3, 3);
    lab.ask(0, "/a");
    Frozen const frozen({&lab[1], &lab[2]});
    ASSERT_TRUE(is_cut_off_for_a_lease(lab));
    lab.pages.fails = true;
    auto const failed = get(lab[0], lab.pages.origin(), "/a");
    EXPECT_EQ(failed.status(), 504);
    EXPECT_THAT(failed.body(), HasSubstr("held back: lease expired"));
}

TEST(GroupCutOff, cut_off_serve_goes_on_as_usual_and_changes_with_a_reload) {
    Lab lab(3, 3);
    lab.ask(0, "/a");
    Frozen const frozen({&lab[1], &lab[2]});
    ASSERT_TRUE(is_cut_off_for_a_lease(lab));
    EXPECT_EQ(lab.ask(0, "/a"), "version 1");
    lab[0].reconfigure(lab.patch_of(0, {{"cut_off", "serve"}}));
    lab[0].signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return lab[0].stats()["config"]["generation"] == 2; }));
    std::this_thread::sleep_for(2'500ms);
    EXPECT_EQ(lab.ask(0, "/a"), "version 1 hit");
    lab.pages.fails = true;
    EXPECT_EQ(lab.ask(0, "/a"), "version 1 hit");
    EXPECT_THAT(lab.garner(0, {"group"}).output, HasSubstr("cut off since "));
    EXPECT_THAT(lab.garner(0, {"group"}).output, HasSubstr(", serves responses that may be outdated: no lease of "));
    auto const health = lab[0].stats()["health"];
    EXPECT_EQ(health["state"], "trouble") << health;
    EXPECT_THAT(health["sentence"].get<std::string>(), HasSubstr("and serves responses that may be outdated"));
    EXPECT_THAT(Client("127.0.0.1", lab[0].admin()).get("/").body(),
                ::testing::ContainsRegex("<tr class=\"trouble\"><th[^>]*><a[^>]*>while cut off<"));
}

TEST(GroupCutOff, a_purge_without_a_majority_is_not_accepted) {
    Lab lab(3, 3);
    for (std::size_t i = 0; i < 2; ++i) lab.kill(i + 1);
    auto const refused = lab.garner(0, {"purge", "--tag", "a"});
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.errors, HasSubstr("not accepted: stored by 1 of 3 voters in "));
    auto const purged = Client(lab[0], lab.pages.origin()).send("PURGE", "/a");
    EXPECT_EQ(purged.status(), 503);
    EXPECT_THAT(purged.body(), HasSubstr("the group may still have it"));
    EXPECT_EQ(lab.garner(0, {"purge", lab.pages.origin().url("/a")}).code, 1);
}

TEST(GroupCutOff, one_dead_voter_of_three_changes_nothing) {
    Lab lab(3, 3);
    lab.kill(2);
    for (std::size_t i = 0; i < 2; ++i) lab.ask(i, "/a");
    lab.pages.renew();
    EXPECT_THAT(lab.purge(0, {"--tag", "a"}), HasSubstr(" of 3 voters in "));
    std::this_thread::sleep_for(2s);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(lab.is_current(i));
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(lab.ask(i, "/a"), "version 2");
    lab.restart(2);
    ASSERT_TRUE(becomes(lab, 2, "current"));
}

TEST(GroupCutOff, a_frozen_member_wakes_up_without_a_lease) {
    Lab lab(3, 3);
    lab.ask(2, "/a");
    EXPECT_EQ(lab.ask(2, "/a"), "version 1 hit");
    {
        Frozen const frozen({&lab[2]});
        lab.pages.renew();
        EXPECT_THAT(lab.purge(0, {"--tag", "a"}), HasSubstr("accepted tag a"));
        std::this_thread::sleep_for(2'100ms);
    }
    EXPECT_EQ(lab.ask(2, "/a"), "version 2");
}

TEST(GroupCutOff, a_voter_with_a_disk_comes_back_and_validates_what_it_has) {
    TempDir dir;
    Lab lab(3, 3);
    auto const path = dir.path("store").string();
    auto const start = [&] {
        auto patch = json::parse(lab.patch_of(2));
        patch["disk"] = {{"path", path}, {"size", "64 MiB"}};
        return std::make_unique<Proxy>(patch.dump());
    };
    lab.kill(2);
    auto with_disk = start();
    auto const is_current = [&] {
        return json::parse(Client("127.0.0.1", with_disk->admin()).get("/group").body())["state"] == "current";
    };
    auto const ask = [&](std::string const& page) { return told(get(*with_disk, lab.pages.origin(), page)); };
    ASSERT_TRUE(eventually(is_current));
    for (auto const* page : {"/a", "/b"}) ask(page);
    with_disk->stop();
    lab.pages.renew();
    lab.purge(0, {"--tag", "a"});
    with_disk = start();
    ASSERT_TRUE(eventually(is_current));
    EXPECT_EQ(ask("/a"), "version 2") << "the purge came while it was down";
    EXPECT_EQ(ask("/b"), "version 2") << "validated: it may have missed invalidations";
    with_disk->stop();
}

TEST(GroupCutOff, says_HIT_to_no_sibling) {
    auto const icp = free_port();
    Lab lab(3, 3, "{}");
    auto patch = json::parse(lab.patch_of(0));
    patch["icp"] = {{"address", "127.0.0.1:" + std::to_string(icp)}, {"allow", {"127.0.0.0/8"}}};
    lab.kill(0);
    Proxy first(patch.dump());
    Proxy sibling(
        json{{"peers",
              {{{"host", "127.0.0.1"}, {"name", "first"}, {"http_port", first.port()}, {"icp_port", icp}, {"type", "sibling"}}}}}
            .dump());
    auto const state = [&] { return json::parse(Client("127.0.0.1", first.admin()).get("/group").body())["state"]; };
    ASSERT_TRUE(eventually([&] { return state() == "current"; }));
    // Two leases after the start, the fetches pass no caches any more.
    for (auto const* path : {"/a", "/b"}) get(first, lab.pages.origin(), path).body();
    EXPECT_THAT(get(sibling, lab.pages.origin(), "/a").detail(), HasSubstr("HIT"));
    Frozen const frozen({&lab[1], &lab[2]});
    ASSERT_TRUE(eventually([&] { return state() == "cut off"; }));
    EXPECT_THAT(get(sibling, lab.pages.origin(), "/b").detail(), Not(HasSubstr("HIT")));
}

}   // namespace garner::test
