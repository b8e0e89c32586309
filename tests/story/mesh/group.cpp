// A group of proxies: an invalidation at one of them holds at all.
#include "story/mesh/group_scene.hpp"

#include <sstream>
#include <thread>

#include "support/child.hpp"

namespace garner::test {

using nlohmann::json;

TEST(GroupStory, a_purge_at_one_member_holds_everywhere_within_the_lease) {
    Lab lab(4, 3);   // the last one is no voter
    auto const url = [&](std::string const& path) { return lab.pages.origin().url(path); };
    struct Case {
        std::vector<std::string> words;
        std::string accepted, outdated, kept;
    };
    int version = 1;
    for (auto const& one :
         {Case{{"--group", url("/a1")}, "accepted URL " + url("/a1") + ": stored by ", "/a1", "/a2"},
          Case{{url("/a1")}, "group: stored by ", "/a1", "/a2"}, Case{{"--prefix", url("/x/")}, "accepted prefix ", "/x/1", "/y/1"},
          Case{{"--tag", "b", "--origin", url("/")}, "accepted tag b of ", "/b", "/c"},
          Case{{"--all"}, "accepted everything: stored by ", "/d", ""}}) {
        for (std::size_t i = 0; i < lab.size(); ++i)
            for (auto const& path : {one.outdated, one.kept})
                if (!path.empty()) lab.ask(i, path);
        for (std::size_t i = 0; i < lab.size(); ++i) ASSERT_TRUE(lab.ask(i, one.outdated).ends_with(" hit")) << one.accepted;
        lab.pages.renew();
        auto const renewed = "version " + std::to_string(++version);
        EXPECT_THAT(lab.purge(3, one.words), HasSubstr(one.accepted));
        std::this_thread::sleep_for(2s);   // the lease
        for (std::size_t i = 0; i < lab.size(); ++i) EXPECT_EQ(lab.ask(i, one.outdated), renewed) << one.accepted << " " << i;
        if (one.kept.empty()) continue;
        for (std::size_t i = 0; i < lab.size(); ++i)
            EXPECT_TRUE(lab.ask(i, one.kept).ends_with(" hit")) << one.accepted << " " << i;
    }
}

TEST(GroupStory, purge_waits_until_it_is_everywhere) {
    Lab lab;
    for (std::size_t i = 0; i < lab.size(); ++i) lab.ask(i, "/a");
    lab.pages.renew();
    EXPECT_THAT(lab.purge(0, {"--tag", "a", "--wait"}), AllOf(HasSubstr(" of 3 voters in "), HasSubstr(", everywhere in ")));
    for (std::size_t i = 0; i < lab.size(); ++i) EXPECT_EQ(lab.ask(i, "/a"), "version 2") << i;
}

TEST(GroupStory, every_form_of_a_stored_response_is_concerned) {
    Lab lab(3, 3);
    lab.pages.more = {{"Vary", "Accept-Language"}};
    for (auto const* language : {"de", "en"}) lab.ask(1, "/v", {{"Accept-Language", language}});
    get(lab[1], lab.pages.origin(), "/p", {{"Range", "bytes=0-99"}}).body();
    lab.ask(1, "/h");
    lab.pages.renew();
    lab.purge(0, {"--all", "--wait"});
    for (auto const* language : {"de", "en"}) EXPECT_EQ(lab.ask(1, "/v", {{"Accept-Language", language}}), "version 2");
    auto const part = get(lab[1], lab.pages.origin(), "/p", {{"Range", "bytes=0-99"}});
    EXPECT_THAT(part.body(), StartsWith("version 2"));
    auto const head = Client(lab[1], lab.pages.origin()).head("/h");
    EXPECT_EQ(head.field("ETag"), "\"2\"");
}

TEST(GroupStory, a_soft_purge_is_validated_and_stale_if_error_holds) {
    Lab lab;
    lab.pages.more = {{"Cache-Control", "stale-if-error=1000"}};
    for (std::size_t i = 0; i < lab.size(); ++i) lab.ask(i, "/a");
    lab.purge(0, {"--tag", "a", "--soft", "--wait"});
    auto const validated = get(lab[1], lab.pages.origin(), "/a");
    EXPECT_EQ(told(validated), "version 1");
    EXPECT_EQ(validated.detail(), "invalidated by tag");
    EXPECT_EQ(lab.ask(1, "/a"), "version 1 hit");
    lab.purge(0, {"--tag", "a", "--soft", "--wait"});
    lab.pages.fails = true;
    EXPECT_EQ(lab.ask(1, "/a"), "version 1 hit") << "stale-if-error";
    lab.purge(0, {"--tag", "a", "--wait"});
    EXPECT_EQ(lab.ask(1, "/a"), "502");
}

TEST(GroupStory, a_POST_through_one_member_is_seen_at_the_others) {
    Lab lab;
    lab.pages.more = {{"Cache-Groups", "\"news\""}};
    lab.pages.invalidates = "\"news\"";
    for (auto const* path : {"/form", "/other"}) lab.ask(1, path);
    lab.pages.renew();
    EXPECT_EQ(Client(lab[0], lab.pages.origin()).post("/form", "x").body(), "thanks");
    EXPECT_TRUE(eventually([&] { return lab.ask(1, "/form").starts_with("version 2"); }));
    EXPECT_TRUE(eventually([&] { return lab.ask(1, "/other").starts_with("version 2"); })) << "by Cache-Group-Invalidation";
    EXPECT_TRUE(eventually([&] { return lab.state(0)["invalidations"]["accepted"] == 2; }));
}

TEST(GroupStory, a_PURGE_waits_for_the_group) {
    Lab lab;
    lab.ask(1, "/a");
    lab.pages.renew();
    auto const purged = Client(lab[0], lab.pages.origin()).send("PURGE", "/a");
    EXPECT_EQ(purged.status(), 200);
    EXPECT_THAT(purged.body(), HasSubstr("group: stored by "));
    EXPECT_TRUE(eventually([&] { return lab.ask(1, "/a").starts_with("version 2"); }));
}

TEST(GroupStory, after_an_invalidation_requests_pass_all_caches) {
    Lab lab(1, 1);
    lab.ask(0, "/a");
    lab.purge(0, {"--tag", "a"});
    lab.ask(0, "/a");
    EXPECT_EQ(lab.pages.origin().last("/a").head.field("Cache-Control"), "no-cache");
    int number = 0;
    EXPECT_TRUE(eventually([&] {
        auto const path = "/z" + std::to_string(++number);
        lab.ask(0, path);
        return lab.pages.origin().last(path).head.field("Cache-Control").empty();
    })) << "until two leases have passed";
}

TEST(GroupStory, a_child_gets_nothing_old_from_its_parent) {
    Lab lab(1, 1);
    auto patch = json::parse(lab.patch_of(1));
    patch["peers"] = json::array({{{"name", "parent"},
                                   {"type", "parent"},
                                   {"host", "127.0.0.1"},
                                   {"http_port", lab[0].port()},
                                   {"no_query", true},
                                   {"default", true}}});
    patch["direct"] = {{"never", {{{"url_contains", {"/"}}}}}};
    Proxy child(patch.dump());
    auto const ask = [&](std::string const& path) { return told(get(child, lab.pages.origin(), path)); };
    ASSERT_TRUE(
        eventually([&] { return json::parse(Client("127.0.0.1", child.admin()).get("/group").body())["state"] == "current"; }));
    ask("/a");
    ASSERT_EQ(lab.ask(0, "/a"), "version 1 hit") << "the parent has it, too";
    lab.pages.renew();
    // The child has applied it when the command returns; the parent hears of it a moment later.
    auto const done =
        run({garner_binary(), "purge", "--tag", "a", "--set", "admin.address=127.0.0.1:" + std::to_string(child.admin())},
            Millis{60'000});
    EXPECT_EQ(done.code, 0) << done.errors;
    EXPECT_EQ(ask("/a"), "version 2");
    EXPECT_THAT(lab.pages.origin().last("/a").head.field("Cache-Control"), HasSubstr("no-cache")) << "it passes the parent";
}

TEST(GroupStory, lines_are_accepted_one_by_one) {
    Lab lab(3, 3);
    for (auto const* path : {"/a", "/b"}) lab.ask(2, path);
    lab.pages.renew();
    auto const lines = lab[0].dir().write(
        "lines", lab.pages.origin().url("/a") + "\n\n# these\ntag b\nprefix http://a.example/x\nprefix example\n");
    auto const sent =
        run({"sh", "-c",
             garner_binary() + " purge --group - --set admin.address=127.0.0.1:" + std::to_string(lab[0].admin()) + " < " + lines},
            Millis{60'000});
    EXPECT_EQ(sent.code, 2) << sent.errors;
    std::vector<std::string> answers;
    std::istringstream output(sent.output);
    for (std::string line; std::getline(output, line);) answers.push_back(line);
    EXPECT_THAT(answers,
                ElementsAre(AllOf(StartsWith("accepted URL "), HasSubstr(" of 3 voters in ")), StartsWith("accepted tag b"),
                            AllOf(StartsWith("refused: "), HasSubstr("does not end with /")), StartsWith("refused: ")));
    for (auto const* path : {"/a", "/b"}) EXPECT_TRUE(eventually([&] { return lab.ask(2, path).starts_with("version 2"); }));
}

TEST(GroupStory, an_object_that_the_group_does_not_cover_is_left_alone) {
    Lab lab(2, 1, R"({"group": {"objects": [{"url_contains": "/in/"}]}})");
    for (auto const* path : {"/in/a", "/out/a"}) lab.ask(1, path);
    lab.pages.renew();
    lab.purge(0, {"--all", "--wait"});
    EXPECT_EQ(lab.ask(1, "/in/a"), "version 2");
    EXPECT_EQ(lab.ask(1, "/out/a"), "version 1 hit");
    auto const refused = lab.garner(0, {"purge", "--group", lab.pages.origin().url("/out/a")});
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.errors, HasSubstr("group.objects does not cover this URL"));
}

TEST(GroupStory, people_and_monitors_see_its_state) {
    Lab lab(4, 3);
    lab.purge(3, {"--tag", "t"});
    auto const text = lab.garner(0, {"group"});
    EXPECT_EQ(text.code, 0) << text.errors;
    EXPECT_THAT(text.output, AllOf(HasSubstr("group lab, member cache0: current since "), HasSubstr(lab.voter(1) + ": lease for "),
                                   HasSubstr("cache3 at 127.0.0.1:" + std::to_string(lab[3].port()))));
    auto const state = json::parse(lab.garner(3, {"group", "--json"}).output);
    EXPECT_EQ(state["state"], "current");
    EXPECT_EQ(state["voters"].size(), 3u);
    EXPECT_EQ(state["invalidations"]["accepted"], 1);
    EXPECT_EQ(state["watermarks"].size(), 1u);
    EXPECT_TRUE(state["members"].is_null()) << "it is no voter";
    auto const metrics = lab[3].metrics();
    EXPECT_THAT(metrics,
                AllOf(HasSubstr("garner_group_current 1"), HasSubstr("garner_group_submissions_total{result=\"accepted\"} 1"),
                      HasSubstr("garner_group_lease_age_seconds{voter=\"" + lab.voter(0) + "\"}"),
                      HasSubstr("garner_group_acceptance_seconds_count 1")));
}

TEST(GroupStory, members_with_other_settings_are_refused_in_words_at_both_ends) {
    Lab lab(1, 1);
    struct Case {
        json group;
        char const *at_voter, *at_member;
    };
    for (auto const& [group, at_voter, at_member] :
         {Case{{{"secret", "another"}}, "the other end has another secret", "the other end has another secret"},
          Case{{{"name", "office"}}, "the group has another name (group.name)", "the group has another name (group.name)"},
          Case{{{"lease", "3s"}}, "the lease is 2000 ms here and 3000 ms in the member", "the lease is 2000 ms here"}}) {
        Proxy other(lab.patch_of(1, group));
        EXPECT_TRUE(lab[0].says(at_voter)) << group.dump();
        EXPECT_TRUE(other.says(at_member)) << group.dump();
        auto const state = json::parse(Client("127.0.0.1", other.admin()).get("/group").body());
        EXPECT_EQ(state["state"], "cut off");
        EXPECT_THAT(state["why"].get<std::string>(), HasSubstr("refused: ")) << group.dump();
    }
    EXPECT_GE(lab[0].stats()["group"]["links"]["refused"].get<int>(), 3);
}

}   // namespace garner::test
