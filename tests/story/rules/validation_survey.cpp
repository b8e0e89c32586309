// Scenes from public surveys of HTTP caches about Vary, validation,
// updates, invalidation, POST and stale responses: one row per behaviour.
#include <atomic>

#include "story/scene.hpp"

namespace garner::test {

namespace {

Fields with(Fields fields, Fields const& more) {
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
}

/// A 200 that is stale on arrival.
Answer stale(Fields more, std::string const& control = "max-age=2") {
    return {.fields = with({{"Cache-Control", control}, {"Age", "5"}}, more), .body = "body"};
}

/// The origin answers `path` with `first`, and from then on with `later`.
void then(Origin& origin, std::string const& path, Answer first, Answer later) {
    origin.answer(path, {std::move(first), std::move(later)});
}

std::string numbered(std::string const& what, std::size_t row) { return "/" + what + "/" + std::to_string(row); }

}   // namespace

// ---- Vary ----

TEST(VarySurvey, which_requests_a_stored_response_answers) {
    struct Row {
        char const* name;
        Fields vary;            // field lines
        Fields first, second;   // request fields
        bool hit;
    };
    auto vary = [](std::string value) { return Fields{{"Vary", std::move(value)}}; };
    auto speaks = [](std::string value) { return Fields{{"Accept-Language", std::move(value)}}; };
    Fields const two{{"Foo", "1"}, {"Bar", "abc"}};
    Fields const outer{{"Foo", "1"}, {"Baz", "789"}};
    Fields const three{{"Foo", "1"}, {"Bar", "abc"}, {"Baz", "789"}};
    Row const rows[] = {
        {"matches", vary("Foo"), {{"Foo", "1"}}, {{"Foo", "1"}}, true},
        {"differs", vary("Foo"), {{"Foo", "1"}}, {{"Foo", "2"}}, false},
        {"absent when stored", vary("Foo"), {}, {{"Foo", "1"}}, false},
        {"absent when asked", vary("Foo"), {{"Foo", "1"}}, {}, false},
        {"empty is not absent", vary("Foo"), {{"Foo", ""}}, {}, false},
        {"absent both times", vary("Foo"), {}, {}, true},
        {"others do not count", vary("Foo"), {{"Foo", "1"}, {"Other", "2"}}, {{"Foo", "1"}, {"Other", "3"}}, true},
        {"names in any case", vary("fOO"), {{"Foo", "1"}}, {{"foo", "1"}}, true},
        {"values with case", vary("Foo"), {{"Foo", "a"}}, {{"Foo", "A"}}, false},
        {"two match", vary("Foo, Bar"), two, two, true},
        {"one of two differs", vary("Foo, Bar"), two, {{"Foo", "2"}, {"Bar", "abc"}}, false},
        {"two absent", vary("Foo, Bar"), two, {}, false},
        {"three match", vary("Foo, Bar, Baz"), three, three, true},
        {"three in two lines", {{"Vary", "Foo"}, {"Vary", "Bar, Baz"}}, three, three, true},
        {"the second line counts", {{"Vary", "Foo"}, {"Vary", "Bar"}}, three, {{"Foo", "1"}}, false},
        {"three in another order", vary("Foo, Bar, Baz"), three, {{"Baz", "789"}, {"Foo", "1"}, {"Bar", "abc"}}, true},
        {"one of three differs", vary("Foo, Bar, Baz"), three, {{"Foo", "2"}, {"Bar", "abc"}, {"Baz", "789"}}, false},
        {"differs in another order", vary("Foo, Bar, Baz"), three, with(outer, {{"Bar", "abcde"}}), false},
        {"one of three absent both times", vary("Foo, Bar, Baz"), outer, outer, true},
        {"lines combined", vary("Foo"), {{"Foo", "1, 2"}}, {{"Foo", "1"}, {"Foo", "2"}}, true},
        {"white space", vary("Foo"), {{"Foo", "1,2"}}, {{"Foo", " 1, 2 "}}, true},
        {"languages in another order", vary("Accept-Language"), speaks("en, de"), speaks("de, en"), true},
        {"languages in another case", vary("Accept-Language"), speaks("en, de"), speaks("eN, De"), true},
        {"languages with spaces", vary("Accept-Language"), speaks("en, de"), speaks(" en ,   de"), true},
        {"languages with other weights", vary("Accept-Language"), speaks("en, de;q=0.5"), speaks("en, de"), false},
        {"star", vary("*"), three, three, false},
        {"star, star", vary("*, *"), three, three, false},
        {"star and star", {{"Vary", "*"}, {"Vary", "*"}}, three, three, false},
        {"empty, star", vary(", *"), three, three, false},
        {"empty and star", {{"Vary", ""}, {"Vary", "*"}}, three, three, false},
        {"star, name", vary("*, Foo"), three, three, false},
        {"name, star", vary("Foo, *"), three, three, false},
        {"nothing", vary(""), three, {}, true},
    };
    Origin origin;
    Proxy proxy;
    std::size_t number = 0;
    for (auto const& row : rows) {
        auto const path = numbered("vary", number++);
        origin.answer(path, fresh("x", 600, with(row.vary, {{"Last-Modified", http_date(-3000)}})));
        get(proxy, origin, path, row.first).body();
        EXPECT_EQ(get(proxy, origin, path, row.second).hit(), row.hit) << row.name;
        EXPECT_EQ(origin.requests(path), row.hit ? 1u : 2u) << row.name;
    }
}

TEST(VarySurvey, a_stale_variant_is_validated_with_the_fields_that_selected_it) {
    Origin origin;
    Proxy proxy;
    then(origin, "/page", stale({{"Vary", "Abc"}, {"ETag", R"("a")"}}),
         {.status = 304, .fields = {{"Vary", "Abc"}, {"ETag", R"("a")"}, {"Cache-Control", "max-age=600"}}});
    get(proxy, origin, "/page", {{"Abc", "123"}}).body();
    EXPECT_EQ(get(proxy, origin, "/page", {{"Abc", "123"}}).body(), "body");
    EXPECT_EQ(origin.last("/page").head.field("Abc"), "123");
    EXPECT_EQ(origin.last("/page").head.field("If-None-Match"), R"("a")");
    EXPECT_TRUE(get(proxy, origin, "/page", {{"Abc", "123"}}).hit());
    get(proxy, origin, "/page", {{"Abc", "456"}}).status();
    EXPECT_FALSE(origin.last("/page").head.has("If-None-Match")) << "another variant's tag";
}

// ---- conditional requests ----

TEST(ConditionalSurvey, If_None_Match_against_what_is_stored) {
    struct Row {
        std::string etag, asked;
        int status;
    };
    Row const rows[] = {
        {R"("abcdef")", R"("abcdef")", 304},
        {R"(W/"abcdef")", R"(W/"abcdef")", 304},
        {R"(W/"abcdef")", R"("abcdef")", 304},
        {R"("abcdef")", R"(W/"abcdef")", 304},
        {"\"abcdef\xfc\"", "\"abcdef\xfc\"", 304},
        {R"("abcdef")", R"("abcdef", "1234", "5678")", 304},
        {R"("abcdef")", R"("1234", "abcdef", "5678")", 304},
        {R"("abcdef")", R"("1234", "5678", "abcdef")", 304},
        {R"("abcdef")", "*", 304},
        {R"("abcdef")", R"("ABCDEF")", 200},
        {R"("abcdef")", R"("abc")", 200},
        {R"("abcdef")", "abcdef", 200},
        {"abcdef", "abcdef", 200},
        {R"(w/"abcdef")", R"(w/"abcdef")", 200},
    };
    Origin origin;
    Proxy proxy;
    std::size_t number = 0;
    for (auto const& row : rows) {
        auto const path = numbered("etag", number++);
        origin.answer(path, fresh("x", 600, {{"ETag", row.etag}, {"Last-Modified", http_date(-5000)}}));
        get(proxy, origin, path).body();
        for (Fields const& more : {Fields{}, Fields{{"If-Modified-Since", http_date(-1)}}}) {
            auto reply = get(proxy, origin, path, with({{"If-None-Match", row.asked}}, more));
            EXPECT_EQ(reply.status(), row.status) << row.etag << " | " << row.asked;
            EXPECT_TRUE(reply.hit());
            EXPECT_EQ(reply.field("ETag"), row.etag);
        }
        EXPECT_EQ(origin.requests(path), 1u);
    }
}

TEST(ConditionalSurvey, If_Modified_Since_against_what_is_stored) {
    struct Row {
        char const* name;
        Fields stored;
        std::string since;
        int status;
    };
    Fields const modified{{"Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"}};
    Row const rows[] = {
        {"the same", modified, "Sun, 06 Nov 1994 08:49:37 GMT", 304},
        {"later", modified, http_date(-2000), 304},
        {"earlier", modified, "Sun, 06 Nov 1994 08:49:36 GMT", 200},
        {"RFC 850", modified, "Sunday, 06-Nov-94 08:49:37 GMT", 304},
        {"asctime", modified, "Sun Nov  6 08:49:37 1994", 304},
        {"no date", modified, "yesterday", 200},
        {"Date instead, later", {{"Date", http_date(-100)}}, http_date(-50), 304},
        {"Date instead, earlier", {{"Date", http_date(-100)}}, http_date(-3000), 200},
    };
    Origin origin;
    Proxy proxy;
    std::size_t number = 0;
    for (auto const& row : rows) {
        auto const path = numbered("since", number++);
        origin.answer(path, fresh("x", 6000, row.stored));
        get(proxy, origin, path).body();
        auto reply = get(proxy, origin, path, {{"If-Modified-Since", row.since}});
        EXPECT_EQ(reply.status(), row.status) << row.name;
        EXPECT_TRUE(reply.hit()) << row.name;
    }
}

TEST(ConditionalSurvey, what_is_stale_is_validated_with_what_it_has) {
    struct Row {
        Fields stored;
        std::string none_match, since;
    };
    auto const modified = http_date(-3000);
    Row const rows[] = {
        {{{"ETag", R"("a")"}}, R"("a")", ""},
        {{{"ETag", R"(W/"a")"}}, R"(W/"a")", ""},
        {{{"Last-Modified", modified}}, "", modified},
        {{{"ETag", R"("a")"}, {"Last-Modified", modified}}, R"("a")", modified},
    };
    Origin origin;
    Proxy proxy;
    std::size_t number = 0;
    for (auto const& row : rows) {
        auto const path = numbered("validated", number++);
        auto fields = with(row.stored, {{"Cache-Control", "max-age=600"}});
        then(origin, path, stale(row.stored), {.status = 304, .fields = fields});
        get(proxy, origin, path).body();
        auto reply = get(proxy, origin, path);
        EXPECT_EQ(reply.status(), 200);
        EXPECT_EQ(reply.body(), "body");
        EXPECT_EQ(origin.last(path).head.field("If-None-Match"), row.none_match);
        EXPECT_EQ(origin.last(path).head.field("If-Modified-Since"), row.since);
        EXPECT_TRUE(get(proxy, origin, path).hit());
    }
}

TEST(ConditionalSurvey, a_clients_date_is_answered_after_validation) {
    Origin origin;
    Proxy proxy;
    auto const modified = http_date(-3000);
    then(origin, "/page", stale({{"Last-Modified", modified}}),
         {.status = 304, .fields = {{"Last-Modified", modified}, {"Cache-Control", "max-age=600"}}});
    get(proxy, origin, "/page").body();
    auto reply = get(proxy, origin, "/page", {{"If-Modified-Since", modified}});
    EXPECT_EQ(reply.status(), 304);
    EXPECT_EQ(reply.fwd_status(), 304);
}

TEST(ConditionalSurvey, of_a_stale_object_the_origin_is_asked_with_our_validators_and_the_client_answered_by_its_own) {
    struct Row {
        char const* name;
        Fields stored, asked;
        Answer told;
        std::string none_match, since;   // fields received by the origin
        int status;
        std::string body;
    };
    auto const modified = http_date(-3000);
    auto const tag = [](std::string etag) { return Fields{{"ETag", std::move(etag)}}; };
    auto const is = [](std::string etag) { return Fields{{"If-None-Match", std::move(etag)}}; };
    auto const same = Answer{.status = 304, .fields = {{"ETag", R"("a")"}, {"Cache-Control", "max-age=600"}}};
    auto const other = fresh("new", 600, tag(R"("b")"));
    Row const rows[] = {
        {"both have it", tag(R"("a")"), is(R"("a")"), same, R"("a")", "", 304, ""},
        {"we alone have it", tag(R"("a")"), is(R"("b")"), same, R"("a")", "", 200, "body"},
        {"the client alone has it", tag(R"("a")"), is(R"("b")"), other, R"("a")", "", 304, ""},
        {"neither has it", tag(R"("a")"), is(R"("a")"), other, R"("a")", "", 200, "new"},
        {"any will do", tag(R"("a")"), is("*"), other, R"("a")", "", 304, ""},
        {"a tag and a date: the tag counts", tag(R"("a")"), with(is(R"("c")"), {{"If-Modified-Since", http_date(0)}}), same,
         R"("a")", "", 200, "body"},
        {"a date and a tag: the tag counts", tag(R"("a")"), with({{"If-Modified-Since", http_date(-9000)}}, is(R"("a")")), same,
         R"("a")", "", 304, ""},
        {"our date, its tag", {{"Last-Modified", modified}}, is(R"("b")"), other, "", modified, 304, ""},
        {"we have no validator", {}, is(R"("b")"), other, "", "", 304, ""},
        {"we have no validator, it a date", {}, {{"If-Modified-Since", http_date(-9000)}}, other, "", "", 200, "new"},
    };
    Origin origin;
    Proxy proxy;
    std::size_t number = 0;
    for (auto const& row : rows) {
        auto const path = numbered("both", number++);
        then(origin, path, stale(row.stored), row.told);
        get(proxy, origin, path).body();
        auto reply = get(proxy, origin, path, row.asked);
        EXPECT_EQ(reply.status(), row.status) << row.name;
        EXPECT_EQ(reply.body(), row.body) << row.name;
        EXPECT_EQ(origin.last(path).head.field("If-None-Match"), row.none_match) << row.name;
        EXPECT_EQ(origin.last(path).head.field("If-Modified-Since"), row.since) << row.name;
        auto later = get(proxy, origin, path);
        EXPECT_TRUE(later.hit()) << row.name;
        EXPECT_EQ(later.body(), row.told.status == 304 ? "body" : "new") << row.name;
    }
}

TEST(ConditionalSurvey, a_304_to_the_clients_own_validators_says_nothing_about_ours) {
    Origin origin;
    Proxy proxy;
    // Without a stored validator, the client's validators are forwarded.
    then(origin, "/page", stale({}), {.status = 304, .fields = {{"ETag", R"("b")"}, {"Cache-Control", "max-age=600"}}});
    get(proxy, origin, "/page").body();
    Fields const asked{{"If-None-Match", R"("b")"}, {"Cache-Control", "no-cache"}};
    EXPECT_EQ(get(proxy, origin, "/page", asked).status(), 304);
    EXPECT_EQ(origin.last("/page").head.field("If-None-Match"), R"("b")");
    origin.answer("/page", fresh("new", 600, {{"ETag", R"("b")"}}));
    auto later = get(proxy, origin, "/page");
    EXPECT_FALSE(later.hit());
    EXPECT_EQ(later.body(), "new");
}

TEST(ConditionalSurvey, a_304_that_nobody_asked_for_is_no_answer) {
    Origin origin;
    Proxy proxy;
    Answer const not_modified{.status = 304, .fields = {{"Cache-Control", "max-age=600"}}};
    origin.answer("/unknown", not_modified);
    EXPECT_EQ(get(proxy, origin, "/unknown").status(), 502);
    struct Row {
        std::string control;
        int status;
    };
    for (auto const& row : {Row{"max-age=2", 200}, Row{"max-age=2, must-revalidate", 502}}) {
        auto const path = "/" + std::to_string(row.status);
        then(origin, path, stale({}, row.control), not_modified);
        get(proxy, origin, path).body();
        auto reply = get(proxy, origin, path);
        EXPECT_EQ(reply.status(), row.status) << row.control;
        if (row.status == 200) EXPECT_EQ(reply.body(), "body");
    }
}

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
            auto later = get(proxy, origin, path);
            EXPECT_EQ(later.hit(), row.stored || (row.stays && reload)) << trace;
            EXPECT_EQ(later.body(), row.stays && reload ? "body" : "told") << trace;
            EXPECT_EQ(origin.requests(path), row.stored || (row.stays && reload) ? 2u : 3u) << trace;
            if (!later.hit()) EXPECT_EQ(origin.last(path).head.has("If-None-Match"), row.stays) << trace;
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
