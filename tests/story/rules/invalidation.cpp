// Purges and unsafe requests with fetches in progress at that moment: no response that began earlier is served later.
#include <functional>

#include "story/scene.hpp"

namespace garner::test {

namespace {

Answer const stale_one{.fields = {{"Cache-Control", "max-age=2"}, {"Age", "5"}, {"ETag", R"("a")"}}, .body = "old"};
Answer const unchanged{.status = 304, .fields = {{"Cache-Control", "max-age=600"}, {"ETag", R"("a")"}}};

/// A fetch that is in progress when `strike` happens, and ends afterwards.
struct Moment {
    char const* name;
    std::function<void(Proxy&, Origin&, std::string const& path, std::function<void()> const& strike)> happens;
};

Moment const moments[] = {
    {"nothing is under way",
     [](Proxy& proxy, Origin& origin, std::string const& path, auto const& strike) {
         origin.answer(path, fresh("old"));
         get(proxy, origin, path).body();
         strike();
     }},
    {"a fetch without a head",
     [](Proxy& proxy, Origin& origin, std::string const& path, auto const& strike) {
         auto held = origin.hold(path);
         auto reader = get(proxy, origin, path);
         held.arrived();
         strike();
         held.release("old");
         EXPECT_EQ(reader.body(), "old");
     }},
    {"a fetch within its body",
     [](Proxy& proxy, Origin& origin, std::string const& path, auto const& strike) {
         auto held = origin.hold(path);
         auto reader = get(proxy, origin, path);
         held.head(fresh(""), 8);
         held.piece("old ");
         EXPECT_EQ(reader.early(4), "old ");
         strike();
         held.piece("reel");
         held.finish();
         EXPECT_EQ(reader.body(), "old reel");
     }},
    {"a fetch that another client follows",
     [](Proxy& proxy, Origin& origin, std::string const& path, auto const& strike) {
         auto held = origin.hold(path);
         auto leader = get(proxy, origin, path);
         held.head(fresh(""), 8);
         held.piece("old ");
         EXPECT_EQ(leader.early(4), "old ");
         auto follower = get(proxy, origin, path);
         EXPECT_EQ(follower.early(4), "old ");
         strike();
         held.piece("reel");
         held.finish();
         EXPECT_EQ(leader.body(), "old reel");
         EXPECT_EQ(follower.body(), "old reel");
         EXPECT_EQ(follower.outcome(), "collapsed");
     }},
    {"a validation",
     [](Proxy& proxy, Origin& origin, std::string const& path, auto const& strike) {
         origin.answer(path, stale_one);
         get(proxy, origin, path).body();
         auto held = origin.hold(path);
         auto reader = get(proxy, origin, path);
         held.arrived();
         strike();
         held.release(unchanged);
         EXPECT_EQ(reader.body(), "old");
     }},
    {"a reload",
     [](Proxy& proxy, Origin& origin, std::string const& path, auto const& strike) {
         origin.answer(path, fresh("old", 600, {{"ETag", R"("a")"}}));
         get(proxy, origin, path).body();
         auto held = origin.hold(path);
         auto reader = get(proxy, origin, path, {{"Cache-Control", "no-cache"}});
         held.arrived();
         strike();
         held.release(unchanged);
         EXPECT_EQ(reader.body(), "old");
     }},
    {"a validation behind a stale answer",
     [](Proxy& proxy, Origin& origin, std::string const& path, auto const& strike) {
         auto ageing = stale_one;
         ageing.fields[0].second += ", stale-while-revalidate=600";
         origin.answer(path, ageing);
         get(proxy, origin, path).body();
         auto held = origin.hold(path);
         EXPECT_EQ(get(proxy, origin, path).body(), "old");
         held.arrived();
         strike();
         held.release(unchanged);
     }},
    {"a HEAD",
     [](Proxy& proxy, Origin& origin, std::string const& path, auto const& strike) {
         origin.answer(path, stale_one);
         get(proxy, origin, path).body();
         auto held = origin.hold(path);
         auto reader = Client(proxy, origin).head(path);
         held.arrived();
         strike();
         held.release(fresh("old", 600, {{"ETag", R"("a")"}}));
         EXPECT_EQ(reader.status(), 200);
     }},
};

/// No old response is served, neither at once nor later.
void expect_nothing_old(Proxy& proxy, Origin& origin, std::string const& path, char const* name) {
    origin.answer(path, fresh("new"));
    for (bool hit : {false, true}) {
        auto later = get(proxy, origin, path);
        EXPECT_EQ(later.body(), "new") << name;
        EXPECT_EQ(later.hit(), hit) << name;
    }
}

}   // namespace

TEST(Invalidation, a_purge_wins_over_all_that_began_before_it) {
    Origin origin;
    Proxy proxy;
    std::size_t number = 0;
    for (auto const& moment : moments) {
        auto const path = "/purged/" + std::to_string(number++);
        SCOPED_TRACE(moment.name);
        moment.happens(proxy, origin, path, [&] {
            EXPECT_EQ(Client(proxy, origin).send("PURGE", path).status(), 200) << moment.name;
            origin.answer(path, no_store("between"));
            EXPECT_EQ(get(proxy, origin, path).body(), "between") << "later requests are sent to the origin";
        });
        expect_nothing_old(proxy, origin, path, moment.name);
    }
}

TEST(Invalidation, a_PUT_wins_over_all_that_began_before_its_answer) {
    Origin origin;
    Proxy proxy;
    std::size_t number = 0;
    for (auto const& moment : moments) {
        auto const path = "/changed/" + std::to_string(number++);
        SCOPED_TRACE(moment.name);
        moment.happens(proxy, origin, path, [&] {
            origin.answer(path, {{.status = 204}, no_store("between")});
            EXPECT_EQ(Client(proxy, origin).send("PUT", path, {}, "new").status(), 204) << moment.name;
            EXPECT_EQ(get(proxy, origin, path).body(), "between") << "later requests are sent to the origin";
        });
        expect_nothing_old(proxy, origin, path, moment.name);
    }
}

TEST(Invalidation, what_Location_names_is_not_stored_from_before_either) {
    Origin origin;
    Proxy proxy;
    auto held = origin.hold("/list");
    auto reader = get(proxy, origin, "/list");
    held.arrived();
    origin.answer("/add", {.status = 201, .fields = {{"Location", "/list"}}});
    EXPECT_EQ(Client(proxy, origin).post("/add", "x").status(), 201);
    held.release("old");
    EXPECT_EQ(reader.body(), "old");
    expect_nothing_old(proxy, origin, "/list", "a fetch");
}

TEST(Invalidation, what_is_fetched_while_a_PUT_waits_for_its_answer_may_be_the_old_one) {
    Origin origin;
    Proxy proxy;
    auto held = origin.hold("/page");
    auto put = Client(proxy, origin).send("PUT", "/page", {}, "new");
    held.arrived();
    auto reader = get(proxy, origin, "/page");
    held.nth(1).release(fresh("old"));
    EXPECT_EQ(reader.body(), "old");
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
    held.nth(0).release({.status = 204});
    EXPECT_EQ(put.status(), 204);
    expect_nothing_old(proxy, origin, "/page", "a PUT");
}

TEST(Invalidation, a_PUT_without_an_answer_may_have_changed_something) {
    Origin origin;
    Proxy proxy;
    for (std::string method : {"PUT", "POST", "BREW"}) {
        auto const path = "/" + method;
        origin.answer(path, fresh("old"));
        get(proxy, origin, path).body();
        origin.by_hand(path, [](Hand& hand) {
            hand.read_body();
            hand.leave();
        });
        EXPECT_EQ(Client(proxy, origin).send(method, path, {}, "new").status(), 502);
        expect_nothing_old(proxy, origin, path, "lost");
    }
    auto held = origin.hold("/page");
    auto first = get(proxy, origin, "/page");
    held.release(fresh("old"));
    EXPECT_EQ(first.body(), "old");
    Client leaving(proxy, origin);
    leaving.send("PUT", "/page", {}, "new");
    held.arrived(2);
    leaving.close();
    EXPECT_TRUE(held.nth(1).abandoned());
    EXPECT_TRUE(eventually([&] { return !get(proxy, origin, "/page", {{"Cache-Control", "only-if-cached"}}).hit(); }));
}

TEST(Invalidation, a_PUT_that_never_went_out_changed_nothing) {
    Proxy proxy;
    auto origin = std::make_unique<Origin>();
    auto page = fresh("old");
    page.close = true;
    origin->answer("/page", page);
    Client visitor(proxy, *origin), author(proxy, *origin);
    EXPECT_EQ(visitor.get("/page").body(), "old");
    origin.reset();
    EXPECT_EQ(author.send("PUT", "/page", {}, "new").status(), 502);
    EXPECT_TRUE(visitor.get("/page").hit());
}

TEST(Invalidation, conditions_that_the_origin_must_judge_reach_it_and_their_failure_changes_nothing) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) {
        hand.read_body();
        auto const& head = hand.request().head;
        bool const failed = head.has("If-Match") || head.has("If-Unmodified-Since");
        Answer const refusal{.status = 412, .fields = {{"Cache-Control", "max-age=600"}}};
        hand.answer(failed ? refusal : fresh("x", 600, {{"ETag", R"("a")"}}));
    });
    get(proxy, origin, "/page").body();
    struct Row {
        std::string method;
        Fields condition;
    };
    Row const rows[] = {
        {"GET", {{"If-Match", R"("b")"}}},
        {"HEAD", {{"If-Match", R"("b")"}}},
        {"GET", {{"If-Unmodified-Since", http_date(-9000)}}},
        {"PUT", {{"If-Match", R"("b")"}}},
        {"PUT", {{"If-Unmodified-Since", http_date(-9000)}}},
        {"DELETE", {{"If-Match", "*"}}},
    };
    for (auto const& row : rows) {
        auto const& [name, value] = row.condition.front();
        auto body = row.method == "PUT" ? "new" : "";
        EXPECT_EQ(Client(proxy, origin).send(row.method, "/page", row.condition, body).status(), 412) << row.method;
        EXPECT_EQ(origin.last("/page").head.field(name), value);
        EXPECT_FALSE(origin.last("/page").head.has("If-None-Match"));
        EXPECT_TRUE(get(proxy, origin, "/page").hit()) << row.method << ' ' << name;
    }
}

TEST(Invalidation, a_request_that_never_came_whole_changes_nothing) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("kept"));
    get(proxy, origin, "/page").body();
    {
        Client client(proxy);
        client.raw("POST " + origin.url("/page") + " HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
        pause_for(300ms);
        client.close();
    }
    pause_for(300ms);
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
}

TEST(Invalidation, what_one_user_gets_does_not_end_what_all_have) {
    Origin origin;
    Proxy proxy;
    for (auto const& [path, control, field] : {std::tuple{"/private", "private", "X-None"}, {"/cookie", "no-store", "Cookie"}}) {
        origin.answer(path, {fresh("all"), {.fields = {{"Cache-Control", control}}, .body = "one"}});
        get(proxy, origin, path).body();
        EXPECT_EQ(get(proxy, origin, path, {{"Cache-Control", "no-cache"}, {field, "user=1"}}).body(), "one");
        auto again = get(proxy, origin, path);
        EXPECT_EQ(again.body(), "all") << path;
        EXPECT_TRUE(again.hit()) << path;
    }
}

}   // namespace garner::test
