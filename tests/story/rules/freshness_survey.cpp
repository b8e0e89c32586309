// Freshness, storing and request directives, one behaviour per row: each gives the outcome of the second request for a URL.
#include <thread>

#include "story/scene.hpp"

namespace garner::test {

namespace {

enum class Second { hit, miss, validation };

std::ostream& operator<<(std::ostream& out, Second second) {
    return out << (second == Second::hit ? "hit" : second == Second::miss ? "miss" : "validation");
}

constexpr Second hit = Second::hit;
constexpr Second miss = Second::miss;
constexpr Second validation = Second::validation;

/// One URL: the first response's status and fields, the second request's fields, and that request's outcome.
struct Behaviour {
    std::string name;
    Fields answer;
    Second second = hit;
    int status = 200;
    Fields first_request = {};
    Fields second_request = {};
};

std::string in(std::int64_t seconds) { return http_date(seconds); }

/// Fields that other clients send too; they must not matter.
Fields with_noise(Fields fields) {
    Fields all{{"Pragma", "foo"}, {"Cache-Control", "nothing-to-see-here"}};
    all.insert(all.end(), fields.begin(), fields.end());
    return all;
}

bool validates(Head const& request, Fields const& answered) {
    Head const before{"", answered};
    auto const same = [&](char const* condition, char const* validator) {
        return before.has(validator) && request.field(condition) == before.field(validator);
    };
    return same("If-None-Match", "ETag") || same("If-Modified-Since", "Last-Modified");
}

/// Answers the first request as the behaviour says, and a later one with 304 if it validates, otherwise with another body.
void play(Origin& origin, std::string const& path, Behaviour const& behaviour) {
    auto asked = std::make_shared<std::atomic<int>>(0);
    origin.by_hand(path, [asked, behaviour](Hand& hand) {
        hand.read_body();
        bool const first = asked->fetch_add(1) == 0;
        if (!first && validates(hand.request().head, behaviour.answer)) return hand.answer({.status = 304});
        bool const bodiless = behaviour.status == 204;
        hand.answer({.status = behaviour.status, .fields = behaviour.answer, .body = bodiless ? "" : first ? "first" : "other"});
    });
}

Second what_became_of(Origin const& origin, std::string const& path, std::size_t before) {
    if (origin.requests(path) == before) return hit;
    auto const& last = origin.last(path).head;
    return last.has("If-None-Match") || last.has("If-Modified-Since") ? validation : miss;
}

/// Runs all behaviours at once, so that a single pause of `between` separates first and second requests.
void survey(Proxy const& proxy, Origin& origin, std::vector<Behaviour> const& behaviours, Millis between = 0ms) {
    auto const path_of = [](std::size_t i) { return "/" + std::to_string(i); };
    Client client(proxy, origin);
    for (std::size_t i = 0; i < behaviours.size(); ++i) {
        auto const& behaviour = behaviours[i];
        play(origin, path_of(i), behaviour);
        auto reply = client.get(path_of(i), with_noise(behaviour.first_request));
        EXPECT_EQ(reply.status(), behaviour.status) << behaviour.name << reply.trouble();
        EXPECT_EQ(reply.body(), behaviour.status == 204 ? "" : "first") << behaviour.name;
    }
    std::this_thread::sleep_for(between);
    for (std::size_t i = 0; i < behaviours.size(); ++i) {
        auto const& behaviour = behaviours[i];
        auto const before = origin.requests(path_of(i));
        auto reply = client.get(path_of(i), with_noise(behaviour.second_request));
        reply.body();
        auto const found = what_became_of(origin, path_of(i), before);
        EXPECT_EQ(found, behaviour.second) << behaviour.name << ": " << reply.field("Cache-Status");
        EXPECT_TRUE(found != hit || reply.age()) << behaviour.name;
    }
}

Behaviour cc(std::string value, Second second) { return {value, {{"Cache-Control", value}}, second}; }

Behaviour age(Fields ages, Second second, std::string lifetime = "3600") {
    Behaviour behaviour{"Age", {{"Date", in(0)}, {"Cache-Control", "max-age=" + lifetime}}, second};
    for (auto const& line : ages) behaviour.answer.push_back(line), behaviour.name += " " + line.second;
    return behaviour;
}

Behaviour expires(std::string value, Second second) { return {value, {{"Expires", value}, {"Date", in(0)}}, second}; }

constexpr Millis survey_pause = 3'100ms;

}   // namespace

TEST(Survey, Age) {
    Origin origin;
    Proxy proxy;
    survey(proxy, origin,
           {age({{"Age", "abc"}}, hit), age({{"Age", "-7200"}}, hit), age({{"Age", "7200.0"}}, hit), age({{"Age", "7200"}}, miss),
            age({{"Age", "2147483647"}}, miss), age({{"Age", "2147483648"}}, miss), age({{"Age", "2147483649"}}, miss),
            age({{"Age", "99999999999999999999999"}}, miss), age({{"Age", "7200, 0"}}, miss), age({{"Age", "0, 7200"}}, hit),
            age({{"Age", "7200"}, {"Age", "0"}}, miss), age({{"Age", "0"}, {"Age", "7200"}}, hit), age({{"Age", "0, 0"}}, hit),
            age({{"Age", "0"}, {"Age", "0"}}, hit), age({{"Age", "3600"}, {"Age", "3600"}}, hit, "10000"),
            age({{"Age", "7200;foo=bar"}}, hit), age({{"Age", "7200;foo=111"}}, hit)});
}

TEST(Survey, Cache_Control_grammar) {
    Origin origin;
    Proxy proxy;
    survey(proxy, origin,
           {cc("max-age=1800, max-age=1", miss),
            cc("max-age=1, max-age=1800", miss),
            {"two lines, long first", {{"Cache-Control", "max-age=1800"}, {"Cache-Control", "max-age=1"}}, miss},
            {"two lines, short first", {{"Cache-Control", "max-age=1"}, {"Cache-Control", "max-age=1800"}}, miss},
            cc(R"(max-age="3600")", hit),
            cc(R"(extension="max-age=3600", max-age=1)", miss),
            cc(R"(max-age=1, extension="max-age=3600")", miss),
            cc(R"(extension="a, max-age=3600, b", max-age=1)", miss),
            cc(R"(extension="\", max-age=3600", max-age=1)", miss),
            cc("max-age =3600", miss),
            cc("max-age= 3600", miss),
            cc("max-age=003600", hit),
            cc("max-age='3600'", miss),
            cc("max-age=3600.0", miss),
            cc("max-age=3600.5", miss),
            cc("max-age=a3600", miss),
            cc("max-age=3600a", miss),
            cc("max-age", miss),
            cc("max-age=", miss),
            cc(",,max-age=3600 ,", hit),
            cc("foobar, max-age=3600", hit),
            cc("foobar=\"x\"; max-age=3600", miss),
            cc("MaX-aGe=3600", hit)},
           survey_pause);
}

TEST(Survey, Cache_Control_freshness) {
    Origin origin;
    Proxy proxy;
    survey(proxy, origin,
           {{"nothing said", {}, miss},
            cc("max-age=3600", hit),
            cc("max-age=2", miss),
            cc("max-age=0", miss),
            cc("max-age=-3600", miss),
            cc("max-age=2147483647", hit),
            cc("max-age=2147483648", hit),
            cc("max-age=2147483649", hit),
            cc("max-age=99999999999", hit),
            cc("max-age=999999999999999999999999999", hit),
            {"an old Date", {{"Date", in(-7200)}, {"Cache-Control", "max-age=3600"}}, miss},
            {"a past Expires", {{"Cache-Control", "max-age=3600"}, {"Expires", in(-7200)}, {"Date", in(0)}}, hit},
            {"an invalid Expires", {{"Cache-Control", "max-age=3600"}, {"Expires", "0"}, {"Date", in(0)}}, hit},
            {"0, a future Expires", {{"Cache-Control", "max-age=0"}, {"Expires", in(3600)}, {"Date", in(0)}}, miss},
            cc("s-maxage=3600", hit),
            cc("max-age=3600, s-maxage=1", miss),
            cc("s-maxage=1, max-age=3600", miss),
            {"two lines", {{"Cache-Control", "max-age=3600"}, {"Cache-Control", "s-maxage=1"}}, miss},
            cc("max-age=1, s-maxage=3600", hit),
            {"s-maxage, a past Expires", {{"Expires", in(-10)}, {"Cache-Control", "max-age=0, s-maxage=3600"}}, hit},
            {"without Date, as a careless origin", {{"Cache-Control", "max-age=3600"}, {"Date", "foo"}}, hit}},
           survey_pause);
}

TEST(Survey, Cache_Control_of_responses) {
    Origin origin;
    Proxy proxy;
    std::pair<std::string, std::string> const etag{"ETag", "\"abcd\""};
    survey(proxy, origin,
           {cc("private, max-age=3600", miss),
            cc("no-store", miss),
            cc("No-StOrE", miss),
            {"no-store beats all", {{"Cache-Control", "max-age=10000, no-store"}, {"Expires", in(10000)}}, miss},
            {"no-cache beats all", {{"Cache-Control", "max-age=10000, no-cache"}, {"Expires", in(10000)}}, miss},
            {"No-CaChE", {{"Cache-Control", "max-age=10000, No-CaChE"}, {"Expires", in(10000)}}, miss},
            {"no-cache validates", {{"Cache-Control", "no-cache"}, etag}, validation},
            {"no-cache validates, fresh", {{"Cache-Control", "max-age=10000, no-cache"}, etag}, validation},
            {"must-revalidate, fresh", {{"Cache-Control", "max-age=10000, must-revalidate"}, etag}, hit},
            {"must-revalidate, stale", {{"Cache-Control", "max-age=2, must-revalidate"}, etag}, validation},
            {"proxy-revalidate, stale", {{"Cache-Control", "max-age=2, proxy-revalidate"}, etag}, validation},
            {"immutable, fresh", {{"Cache-Control", "max-age=10000, immutable"}, etag}, hit},
            {"immutable, stale", {{"Cache-Control", "max-age=2, immutable"}, etag}, validation},
            {"must-understand, known", {{"Cache-Control", "max-age=3600, no-store, must-understand"}}, hit},
            {"must-understand, not", {{"Cache-Control", "max-age=3600, no-store, must-understand"}}, miss, 599}},
           survey_pause);
}

TEST(Survey, Expires) {
    Origin origin;
    Proxy proxy;
    auto const three = [](std::int64_t date, std::int64_t until, std::string const& age, Second second) {
        return Behaviour{
            "Date " + std::to_string(date) + " Age " + age, {{"Date", in(date)}, {"Expires", in(until)}, {"Age", age}}, second};
    };
    survey(proxy, origin,
           {{"future", {{"Expires", in(2'592'000)}, {"Date", in(0)}}},
            {"past", {{"Expires", in(-2'592'000)}, {"Date", in(0)}}, miss},
            {"now", {{"Expires", in(0)}, {"Date", in(0)}}, miss},
            {"before a fast Date", {{"Expires", in(300)}, {"Date", in(400)}}, miss},
            {"an invalid Date", {{"Date", "foo"}, {"Expires", in(60)}}},
            {"two lines", {{"Expires", "Thu, 18 Aug 2050 02:01:18 GMT"}, {"Expires", "Thu, 18 Aug 2050 02:01:19 GMT"}}, miss},
            three(-10, 10, "25", miss),
            three(10, 20, "15", miss),
            three(-10, 100, "15", hit),
            expires("0", miss),
            expires("-1", miss),
            expires("", miss),
            expires("Tue, 19 Jan 2038 14:14:08 GMT", hit),
            expires("Sun, 21 Nov 2286 04:46:39 GMT", hit),
            expires("Thursday, 18-Aug-50 02:01:18 GMT", hit),
            expires("Thu Aug  8 02:01:18 2050", hit),
            expires("THU, 18 Aug 2050 02:01:18 GMT", hit),
            expires("Thu, 18 AUG 2050 02:01:18 GMT", hit),
            expires("Thu, 18 Aug 2050 02:01:18 gMT", hit),
            expires("Thu, 18 Aug 2050 02:01:18 UTC", miss),
            expires("Thu, 18 Aug 2050 02:01:18 AEST", miss),
            expires("Thu, 18 Aug 50 02:01:18 GMT", miss),
            expires("Thu 18 Aug 2050 02:01:18 GMT", miss),
            expires("Thu, 18  Aug  2050 02:01:18 GMT", miss),
            expires("Thu, 18-Aug-2050 02:01:18 GMT", miss),
            expires("Thu, 18 Aug 2050 02.01.18 GMT", miss),
            expires("Thu, 18 Aug 2050 2:01:18 GMT", miss)});
}

TEST(Survey, heuristic_freshness_by_status) {
    Origin origin;
    Proxy proxy(R"({"caching": {"negative_first": "5m"}})");   // heuristic lifetime of an error
    std::vector<Behaviour> behaviours;
    auto const add = [&](int status, Second second, Fields more = {}) {
        more.insert(more.end(), {{"Last-Modified", in(-86'400)}, {"Date", in(0)}});
        behaviours.push_back({std::to_string(status), std::move(more), second, status});
    };
    for (int status : {200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501}) add(status, hit);
    for (int status : {201, 202, 302, 303, 307, 400, 403, 500, 502, 503, 504, 599}) add(status, miss);
    for (int status : {201, 302, 403, 599}) add(status, hit, {{"Cache-Control", "public"}});
    survey(proxy, origin, behaviours);
}

TEST(Survey, heuristic_freshness_is_a_tenth_of_the_time_since_the_change) {
    Origin origin;
    Proxy proxy;
    std::vector<Behaviour> behaviours;
    for (int changed : {5, 10, 20, 60, 300, 600, 1200, 1800, 3600, 43'200, 86'400})
        behaviours.push_back({std::to_string(changed) + " s ago",
                              {{"Last-Modified", in(-changed)}, {"Date", in(0)}},
                              changed < 60 ? validation : hit});
    behaviours.push_back(
        {"an attachment", {{"Last-Modified", in(-100'000)}, {"Content-Disposition", "attachment; filename=a.txt"}}, hit});
    behaviours.push_back({"never with no-cache", {{"Last-Modified", in(-86'400)}, {"Cache-Control", "no-cache"}}, validation});
    behaviours.push_back({"never beside an expiry", {{"Last-Modified", in(-86'400)}, {"Expires", "0"}}, validation});
    survey(proxy, origin, behaviours, survey_pause);
}

TEST(Survey, any_final_status_is_stored_under_explicit_freshness) {
    Origin origin;
    Proxy proxy;
    std::vector<Behaviour> behaviours;
    for (int status : {200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 405, 410, 414, 499, 500, 501, 502, 503, 504, 599}) {
        auto const name = std::to_string(status);
        Fields const fresh{{"Expires", in(100'000)}, {"Last-Modified", in(0)}, {"Date", in(0)}};
        Fields const stale{{"Expires", in(-5'000)}, {"Last-Modified", in(-100'000)}, {"Date", in(0)}};
        behaviours.push_back({name + " fresh", fresh, hit, status});
        behaviours.push_back({name + " stale", stale, validation, status});
    }
    survey(proxy, origin, behaviours);
}

TEST(Survey, Cache_Control_of_requests) {
    Origin origin;
    Proxy proxy;
    auto const asks = [](std::string const& request, Fields answer, Second second) {
        return Behaviour{request, std::move(answer), second, 200, {}, {{"Cache-Control", request}}};
    };
    Fields const fresh{{"Cache-Control", "max-age=3600"}};
    Fields const lasting{{"Cache-Control", "max-age=1500"}};
    survey(proxy, origin,
           {asks("max-age=0", fresh, miss), asks("max-age=1", fresh, miss), asks("max-age=600", fresh, hit),
            asks("max-age=600", {{"Cache-Control", "max-age=3600"}, {"Age", "1800"}}, miss),
            asks("max-stale=1000", {{"Cache-Control", "max-age=1"}}, hit), asks("max-stale", {{"Cache-Control", "max-age=1"}}, hit),
            asks("max-stale=1", {{"Cache-Control", "max-age=1"}}, miss),
            asks("max-stale=1000", {{"Cache-Control", "max-age=1, must-revalidate"}}, miss),
            asks("max-stale=1000", {{"Cache-Control", "max-age=1500"}, {"Age", "2000"}}, hit),
            asks("min-fresh=2000", lasting, miss), asks("min-fresh=1000", lasting, hit),
            asks("min-fresh=1000", {{"Cache-Control", "max-age=1500"}, {"Age", "1000"}}, miss), asks("no-cache", fresh, miss),
            asks("no-cache", {{"Cache-Control", "max-age=3600"}, {"Last-Modified", in(-10'000)}}, validation),
            asks("no-cache", {{"Cache-Control", "max-age=3600"}, {"ETag", "\"abc\""}}, validation), asks("no-store", fresh, miss),
            asks("only-if-cached", fresh, hit)},
           survey_pause);
    EXPECT_EQ(get(proxy, origin, "/unseen", {{"Cache-Control", "only-if-cached"}}).status(), 504);
}

TEST(Survey, Pragma) {
    Origin origin;
    Proxy proxy;
    Fields const fresh{{"Cache-Control", "max-age=3600"}};
    survey(proxy, origin,
           {{"no-cache beside Cache-Control", fresh, hit, 200, {}, {{"Pragma", "no-cache"}}},
            {"unknown", fresh, hit, 200, {}, {{"Pragma", "unrecognised-extension"}}},
            {"in a response", {{"Cache-Control", "max-age=3600"}, {"Pragma", "no-cache"}}, hit},
            {"in a response, guessed", {{"Last-Modified", in(-10'000)}, {"Pragma", "no-cache"}}, hit},
            {"unknown, in a response", {{"Cache-Control", "max-age=3600"}, {"Pragma", "unrecognised"}}, hit}});
    EXPECT_FALSE(get(proxy, origin, "/0", {{"Pragma", "no-cache"}}).hit());
}

TEST(Survey, Authorization_and_cookies) {
    Origin origin;
    Proxy proxy;
    auto const with_user = [](Fields answer, Second second) {
        return Behaviour{answer.front().second, answer, second, 200, {{"Authorization", "FOO"}}};
    };
    survey(proxy, origin,
           {with_user({{"Expires", in(2'592'000)}}, miss),
            with_user({{"Cache-Control", "max-age=3600"}}, miss),
            with_user({{"Cache-Control", "max-age=3600, public"}}, hit),
            with_user({{"Cache-Control", "max-age=3600, must-revalidate"}}, hit),
            with_user({{"Cache-Control", "s-maxage=3600"}}, hit),
            with_user({{"Cache-Control", "max-age=3600, proxy-revalidate"}}, miss),
            with_user({{"Cache-Control", "max-age=3600, public, private"}}, miss),
            {"Set-Cookie", {{"Cache-Control", "public, max-age=3600"}, {"Set-Cookie", "a=b"}}},
            {"Cookie", {{"Cache-Control", "max-age=3600"}}, hit, 200, {}, {{"Cookie", "a=b"}}},
            {"attachment", {{"Cache-Control", "max-age=3600"}, {"Content-Disposition", "attachment; filename=a"}}}});
}

TEST(Survey, fields_are_stored_but_those_of_the_connection) {
    Origin origin;
    Proxy proxy(R"({"caching": {"store_set_cookie": true}})");
    // clang-format off
    Fields const kept{{"Test-Header", "1"},        {"X-Test-Header", "2"},
                      {"Content-Foo", "3"},        {"X-Content-Foo", "4"},
                      {"Content-Encoding", "x-5"}, {"Content-Location", "/bar"},
                      {"Content-MD5", "N7UdGUp1E+RbVvZSTy1R8g=="},
                      {"Content-Range", "x-6"},    {"Content-Security-Policy", "default-src 'self'"},
                      {"Content-Type", "text/plain;charset=utf-8"},
                      {"Clear-Site-Data", "cookies"},
                      {"ETag", "\"ghijkl\""},      {"Expires", "Mon, 11 Jan 2038 11:11:11 GMT"},
                      {"Public-Key-Pins", "7"},    {"Set-Cookie", "a=c"},
                      {"Set-Cookie2", "a=c"},      {"X-Frame-Options", "sameorigin"},
                      {"X-XSS-Protection", "1; mode=block"},
                      {"Server-Now", "1234567"},   {"WWW-Authenticate", "Basic"}};
    Fields const dropped{{"Keep-Alive", "timeout=5"},   {"Proxy-Authenticate", "Basic"},
                         {"Proxy-Authentication-Info", "1"},
                         {"Proxy-Authorization", "2"},  {"Proxy-Connection", "keep-alive"},
                         {"TE", "trailers"},            {"Trailer", "x"},
                         {"Upgrade", "foo"},            {"a", "1"}, {"b", "2"}};
    // clang-format on
    Fields all{{"Cache-Control", "max-age=3600"}, {"Connection", "a, b, something"}};
    all.insert(all.end(), kept.begin(), kept.end());
    all.insert(all.end(), dropped.begin(), dropped.end());
    origin.answer("/page", {.fields = all, .body = "x"});
    for (bool stored : {false, true}) {
        auto reply = get(proxy, origin, "/page");
        EXPECT_EQ(reply.hit(), stored);
        for (auto const& [name, value] : kept) EXPECT_EQ(reply.field(name), value) << name;
        for (auto const& [name, value] : dropped) EXPECT_FALSE(reply.has(name)) << name;
        EXPECT_FALSE(reply.has("Connection"));
    }
}

TEST(Survey, more_bytes_than_Content_Length_says_belong_to_nobody) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page",
                  {.fields = {{"Cache-Control", "max-age=3600"}, {"Content-Length", "10"}}, .body = "0123456789 and more"});
    for (bool stored : {false, true}) {
        auto reply = get(proxy, origin, "/page");
        EXPECT_EQ(reply.body(), "0123456789");
        EXPECT_EQ(reply.field("Content-Length"), "10");
        EXPECT_EQ(reply.hit(), stored);
    }
}

TEST(Survey, fields_that_no_cache_or_private_name_are_not_replayed) {
    Origin origin;
    Proxy proxy;
    for (std::string directive : {"no-cache", "private"}) {
        auto const path = "/" + directive;
        Fields fields{{"Cache-Control", directive + "=\"a, b\""}, {"Cache-Control", "max-age=3600"}};
        fields.insert(fields.end(), {{"a", "1"}, {"b", "2"}, {"c", "3"}});
        origin.answer(path, {.fields = fields, .body = "x"});
        auto const large = pattern(300'000);
        origin.answer(path + "/large", {.fields = fields, .body = large, .delimited = Delimited::by_chunks});
        for (auto const& [target, body] : {std::pair{path, std::string("x")}, std::pair{path + "/large", large}}) {
            auto first = get(proxy, origin, target);
            EXPECT_EQ(first.field("a"), "1") << target;
            EXPECT_EQ(first.body(), body) << target;
            auto second = get(proxy, origin, target);
            EXPECT_TRUE(second.hit()) << target;
            EXPECT_FALSE(second.has("a") || second.has("b")) << target;
            EXPECT_EQ(second.field("c"), "3") << target;
            EXPECT_EQ(second.body(), body) << target;
        }
    }
}

TEST(Survey, an_older_answer_stays_fresh_beside_one_that_is_not_stored) {
    Origin origin;
    Proxy proxy;
    for (std::string later : {"no-store", "no-store, max-age=0"}) {
        auto const path = "/" + std::to_string(later.size());
        origin.answer(path, {{.fields = {{"Cache-Control", "max-age=10000"}, {"A", "1"}}, .body = "x"},
                             {.fields = {{"Cache-Control", later}, {"A", "2"}}, .body = "x"}});
        for (int round = 0; round < 3; ++round) EXPECT_EQ(get(proxy, origin, path).field("A"), "1") << path;
    }
}

TEST(Survey, Age_is_sent_and_Date_and_Expires_are_left_alone) {
    Origin origin;
    Proxy proxy;
    auto const date = in(0);
    auto const until = in(2'592'000);
    origin.answer("/expires", {.fields = {{"Date", date}, {"Expires", until}, {"Age", "30"}}, .body = "x"});
    origin.answer("/max-age", {.fields = {{"Date", date}, {"Cache-Control", "max-age=600"}, {"Age", "30"}}, .body = "x"});
    // Date lies some seconds ahead, because a second that ends meanwhile would count as an age.
    auto const ahead = in(5);
    origin.answer("/none", {.fields = {{"Date", ahead}, {"Cache-Control", "max-age=600"}}, .body = "x"});
    for (std::string path : {"/expires", "/max-age"}) EXPECT_EQ(get(proxy, origin, path).age(), 30) << path;
    EXPECT_FALSE(get(proxy, origin, "/none").age());
    std::this_thread::sleep_for(survey_pause);
    for (std::string path : {"/expires", "/max-age", "/none"}) {
        auto reply = get(proxy, origin, path);
        EXPECT_TRUE(reply.hit()) << path;
        EXPECT_GE(reply.age().value_or(0), path == "/none" ? 3 : 33) << path;
        EXPECT_EQ(reply.field("Date"), path == "/none" ? ahead : date) << path;
    }
    EXPECT_EQ(get(proxy, origin, "/expires").field("Expires"), until);
}

TEST(Survey, an_answer_that_took_long_has_an_Age) {
    Origin origin;
    Proxy proxy;
    auto const asked = in(0);
    origin.by_hand("/slow", [&](Hand& hand) {
        std::this_thread::sleep_for(1'200ms);
        hand.answer(fresh("x", 3600, {{"Date", asked}}));
    });
    EXPECT_GE(get(proxy, origin, "/slow").age().value_or(0), 1);
}

TEST(Survey, an_answer_without_Date_gets_one_and_is_fresh_from_then_on) {
    Origin origin;
    Proxy proxy;
    for (Fields const& lifetime : {Fields{{"Cache-Control", "max-age=600"}}, Fields{{"Expires", in(600)}}}) {
        auto const path = "/" + lifetime.front().first;
        origin.answer(path, {.fields = lifetime, .body = "x", .dated = false});
        auto first = get(proxy, origin, path);
        EXPECT_EQ(first.head().all("Date").size(), 1u) << path;
        std::this_thread::sleep_for(1'100ms);
        auto second = get(proxy, origin, path);
        EXPECT_TRUE(second.hit()) << path;
        EXPECT_EQ(second.field("Date"), first.field("Date")) << path;
        EXPECT_GE(second.age().value_or(0), 1) << path;
    }
}

TEST(Survey, a_query_is_part_of_the_URL) {
    Origin origin;
    Proxy proxy;
    for (std::string query : {"?test=1", "?test=2"}) origin.answer("/page" + query, fresh(query));
    get(proxy, origin, "/page?test=1").body();
    EXPECT_FALSE(get(proxy, origin, "/page?test=2").hit());
    EXPECT_TRUE(get(proxy, origin, "/page?test=1").hit());
}

TEST(Survey, interim_answers_are_passed_on_and_the_final_one_is_stored) {
    Origin origin;
    Proxy proxy;
    std::string const final_answer = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 1\r\n\r\nx";
    std::string const hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-My-Header: test\r\n\r\n";
    origin.raw("/102", "HTTP/1.1 102 Processing\r\n\r\n" + final_answer);
    origin.raw("/103", hints + final_answer);
    for (int status : {102, 103}) {
        auto const path = "/" + std::to_string(status);
        auto reply = get(proxy, origin, path);
        EXPECT_EQ(reply.body(), "x");
        ASSERT_EQ(reply.interim().size(), 1u) << path;
        EXPECT_EQ(reply.interim().front().status(), status);
        EXPECT_EQ(reply.interim().front().field("X-My-Header"), status == 103 ? "test" : "");
        auto again = get(proxy, origin, path);
        EXPECT_TRUE(again.hit()) << path;
        EXPECT_TRUE(again.interim().empty()) << path;
    }
}

TEST(Survey, trailers_reach_the_client_and_do_not_become_fields) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", {.fields = {{"Cache-Control", "max-age=600"}, {"Trailer", "X-Sum"}},
                            .body = "x",
                            .delimited = Delimited::by_chunks,
                            .trailers = {{"X-Sum", "1"}, {"Cache-Control", "no-store"}}});
    EXPECT_EQ(get(proxy, origin, "/page").body(), "x");
    auto again = get(proxy, origin, "/page");
    EXPECT_TRUE(again.hit());
    EXPECT_FALSE(again.has("X-Sum"));
}

namespace {

Behaviour cdn(std::string value, Fields more, Second second) {
    Behaviour behaviour{"CDN-Cache-Control: " + value, {{"CDN-Cache-Control", value}}, second};
    behaviour.answer.insert(behaviour.answer.end(), more.begin(), more.end());
    return behaviour;
}

}   // namespace

TEST(Survey, targeted_fields_count_for_a_proxy_that_was_told_to_heed_them) {
    Origin origin;
    Proxy proxy(
        Proxy::Setup{.patch = R"({"caching": {"targeted_cache_control": ["CDN-Cache-Control"]}})", .accelerates = origin.url()});
    Fields const short_one{{"Cache-Control", "max-age=1"}};
    Fields const long_one{{"Cache-Control", "max-age=3600"}};
    Fields const stored_not{{"Cache-Control", "no-store"}};
    std::vector<Behaviour> const behaviours{
        cdn("max-age=3600", {}, hit),
        cdn("max-age=2147483648", {}, hit),
        cdn("max-age=99999999999", {}, hit),
        cdn("max-age=3600", {{"Age", "7200"}}, miss),
        cdn("max-age =100", short_one, miss),
        cdn("max-age= 100", short_one, miss),
        cdn("max-age=0", {}, miss),
        cdn("foobar, max-age=3600", {}, hit),
        cdn("MaX-aGe=3600", {}, miss),
        cdn("max-age=3600", {{"Expires", in(-10'000)}}, hit),
        cdn("max-age=3600", {{"Expires", "0"}}, hit),
        cdn("max-age=0", {{"Expires", in(10'000)}}, miss),
        cdn("max-age=3600", short_one, hit),
        cdn("max-age=1", long_one, miss),
        cdn("private", long_one, miss),
        cdn("no-cache", long_one, miss),
        cdn("no-store", long_one, miss),
        cdn("max-age=10000", stored_not, hit),
        cdn("max-age=10000, &&&&&", stored_not, miss),
        cdn("max-age=\"10000\"", stored_not, miss),
        cdn("foo", long_one, miss),
    };
    Client accelerated("127.0.0.1", proxy.accelerator());
    Client forward(proxy, origin);
    std::vector<std::pair<Client*, std::string>> const ways{{&accelerated, "/accelerated/"}, {&forward, "/forward/"}};
    for (auto const& [client, folder] : ways)
        for (std::size_t i = 0; i < behaviours.size(); ++i) {
            auto const path = folder + std::to_string(i);
            play(origin, path, behaviours[i]);
            auto reply = client->get(path);
            EXPECT_EQ(reply.body(), "first") << folder << behaviours[i].name;
            EXPECT_EQ(reply.field("CDN-Cache-Control"), behaviours[i].answer.front().second);
        }
    std::this_thread::sleep_for(survey_pause);
    for (auto const& [client, folder] : ways)
        for (std::size_t i = 0; i < behaviours.size(); ++i) {
            auto const path = folder + std::to_string(i);
            client->get(path).body();
            EXPECT_EQ(what_became_of(origin, path, 1), behaviours[i].second) << folder << behaviours[i].name;
        }
}

TEST(Survey, targeted_fields_say_nothing_to_a_proxy_that_was_not_told) {
    Origin origin;
    Proxy proxy;
    Fields const not_at_all{{"Cache-Control", "max-age=60"}, {"CDN-Cache-Control", "no-store"}};
    origin.answer("/long", {.fields = {{"CDN-Cache-Control", "max-age=3600"}}, .body = "x"});
    origin.answer("/not", {.fields = not_at_all, .body = "x"});
    for (auto const& [path, stored] : {std::pair{"/long", false}, std::pair{"/not", true}}) {
        get(proxy, origin, path).body();
        EXPECT_EQ(get(proxy, origin, path).hit(), stored) << path;
    }
}

}   // namespace garner::test
