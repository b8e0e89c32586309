// Invalidations by tag and prefix and of everything: garner purge, POST /purge, Cache-Group-Invalidation.
#include <signal.h>

#include <sstream>

#include "story/scene.hpp"
#include "support/programs.hpp"
#include "support/versioned_origin.hpp"

namespace garner::test {

namespace {

struct Invalidating : ::testing::Test {
    Finished garner(std::vector<std::string> words) {
        words.insert(words.begin(), garner_binary());
        words.insert(words.end(), {"--set", "admin.address=127.0.0.1:" + std::to_string(proxy->admin())});
        return run(words, 30s);
    }
    void purge(std::vector<std::string> words, std::string const& accepted) {
        words.insert(words.begin(), "purge");
        auto const done = garner(words);
        EXPECT_EQ(done.code, 0) << done.errors;
        EXPECT_THAT(done.output, HasSubstr("accepted " + accepted));
    }
    void start(std::string const& patch = "{}") { proxy = std::make_unique<Proxy>(patch); }
    Reply ask(std::string const& path, Fields const& fields = {}) { return get(*proxy, origin(), path, fields); }
    Origin& origin() { return pages.origin(); }

    VersionedOrigin pages{503};
    std::unique_ptr<Proxy> proxy;
};

}   // namespace

TEST_F(Invalidating, a_tag_removes_the_responses_that_have_it) {
    start();
    for (auto const* path : {"/a1", "/a2", "/b1"}) ask(path).body();
    pages.renew();
    purge({"--tag", "a"}, "tag a: stored by 1 of 1 voter in ");
    EXPECT_EQ(told(ask("/a1")), "version 2");
    EXPECT_EQ(told(ask("/a2")), "version 2");
    EXPECT_EQ(told(ask("/b1")), "version 1 hit");
    EXPECT_EQ(told(ask("/a1")), "version 2 hit");
    purge({"--tag", "a", "--origin", "http://other.example/"}, "tag a of http://other.example");
    EXPECT_EQ(told(ask("/a1")), "version 2 hit");
    purge({"--tag", "a", "--origin", origin().url("/any")}, "tag a of " + origin().url(""));
    EXPECT_FALSE(ask("/a1").hit());
}

TEST_F(Invalidating, a_prefix_and_everything) {
    start();
    for (auto const* path : {"/x/1", "/x/y/2", "/y/3"}) ask(path).body();
    pages.renew();
    purge({"--prefix", origin().url("/x/")}, "prefix " + origin().url("/x/"));
    EXPECT_EQ(told(ask("/x/1")), "version 2");
    EXPECT_EQ(told(ask("/x/y/2")), "version 2");
    EXPECT_EQ(told(ask("/y/3")), "version 1 hit");
    purge({"--all"}, "everything");
    EXPECT_EQ(told(ask("/y/3")), "version 2");
}

TEST_F(Invalidating, every_form_of_a_stored_response_is_concerned) {
    struct Row {
        char const* name;
        Fields first, request;
        bool is_head = false;
    };
    for (auto const& row : {Row{"whole", {}, {}}, Row{"range of a whole", {}, {{"Range", "bytes=0-99"}}},
                            Row{"part", {{"Range", "bytes=0-99"}}, {{"Range", "bytes=0-99"}}}, Row{"HEAD", {}, {}, true}})
        for (std::string const kind : {"url", "prefix", "tag", "all"}) {
            start();
            ask("/a", row.first).body();
            auto const again = [&] { return row.is_head ? Client(*proxy, origin()).head("/a") : ask("/a", row.request); };
            EXPECT_TRUE(again().hit()) << row.name;
            pages.renew();
            if (kind == "url") purge({"--group", origin().url("/a")}, "URL");
            if (kind == "prefix") purge({"--prefix", origin().url("/")}, "prefix");
            if (kind == "tag") purge({"--tag", "all"}, "tag");
            if (kind == "all") purge({"--all"}, "everything");
            auto const reply = again();
            EXPECT_FALSE(reply.hit()) << row.name << " " << kind;
            EXPECT_EQ(reply.field("ETag"), "\"" + pages.version() + "\"") << row.name << " " << kind;
        }
}

TEST_F(Invalidating, variants_are_concerned) {
    pages.more = {{"Vary", "Accept-Language"}};
    start();
    for (auto const* language : {"de", "en"}) ask("/a", {{"Accept-Language", language}}).body();
    pages.renew();
    purge({"--tag", "a"}, "tag a");
    for (auto const* language : {"de", "en"}) EXPECT_EQ(told(ask("/a", {{"Accept-Language", language}})), "version 2") << language;
}

TEST_F(Invalidating, a_soft_one_is_validated_and_a_304_makes_it_fresh_again) {
    start();
    ask("/a").body();
    purge({"--tag", "a", "--soft"}, "tag a (soft)");
    auto const validated = ask("/a");
    EXPECT_EQ(told(validated), "version 1");
    EXPECT_EQ(validated.detail(), "invalidated by tag");
    EXPECT_FALSE(origin().last("/a").head.field("If-None-Match").empty());
    EXPECT_TRUE(ask("/a").hit());
    EXPECT_EQ(origin().requests("/a"), 2u);
}

TEST_F(Invalidating, a_hard_one_is_fetched_anew_without_conditions) {
    start();
    ask("/a").body();
    purge({"--tag", "a"}, "tag a");
    auto const fetched = ask("/a");
    EXPECT_EQ(fetched.detail(), "invalidated by tag");
    EXPECT_EQ(origin().last("/a").head.field("If-None-Match"), "");
    EXPECT_TRUE(ask("/a").hit());
}

TEST_F(Invalidating, stale_if_error_holds_after_a_soft_one_only) {
    pages.more = {{"Cache-Control", "stale-if-error=1000"}};
    start();
    ask("/a").body();
    purge({"--tag", "a", "--soft"}, "tag a");
    pages.fails = true;
    EXPECT_EQ(told(ask("/a")), "version 1 hit");
    purge({"--tag", "a"}, "tag a");
    EXPECT_EQ(ask("/a").status(), 503);
}

TEST_F(Invalidating, without_stale_if_error_a_soft_one_gives_way_to_an_error) {
    start();
    ask("/a").body();
    purge({"--tag", "a", "--soft"}, "tag a");
    pages.fails = true;
    EXPECT_EQ(ask("/a").status(), 503);
}

TEST_F(Invalidating, stale_while_revalidate_holds_after_a_soft_one_only) {
    pages.more = {{"Cache-Control", "stale-while-revalidate=1000"}};
    start();
    ask("/a").body();
    pages.renew();
    purge({"--tag", "a", "--soft"}, "tag a");
    EXPECT_EQ(told(ask("/a")), "version 1 hit");
    EXPECT_TRUE(eventually([&] { return told(ask("/a")) == "version 2 hit"; }));
    pages.renew();
    purge({"--tag", "a"}, "tag a");
    EXPECT_EQ(told(ask("/a")), "version 3");
}

TEST_F(Invalidating, a_fetch_that_began_before_serves_nobody_else) {
    start();
    auto slow = origin().hold("/slow");
    auto const tagged = [](std::string body) { return fresh(std::move(body), 600, {{"Cache-Tag", "t"}}); };
    Client first(*proxy, origin()), second(*proxy, origin());
    auto before = first.get("/slow");
    slow.arrived(1);
    auto joined = second.get("/slow");
    pause_for(200ms);
    purge({"--tag", "t"}, "tag t");
    slow.nth(0).release(tagged("old"));
    EXPECT_EQ(before.body(), "old") << "its request was sent before";
    slow.nth(1).release(tagged("new"));
    EXPECT_EQ(joined.body(), "new");
    auto const after = ask("/slow");
    EXPECT_EQ(after.body(), "new");
    EXPECT_TRUE(after.hit());
}

TEST_F(Invalidating, a_304_to_a_request_from_before_is_not_enough) {
    start();
    auto slow = origin().hold("/slow");
    auto const tagged = [](std::string body, int age) {
        return fresh(std::move(body), age, {{"Cache-Tag", "t"}, {"ETag", "\"1\""}});
    };
    Client first(*proxy, origin());
    auto stored = first.get("/slow");
    slow.nth(0).release(tagged("old", 0));
    EXPECT_EQ(stored.body(), "old");
    auto validated = first.get("/slow");
    slow.arrived(2);
    EXPECT_EQ(slow.nth(1).request().head.field("If-None-Match"), "\"1\"");
    purge({"--tag", "t"}, "tag t");
    auto same = tagged("", 600);
    same.status = 304;
    slow.nth(1).release(same);
    EXPECT_EQ(slow.nth(2).request().head.field("If-None-Match"), "");   // the release ends the exchange
    slow.nth(2).release(tagged("new", 600));
    EXPECT_EQ(validated.body(), "new");
}

TEST_F(Invalidating, Cache_Group_Invalidation_is_obeyed_in_responses_to_unsafe_methods) {
    pages.more = {{"Cache-Groups", "\"menu\", \"news\""}};
    pages.invalidates = "\"news\"";
    start();
    ask("/page").body();
    pages.renew();
    EXPECT_TRUE(ask("/page").hit());
    EXPECT_EQ(Client(*proxy, origin()).post("/form", "x").body(), "thanks");
    EXPECT_EQ(told(ask("/page")), "version 2");
    pages.renew();
    pages.invalidates = "\"other\"";
    Client(*proxy, origin()).post("/form", "x").body();
    EXPECT_TRUE(ask("/page").hit());
    proxy->reconfigure(R"({"group": {"unsafe": false}})");
    proxy->signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return proxy->stats()["config"]["generation"] == 2; }));
    pages.invalidates = "\"news\"";
    Client(*proxy, origin()).post("/form", "x").body();
    EXPECT_TRUE(ask("/page").hit());
}

TEST_F(Invalidating, tag_fields_and_objects_change_with_a_reload) {
    pages.more = {{"Cache-Tag", "t"}};
    start(R"({"group": {"tag_fields": ["Cache-Groups"]}})");
    ask("/a").body();
    purge({"--tag", "t"}, "tag t");
    EXPECT_TRUE(ask("/a").hit()) << "Cache-Tag is not read";
    proxy->reconfigure(R"({"group": {"tag_fields": ["Cache-Tag"]}})");
    proxy->signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return proxy->stats()["config"]["generation"] == 2; }));
    EXPECT_FALSE(ask("/a").hit()) << "now it is, and the purge came after the response";
    proxy->reconfigure(R"({"group": {"tag_fields": ["Cache-Tag"], "objects": [{"url_contains": "/b"}]}})");
    proxy->signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return proxy->stats()["config"]["generation"] == 3; }));
    for (auto const* path : {"/a", "/b"}) ask(path).body();
    purge({"--all"}, "everything");
    EXPECT_TRUE(ask("/a").hit());
    EXPECT_FALSE(ask("/b").hit());
}

TEST_F(Invalidating, lines_on_standard_input_get_one_line_each) {
    start();
    for (auto const* path : {"/a", "/b", "/x/c"}) ask(path).body();
    auto const lines = proxy->dir().write("lines", origin().url("/a") + "\ntag b\n\nprefix " + origin().url("/x/") + "\nprefix " +
                                                       origin().url("/x") + "\nnonsense\n");
    auto const sent = run(
        {"sh", "-c", garner_binary() + " purge - --set admin.address=127.0.0.1:" + std::to_string(proxy->admin()) + " < " + lines},
        30s);
    EXPECT_EQ(sent.code, 2) << sent.errors;
    std::vector<std::string> told;
    std::istringstream output(sent.output);
    for (std::string line; std::getline(output, line);) told.push_back(line);
    EXPECT_THAT(told, ElementsAre(StartsWith("accepted URL " + origin().url("/a")), StartsWith("accepted tag b"),
                                  StartsWith("accepted prefix " + origin().url("/x/")),
                                  AllOf(StartsWith("refused: "), HasSubstr("does not end with /")),
                                  AllOf(StartsWith("refused: "), HasSubstr("is not a URL"))));
    for (auto const* path : {"/a", "/b", "/x/c"}) EXPECT_FALSE(ask(path).hit()) << path;
}

TEST_F(Invalidating, wrong_orders_are_refused_with_the_reason) {
    start();
    for (auto const& [words, reason] :
         {std::pair<std::vector<std::string>, char const*>{{"--prefix", "http://a.example/x"}, "does not end with /"},
          {{"--prefix", "/x/"}, "is not a URL"},
          {{"--tag", std::string(257, 't')}, "is not a tag"},
          {{"--all", "--tag", "t"}, "takes one of"},
          {{"--origin", "http://a.example", "--all"}, "only for --tag"},
          {{}, "takes one of"}}) {
        auto all = words;
        all.insert(all.begin(), "purge");
        auto const refused = garner(all);
        EXPECT_EQ(refused.code, 2) << reason;
        EXPECT_THAT(refused.errors, HasSubstr(reason));
    }
    Client admin("127.0.0.1", proxy->admin());
    Fields const meant{{"Garner-Admin", "1"}};
    auto const wrong = admin.post("/purge?prefix=http%3A%2F%2Fa.example%2Fx", "", meant);
    EXPECT_EQ(wrong.status(), 400);
    EXPECT_THAT(wrong.body(), HasSubstr("does not end with /"));
    EXPECT_EQ(admin.post("/purge", "tag=t&soft=1", meant).status(), 200);
    EXPECT_EQ(admin.post("/purge", "tag=t&soft=1").status(), 403);
}

TEST_F(Invalidating, explain_and_the_metrics_name_them) {
    start(R"({"workers": 1})");
    ask("/a").body();
    purge({"--tag", "a", "--soft"}, "tag a");
    auto const soft = garner({"explain", origin().url("/a")});
    EXPECT_THAT(soft.output, HasSubstr("invalidated by tag a"));
    purge({"--prefix", origin().url("/")}, "prefix");
    auto const hard = garner({"explain", origin().url("/a")});
    EXPECT_THAT(hard.output, HasSubstr("invalidated by prefix " + origin().url("/")));
    ask("/a").body();
    EXPECT_THAT(proxy->logged("/a", 2).all.dump(), HasSubstr("invalidated by prefix"));
    auto const metrics = proxy->metrics();
    EXPECT_THAT(metrics, HasSubstr("garner_invalidations_accepted_total{kind=\"tag\"} 1"));
    EXPECT_THAT(metrics, HasSubstr("garner_invalidations_accepted_total{kind=\"prefix\"} 1"));
    EXPECT_THAT(metrics, HasSubstr("garner_invalidations 3"));
    EXPECT_THAT(metrics, HasSubstr("garner_not_fresh_total{reason=\"invalidated by prefix\"} 1"));
    EXPECT_EQ(proxy->stats()["invalidations"]["watermark"], 0);
}

TEST_F(Invalidating, curl_and_nginx_agree) {
    NEEDS("curl");
    NEEDS("nginx");
    Nginx server("add_header Surrogate-Key \"site pages\"; expires 1h;");
    server.file("page.txt", "old");
    start();
    auto const curl = [&] { return run({"curl", "-sS", "-x", proxy->url(), server.url("/page.txt")}, 30s).output; };
    EXPECT_EQ(curl(), "old");
    server.file("page.txt", "newer");
    EXPECT_EQ(curl(), "old");
    auto const admin = "http://127.0.0.1:" + std::to_string(proxy->admin()) + "/purge";
    auto const purged = run({"curl", "-sS", "-H", "Garner-Admin: 1", "-d", "tag=pages", admin}, 30s).output;
    EXPECT_THAT(purged, HasSubstr("\"accepted\":\"tag pages\""));
    EXPECT_EQ(curl(), "newer");
}

}   // namespace garner::test
