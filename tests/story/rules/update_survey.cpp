// Scenes from public surveys of HTTP caches about updates by a 304 and by HEAD: one row per behaviour.
#include <atomic>

#include "story/rules/survey.hpp"

namespace garner::test {

// ---- updates ----

TEST(UpdateSurvey, which_fields_a_304_replaces) {
    struct Row {
        std::string name, stored, told, kept;
    };
    auto const soon = http_date(-5000);
    auto const late = http_date(-4000);
    Row const rows[] = {
        {"Test-Header", "A", "B", "B"},
        {"X-Test-Header", "A", "B", "B"},
        {"Content-Foo", "A", "B", "B"},
        {"X-Content-Foo", "A", "B", "B"},
        {"Test-Header", "A", "", "A"},   // missing in the 304, so kept
        {"Content-Location", "/foo", "/bar", "/bar"},
        {"Content-MD5", "rL0Y20zC+Fzt72VPzMSk2A==", "N7UdGUp1E+RbVvZSTy1R8g==", "N7UdGUp1E+RbVvZSTy1R8g=="},
        {"Content-Security-Policy", "default-src 'self'", "default-src 'none'", "default-src 'none'"},
        {"Clear-Site-Data", "cache", "cookies", "cookies"},
        {"Set-Cookie", "a=b", "a=c", "a=c"},
        {"X-Frame-Options", "deny", "sameorigin", "sameorigin"},
        {"Expires", soon, late, late},
        {"Last-Modified", soon, late, late},
        {"Content-Length", "4", "10", "4"},
        {"Content-Type", "text/plain", "text/html", "text/plain"},
        {"Content-Encoding", "x-a", "x-b", "x-a"},
        {"Content-Range", "", "bytes 0-1/4", ""},
        {"Keep-Alive", "", "timeout=5", ""},
        {"Proxy-Authenticate", "", "Basic", ""},
        {"Upgrade", "", "x", ""},
    };
    Origin origin;
    Proxy proxy(R"({"caching": {"store_set_cookie": true}})");
    std::size_t number = 0;
    for (auto const& row : rows) {
        auto const path = numbered("update", number++);
        Fields const tag{{"ETag", R"("a")"}};
        Fields first, update{{"Cache-Control", "max-age=600"}};
        if (!row.stored.empty()) first.emplace_back(row.name, row.stored);
        if (!row.told.empty()) update.emplace_back(row.name, row.told);
        then(origin, path, stale(with(first, tag)), {.status = 304, .fields = with(update, tag)});
        get(proxy, origin, path).body();
        for (bool hit : {false, true}) {
            auto reply = get(proxy, origin, path);
            EXPECT_EQ(reply.hit(), hit) << row.name;
            EXPECT_EQ(reply.field(row.name), row.kept) << row.name;
            EXPECT_EQ(reply.field("Cache-Control"), "max-age=600") << row.name;
            EXPECT_EQ(reply.body(), "body") << row.name;
        }
    }
}

TEST(UpdateSurvey, a_304_about_another_tag_updates_nothing_and_is_asked_again) {
    Origin origin;
    Proxy proxy;
    origin.answer(
        "/page",
        {stale({{"ETag", R"("a")"}}), {.status = 304, .fields = {{"ETag", R"("b")"}}}, fresh("new", 600, {{"ETag", R"("b")"}})});
    get(proxy, origin, "/page").body();
    auto reply = get(proxy, origin, "/page");
    EXPECT_EQ(reply.body(), "new");
    EXPECT_FALSE(origin.last("/page").head.has("If-None-Match"));
    EXPECT_EQ(origin.requests("/page"), 3u);
}

TEST(UpdateSurvey, which_304_is_about_what_is_stored) {
    struct Row {
        char const* name;
        Fields stored, told;
        bool about;
    };
    auto const modified = http_date(-3000);
    auto const tag = [](std::string etag) { return Fields{{"ETag", std::move(etag)}}; };
    auto const since = [](std::string date) { return Fields{{"Last-Modified", std::move(date)}}; };
    Row const rows[] = {
        {"the same tag", tag(R"("a")"), tag(R"("a")"), true},
        {"another tag", tag(R"("a")"), tag(R"("b")"), false},
        {"no validator", tag(R"("a")"), {}, true},
        {"no validator, a date stored", since(modified), {}, true},
        {"a validator we have not", tag(R"("a")"), since(modified), true},
        {"the same date", since(modified), since(modified), true},
        {"another date", since(modified), since(http_date(-2000)), false},
        {"equal tags, different dates", with(tag(R"("a")"), since(modified)), with(tag(R"("a")"), since(http_date(-2000))), true},
        {"both weak", tag(R"(W/"a")"), tag(R"(W/"a")"), true},
        {"weak about strong", tag(R"("a")"), tag(R"(W/"a")"), true},
        {"strong about weak", tag(R"(W/"a")"), tag(R"("a")"), false},
    };
    Origin origin;
    Proxy proxy;
    std::size_t number = 0;
    for (auto const& row : rows) {
        auto const path = numbered("about", number++);
        Answer const not_modified{.status = 304, .fields = with(row.told, {{"Cache-Control", "max-age=600"}})};
        origin.answer(path, {stale(row.stored), not_modified, fresh("new")});
        get(proxy, origin, path).body();
        EXPECT_EQ(get(proxy, origin, path).body(), row.about ? "body" : "new") << row.name;
        EXPECT_TRUE(get(proxy, origin, path).hit()) << row.name;
        EXPECT_EQ(origin.requests(path), row.about ? 2u : 3u) << row.name;
    }
}

TEST(UpdateSurvey, a_304_with_another_variants_tag_freshens_neither) {
    Origin origin;
    Proxy proxy;
    auto const told = std::make_shared<std::atomic<bool>>(false);
    origin.by_hand("/page", [=](Hand& hand) {
        auto const& head = hand.request().head;
        auto const language = head.field("Accept-Language");
        Fields const fields{{"Vary", "Accept-Language"}, {"ETag", "\"" + language + "\""}};
        if (head.has("If-None-Match"))
            return hand.answer({.status = 304, .fields = {{"ETag", R"("en")"}, {"Cache-Control", "max-age=600"}}});
        hand.answer(*told ? fresh(language + " anew", 600, fields) : stale(fields));
    });
    for (std::string language : {"de", "en"}) get(proxy, origin, "/page", {{"Accept-Language", language}}).body();
    *told = true;
    EXPECT_EQ(get(proxy, origin, "/page", {{"Accept-Language", "de"}}).body(), "de anew");
    auto english = get(proxy, origin, "/page", {{"Accept-Language", "en"}});
    EXPECT_FALSE(english.hit()) << "a response about the German variant is no hit for English";
    EXPECT_EQ(english.body(), "body");
    EXPECT_EQ(origin.last("/page").head.field("If-None-Match"), R"("en")");
}

TEST(UpdateSurvey, a_full_answer_takes_the_place_of_what_was_stored_even_when_it_is_not_stored_itself) {
    struct Row {
        int status;
        std::string control;
        bool stored;   // this response
        bool stays;    // the response stored before
    };
    Row const rows[] = {
        {200, "max-age=600", true, false}, {404, "max-age=600", true, false}, {410, "max-age=600", true, false},
        {200, "no-store", false, false},   {200, "private", false, true},     {301, "no-store", false, false},
        {404, "no-store", false, false},   {410, "no-store", false, false},   {302, "no-store", false, true},
        {401, "no-store", false, true},    {403, "no-store", false, true},    {429, "no-store", false, true},
        {500, "no-store", false, true},    {503, "no-store", false, true},    {500, "max-age=600", true, false},
    };
    Origin origin;
    Proxy proxy;
    std::size_t number = 0;
    for (auto const& row : rows) {
        auto const trace = std::to_string(row.status) + ' ' + row.control;
        for (bool reload : {false, true}) {
            auto const path = numbered("full", number++);
            Fields const tag{{"ETag", R"("a")"}};
            auto const before = reload ? fresh("body", 600, tag) : stale(tag);
            Answer const told{.status = row.status, .fields = {{"Cache-Control", row.control}}, .body = "told"};
            then(origin, path, before, told);
            get(proxy, origin, path).body();
            auto reply = get(proxy, origin, path, reload ? Fields{{"Cache-Control", "no-cache"}} : Fields{});
            EXPECT_EQ(reply.status(), row.status) << trace;
            EXPECT_EQ(reply.body(), "told") << trace;
            // An error or redirect that a reload gets makes the stored response stale instead.
            bool const is_provoked = reload && row.status >= 300 && !row.stays;
            bool const hits = (row.stored && !is_provoked) || (row.stays && reload);
            auto later = get(proxy, origin, path);
            EXPECT_EQ(later.hit(), hits) << trace;
            EXPECT_EQ(later.body(), row.stays && reload ? "body" : "told") << trace;
            EXPECT_EQ(origin.requests(path), hits ? 2u : 3u) << trace;
            if (!later.hit()) EXPECT_EQ(origin.last(path).head.has("If-None-Match"), row.stays || is_provoked) << trace;
        }
    }
}

// ---- HEAD ----

TEST(HeadSurvey, the_answer_to_a_HEAD_freshens_what_it_agrees_with) {
    Origin origin;
    Proxy proxy(R"({"workers": 1})");
    Answer head{.fields = {{"Cache-Control", "max-age=600"}, {"Edition", "2"}}, .body = "body"};
    then(origin, "/page", stale({{"Edition", "1"}, {"Kept", "1"}}), head);
    get(proxy, origin, "/page").body();
    auto asked = Client(proxy, origin).head("/page");
    EXPECT_EQ(asked.status(), 200);
    EXPECT_EQ(asked.field("Edition"), "2");
    EXPECT_EQ(asked.field("Kept"), "1") << "the stored field is not in the HEAD response";
    EXPECT_EQ(asked.field("Content-Length"), "4");
    EXPECT_EQ(origin.last("/page").head.method(), "HEAD");
    EXPECT_EQ(proxy.logged("/page", 2).tag, "TCP_REFRESH_UNMODIFIED");
    auto later = get(proxy, origin, "/page");
    EXPECT_TRUE(later.hit());
    EXPECT_EQ(later.field("Edition"), "2");
    EXPECT_EQ(later.body(), "body");
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST(HeadSurvey, no_cache_in_a_HEAD_freshens_too) {
    Origin origin;
    Proxy proxy;
    then(origin, "/page", fresh("body", 600, {{"ETag", R"("a")"}, {"Edition", "1"}}),
         fresh("body", 600, {{"ETag", R"("a")"}, {"Edition", "2"}}));
    get(proxy, origin, "/page").body();
    EXPECT_EQ(Client(proxy, origin).head("/page", {{"Cache-Control", "no-cache"}}).field("Edition"), "2");
    EXPECT_EQ(get(proxy, origin, "/page").field("Edition"), "2");
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST(HeadSurvey, what_it_contradicts_is_validated_before_it_is_used_again) {
    struct Row {
        char const* name;
        Fields told;
        std::string body;
    };
    Row const rows[] = {
        {"other ETag", {{"ETag", R"("b")"}}, "body"},
        {"other Last-Modified", {{"ETag", R"("a")"}, {"Last-Modified", http_date(-1)}}, "body"},
        {"other length", {{"ETag", R"("a")"}}, "longer"},
    };
    Origin origin;
    Proxy proxy;
    std::size_t number = 0;
    for (auto const& row : rows) {
        auto const path = numbered("head", number++);
        then(origin, path, fresh("body", 600, {{"ETag", R"("a")"}, {"Last-Modified", http_date(-3000)}}),
             fresh(row.body, 600, row.told));
        get(proxy, origin, path).body();
        auto asked = Client(proxy, origin).head(path, {{"Cache-Control", "no-cache"}});
        EXPECT_EQ(asked.field("Content-Length"), std::to_string(row.body.size())) << row.name;
        auto later = get(proxy, origin, path);
        EXPECT_FALSE(later.hit()) << row.name;
        EXPECT_EQ(later.outcome(), "stale") << row.name;
        EXPECT_EQ(origin.last(path).head.field("If-None-Match"), R"("a")") << row.name;
        EXPECT_EQ(later.body(), row.body) << row.name;
        EXPECT_TRUE(get(proxy, origin, path).hit()) << row.name;
    }
}

TEST(HeadSurvey, what_came_meanwhile_stays) {
    Origin origin;
    Proxy proxy;
    auto held = origin.hold("/page");
    for (std::string told : {"old", "other"}) {
        auto const before = held.count();
        auto first = get(proxy, origin, "/page", {{"Cache-Control", "no-cache"}});
        held.nth(before).release(stale({}));
        EXPECT_EQ(first.body(), "body");
        auto head = Client(proxy, origin).head("/page");
        held.arrived(before + 2);
        auto second = get(proxy, origin, "/page");
        held.nth(before + 2).release(fresh("newer"));
        EXPECT_EQ(second.body(), "newer");
        held.nth(before + 1).release(fresh(told == "old" ? "body" : "another"));
        EXPECT_EQ(head.status(), 200);
        auto third = get(proxy, origin, "/page");
        EXPECT_TRUE(third.hit()) << told;
        EXPECT_EQ(third.body(), "newer") << told;
    }
}

TEST(HeadSurvey, one_variant_is_freshened_alone) {
    Origin origin;
    Proxy proxy;
    origin.by_hand("/page", [](Hand& hand) {
        auto const& head = hand.request().head;
        bool const asked = head.method() == "HEAD";
        hand.answer(
            {.fields = {{"Cache-Control", asked ? "max-age=600" : "max-age=0"}, {"ETag", R"("a")"}, {"Vary", "Accept-Language"}},
             .body = head.field("Accept-Language")});
    });
    for (std::string language : {"de", "en"}) get(proxy, origin, "/page", {{"Accept-Language", language}}).body();
    EXPECT_EQ(Client(proxy, origin).head("/page", {{"Accept-Language", "de"}}).status(), 200);
    auto german = get(proxy, origin, "/page", {{"Accept-Language", "de"}});
    EXPECT_TRUE(german.hit());
    EXPECT_EQ(german.body(), "de");
    EXPECT_FALSE(get(proxy, origin, "/page", {{"Accept-Language", "en"}}).hit());
}

TEST(HeadSurvey, a_HEAD_of_what_is_not_stored_stores_nothing) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("body"));
    EXPECT_FALSE(Client(proxy, origin).head("/page").stored());
    EXPECT_EQ(get(proxy, origin, "/page").body(), "body");
    EXPECT_TRUE(Client(proxy, origin).head("/page").hit());
    EXPECT_EQ(origin.requests("/page"), 2u);
}

TEST(HeadSurvey, an_error_leaves_what_is_stored_as_it_is) {
    Origin origin;
    Proxy proxy;
    then(origin, "/page", fresh("body"), {.status = 410, .fields = {{"Cache-Control", "max-age=600"}}});
    get(proxy, origin, "/page").body();
    EXPECT_EQ(Client(proxy, origin).head("/page", {{"Cache-Control", "no-cache"}}).status(), 410);
    auto later = get(proxy, origin, "/page");
    EXPECT_EQ(later.status(), 200);
    EXPECT_TRUE(later.hit());
}

}   // namespace garner::test
