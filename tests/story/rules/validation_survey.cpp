// Scenes from public surveys of HTTP caches about Vary and conditional requests: one row per behaviour.
#include "story/rules/survey.hpp"

namespace garner::test {

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

}   // namespace garner::test
