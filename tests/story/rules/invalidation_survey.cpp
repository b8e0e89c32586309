// Scenes from public surveys of HTTP caches about invalidation, POST and stale responses: one row per behaviour.
#include <atomic>

#include "story/rules/survey.hpp"

namespace garner::test {

// ---- invalidation ----

TEST(InvalidationSurvey, which_answers_to_which_methods_invalidate) {
    Origin origin;
    Proxy proxy;
    struct Row {
        std::string method;
        int status;
        bool invalidates;
    };
    std::vector<Row> rows;
    for (std::string method : {"POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "BREW"})
        for (int status : {200, 204, 303, 307, 400, 404, 500, 503}) rows.push_back({method, status, status < 400});
    for (std::string method : {"GET", "HEAD", "OPTIONS", "TRACE"}) rows.push_back({method, 200, false});
    std::size_t number = 0;
    for (auto const& row : rows) {
        auto const base = numbered("invalidation", number++);
        bool const changes = row.invalidates || row.status >= 400;
        origin.by_hand(base, [=](Hand& hand) {
            hand.read_body();
            bool const read = hand.request().head.method() == "GET" || hand.request().head.method() == "HEAD";
            auto const here = "http://" + hand.request().head.field("Host") + base;
            Fields const where{{"Location", base + "/l"}, {"Content-Location", here + "/cl"}};
            hand.answer(read ? fresh("x") : Answer{.status = row.status, .fields = where});
        });
        for (auto const* part : {"/l", "/cl", "/other"}) origin.answer(base + part, fresh("x"));
        for (auto const* part : {"", "/l", "/cl", "/other"}) get(proxy, origin, base + part).body();
        auto reply = Client(proxy, origin).send(row.method, base, {}, changes ? "abc" : "");
        EXPECT_EQ(reply.status(), row.status) << row.method;
        for (auto const* part : {"", "/l", "/cl"})
            EXPECT_EQ(get(proxy, origin, base + part).hit(), !row.invalidates) << row.method << ' ' << row.status << part;
        EXPECT_TRUE(get(proxy, origin, base + "/other").hit()) << row.method;
    }
}

TEST(InvalidationSurvey, all_variants_of_a_URL_go) {
    Origin origin;
    Proxy proxy;
    for (std::string path : {"/page", "/list"})
        origin.by_hand(path, [](Hand& hand) {
            hand.read_body();
            bool const read = hand.request().head.method() == "GET";
            auto variant = fresh(hand.request().head.field("Foo"), 600, {{"Vary", "Foo"}});
            hand.answer(read ? variant : Answer{.status = 201, .fields = {{"Location", "/list"}}});
        });
    auto ask = [&](std::string const& path, std::string const& foo) { return get(proxy, origin, path, {{"Foo", foo}}); };
    for (std::string path : {"/page", "/list"})
        for (std::string foo : {"1", "2"}) EXPECT_EQ(ask(path, foo).body(), foo);
    EXPECT_EQ(Client(proxy, origin).send("M-SEARCH", "/page", {}, "x").status(), 201);
    for (std::string path : {"/page", "/list"})
        for (std::string foo : {"1", "2"}) EXPECT_FALSE(ask(path, foo).hit()) << path << foo;
}

// ---- POST ----

TEST(PostSurvey, an_answer_that_represents_the_target_serves_later_GETs) {
    struct Row {
        char const* name;
        int status;
        Fields fields;
        bool hit;
    };
    Row const rows[] = {
        {"max-age", 200, {{"Cache-Control", "max-age=600"}, {"Content-Location", "SELF"}}, true},
        {"Expires", 200, {{"Expires", http_date(600)}, {"Content-Location", "SELF"}}, true},
        {"absolute", 200, {{"Cache-Control", "max-age=600"}, {"Content-Location", "URL"}}, true},
        {"no Content-Location", 200, {{"Cache-Control", "max-age=600"}}, false},
        {"another Content-Location", 200, {{"Cache-Control", "max-age=600"}, {"Content-Location", "/other"}}, false},
        {"another host", 200, {{"Cache-Control", "max-age=600"}, {"Content-Location", "http://example.com/"}}, false},
        {"no explicit freshness", 200, {{"Last-Modified", http_date(-100'000)}, {"Content-Location", "SELF"}}, false},
        {"private", 200, {{"Cache-Control", "max-age=600, private"}, {"Content-Location", "SELF"}}, false},
        {"no-store", 200, {{"Cache-Control", "max-age=600, no-store"}, {"Content-Location", "SELF"}}, false},
        {"201", 201, {{"Cache-Control", "max-age=600"}, {"Content-Location", "SELF"}}, false},
        {"500", 500, {{"Cache-Control", "max-age=600"}, {"Content-Location", "SELF"}}, false},
    };
    Origin origin;
    Proxy proxy;
    for (std::size_t size : {std::size_t{5}, std::size_t{300'000}}) {
        auto const posted = pattern(size);
        std::size_t number = 0;
        for (auto const& row : rows) {
            auto const path = numbered("post" + std::to_string(size), number++);
            auto answer = Answer{.status = row.status, .fields = row.fields, .body = posted};
            for (auto& [name, value] : answer.fields) {
                if (value == "SELF") value = path;
                if (value == "URL") value = origin.url(path);
            }
            origin.by_hand(path, [=](Hand& hand) {
                hand.read_body();
                hand.answer(hand.request().head.method() == "POST" ? answer : no_store("got"));
            });
            auto reply = Client(proxy, origin).post(path, "12345", {{"Content-Type", "text/plain"}});
            EXPECT_EQ(reply.status(), row.status) << row.name;
            EXPECT_EQ(reply.body(), posted) << row.name;
            EXPECT_EQ(reply.outcome(), "method") << row.name;
            EXPECT_EQ(reply.stored(), row.hit) << row.name;
            EXPECT_EQ(origin.last(path).body, "12345");
            auto later = get(proxy, origin, path);
            EXPECT_EQ(later.hit(), row.hit) << row.name;
            EXPECT_EQ(later.body(), row.hit ? posted : "got") << row.name;
            EXPECT_EQ(Client(proxy, origin).head(path).hit(), row.hit) << row.name;
        }
    }
}

TEST(PostSurvey, a_POST_is_never_answered_from_the_cache_and_replaces_what_is_stored) {
    Origin origin;
    Proxy proxy;
    auto const turn = std::make_shared<std::atomic<int>>(0);
    origin.by_hand("/page", [turn](Hand& hand) {
        hand.read_body();
        hand.answer(fresh("turn " + std::to_string(++*turn), 600, {{"Content-Location", "/page"}}));
    });
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/page").body(), "turn 1");
    EXPECT_EQ(client.post("/page", "a").body(), "turn 2");
    EXPECT_EQ(client.get("/page").body(), "turn 2");
    EXPECT_EQ(client.post("/page", "a").body(), "turn 3");
    EXPECT_EQ(client.post("/page", "").body(), "turn 4");
    EXPECT_EQ(client.get("/page").body(), "turn 4");
    EXPECT_EQ(origin.requests("/page"), 4u);
    EXPECT_EQ(client.connections(), 1);
}

TEST(PostSurvey, a_purge_meanwhile_keeps_the_answer_out) {
    Origin origin;
    Proxy proxy;
    auto held = origin.hold("/page");
    Client client(proxy, origin);
    auto posted = client.post("/page", "a");
    held.arrived();
    EXPECT_EQ(Client(proxy, origin).send("PURGE", "/page").status(), 200);
    held.release(fresh("posted", 600, {{"Content-Location", "/page"}}));
    EXPECT_EQ(posted.body(), "posted");
    origin.answer("/page", fresh("got"));
    EXPECT_EQ(get(proxy, origin, "/page").body(), "got");
}

// ---- stale ----

TEST(StaleSurvey, what_a_lost_origin_lets_us_serve) {
    struct Row {
        std::string control;
        bool served;
        Fields request = {};
    };
    Row const rows[] = {
        {"max-age=2", true},
        {"max-age=2, stale-if-error=60", true},
        {"max-age=2, stale-if-error=1", false},
        {"max-age=2, must-revalidate", false},
        {"max-age=2, proxy-revalidate", false},
        {"max-age=2, no-cache", false},
        {"max-age=2, s-maxage=2", false},
        {"max-age=2", false, {{"Cache-Control", "no-cache"}}},
        {"max-age=2", false, {{"Cache-Control", "max-age=1"}}},
        {"max-age=2", true, {{"Cache-Control", "max-age=1, stale-if-error=60"}}},
    };
    Origin origin;
    Proxy proxy;
    std::size_t number = 0;
    for (auto const& row : rows) {
        auto const path = numbered("lost", number++);
        auto const before = stale({{"ETag", R"("a")"}}, row.control);
        auto asked = std::make_shared<std::atomic<int>>(0);
        origin.by_hand(path, [=](Hand& hand) {
            if ((*asked)++ == 0) return hand.answer(before);
            hand.leave();
        });
        get(proxy, origin, path).body();
        auto reply = get(proxy, origin, path, row.request);
        EXPECT_EQ(reply.status() == 200 && reply.body() == "body", row.served) << row.control << " #" << number;
        if (row.served)
            EXPECT_GE(reply.age().value_or(0), 5);
        else
            EXPECT_THAT(reply.status(), AnyOf(502, 504)) << row.control;
    }
}

TEST(StaleSurvey, which_error_answers_stale_if_error_hides) {
    struct Row {
        std::string control;
        int status;
        int seen;
        Fields request = {};
    };
    Row const rows[] = {
        {"max-age=2, stale-if-error=3600", 500, 200},
        {"max-age=2, stale-if-error=3600", 502, 200},
        {"max-age=2, stale-if-error=3600", 503, 200},
        {"max-age=2, stale-if-error=3600", 504, 200},
        {"max-age=2, stale-if-error=3600", 501, 501},
        {"max-age=2, stale-if-error=3600", 404, 404},
        {"max-age=2, stale-if-error=1", 500, 500},
        {"max-age=2, stale-if-error=3600, must-revalidate", 500, 500},
        {"max-age=2", 500, 500},
        {"max-age=2", 500, 200, {{"Cache-Control", "stale-if-error=3600"}}},
        {"max-age=2", 500, 500, {{"Cache-Control", "stale-if-error=1"}}},
    };
    Origin origin;
    Proxy proxy;
    std::size_t number = 0;
    for (auto const& row : rows) {
        auto const path = numbered("error", number++);
        Answer const broken{.status = row.status, .fields = {{"Cache-Control", "no-store"}}, .body = "broken"};
        then(origin, path, stale({{"ETag", R"("a")"}}, row.control), broken);
        get(proxy, origin, path).body();
        auto reply = get(proxy, origin, path, row.request);
        EXPECT_EQ(reply.status(), row.seen) << row.control << ' ' << row.status;
        EXPECT_EQ(reply.body(), row.seen == 200 ? "body" : "broken") << row.control << ' ' << row.status;
    }
}

}   // namespace garner::test
