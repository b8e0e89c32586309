// garner explain: predicts the outcome of the next request with its reason, and changes nothing.
#include "story/scene.hpp"
#include "support/fake_dns.hpp"

namespace garner::test {

namespace {

using Words = std::vector<std::string>;

Finished explained_in_words(Proxy const& proxy, std::string const& url, Words const& more = {}) {
    Words words{garner_binary(), "explain", url, "--config", proxy.dir().path("garner.json").string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
}

nlohmann::json explained(Proxy const& proxy, std::string const& url, Words more = {}) {
    more.push_back("--json");
    auto const finished = explained_in_words(proxy, url, more);
    EXPECT_EQ(finished.code, 0) << finished.errors;
    return nlohmann::json::parse(finished.output);
}

Answer with(Fields fields, std::string body = "body") { return {.fields = std::move(fields), .body = std::move(body)}; }

}   // namespace

TEST(Explain, a_miss_that_becomes_a_hit_with_its_sum) {
    Origin origin;
    origin.answer("/page", with({{"Cache-Control", "max-age=1000"}, {"Age", "7"}}));
    Proxy proxy;
    auto const url = origin.url("/page");
    auto told = explained(proxy, url);
    EXPECT_EQ(told["outcome"], "miss");
    EXPECT_EQ(told["why"], "not stored");
    EXPECT_TRUE(told["stored"].is_null());
    EXPECT_EQ(origin.requests("/page"), 0u) << "nothing is fetched";
    EXPECT_THAT(told["access"]["rule"].get<std::string>(), StartsWith("access[0]: allow {\"destination\""));
    get(proxy, origin, "/page").body();

    told = explained(proxy, url);
    EXPECT_EQ(told["outcome"], "hit") << told;
    auto const& fresh = told["freshness"];
    EXPECT_EQ(fresh["age_field_seconds"], 7);
    EXPECT_EQ(fresh["lifetime_seconds"], 1000);
    EXPECT_EQ(fresh["lifetime_from"], "max-age");
    EXPECT_EQ(fresh["current_age_seconds"].get<int>(),
              fresh["corrected_initial_age_seconds"].get<int>() + fresh["resident_seconds"].get<int>());
    EXPECT_EQ(fresh["ttl_seconds"].get<int>(), 1000 - fresh["current_age_seconds"].get<int>());
    EXPECT_EQ(told["stored"]["tier"], "memory");
    EXPECT_EQ(told["stored"]["body_bytes"], 4);
    EXPECT_GT(told["stored"]["sequence"], 0);
    EXPECT_EQ(told["stored"]["from_address"], "127.0.0.1");
    EXPECT_TRUE(get(proxy, origin, "/page").hit());

    auto const words = explained_in_words(proxy, url).output;
    EXPECT_THAT(words, HasSubstr("verdict     hit: fresh"));
    EXPECT_THAT(words, HasSubstr("lifetime    1000 s (16 min 40 s) from max-age"));
    EXPECT_THAT(words, HasSubstr("1000 s - "));
}

TEST(Explain, lifetimes_from_everywhere) {
    Origin origin;
    origin.answer("/expires", with({{"Date", "Sun, 06 Nov 2033 08:00:00 GMT"}, {"Expires", "Sun, 06 Nov 2033 08:08:20 GMT"}}));
    origin.answer("/guessed",
                  with({{"Date", "Sun, 06 Nov 2033 10:46:40 GMT"}, {"Last-Modified", "Sun, 06 Nov 2033 08:00:00 GMT"}}));
    origin.answer("/raised", with({{"Cache-Control", "max-age=1"}}));
    Proxy proxy(R"({"caching": {"rules": [{"url_contains": ["/raised"], "ttl_min": "1h"}]}})");
    for (auto path : {"/expires", "/guessed", "/raised"}) get(proxy, origin, path).body();
    auto told = explained(proxy, origin.url("/expires"));
    EXPECT_EQ(told["freshness"]["lifetime_from"], "Expires minus Date");
    EXPECT_EQ(told["freshness"]["lifetime_seconds"], 500);
    told = explained(proxy, origin.url("/guessed"));
    EXPECT_EQ(told["freshness"]["lifetime_seconds"], 1000);
    EXPECT_EQ(told["freshness"]["heuristic_factor"], 0.1);
    told = explained(proxy, origin.url("/raised"));
    EXPECT_EQ(told["freshness"]["lifetime_from"], "rule: ttl_min");
    EXPECT_EQ(told["caching_rules"][0]["name"], "caching.rules[0]");
    EXPECT_EQ(told["caching_rules"][0]["ttl_min_seconds"], 3600);
}

TEST(Explain, what_is_stale_and_for_what_it_may_serve_yet) {
    Origin origin;
    origin.answer("/must", with({{"Cache-Control", "max-age=1, must-revalidate"}, {"Age", "9"}, {"ETag", R"("a")"}}));
    origin.answer("/while", with({{"Cache-Control", "max-age=1, stale-while-revalidate=600"}, {"Age", "9"}}));
    origin.answer("/old", with({{"Cache-Control", "max-age=1"}, {"Age", "9"}, {"ETag", R"("a")"}}));
    Proxy proxy(R"({"workers": 1})");
    for (auto path : {"/must", "/while", "/old"}) get(proxy, origin, path).body();
    auto told = explained(proxy, origin.url("/must"));
    EXPECT_EQ(told["outcome"], "revalidate");
    EXPECT_EQ(told["why"], "stale, must-revalidate");
    EXPECT_EQ(told["freshness"]["stale_if_unreachable_seconds"], 0);
    EXPECT_TRUE(told["freshness"]["has_validator"]);
    EXPECT_EQ(get(proxy, origin, "/must").detail(), "stale, must-revalidate") << "the response has the same reason";
    EXPECT_EQ(proxy.logged("/must", 2).all["reason"], "stale, must-revalidate");

    told = explained(proxy, origin.url("/while"));
    EXPECT_EQ(told["outcome"], "stale");
    EXPECT_EQ(told["why"], "stale-while-revalidate");
    EXPECT_EQ(told["freshness"]["stale_while_revalidate_seconds"], 600);
    EXPECT_EQ(origin.requests("/while"), 1u) << "explain starts no revalidation";
    EXPECT_EQ(explained(proxy, origin.url("/old"), {"-H", "Cache-Control: max-stale"})["why"], "max-stale in request");
    auto const taken = get(proxy, origin, "/old", {{"Cache-Control", "max-stale"}});
    EXPECT_EQ(taken.detail(), "max-stale in request");
    EXPECT_EQ(proxy.stats()["not_fresh"]["stale, must-revalidate"], 1);
    EXPECT_EQ(proxy.stats()["stale_served"]["max-stale in request"], 1);
}

TEST(Explain, which_variant_the_request_selects) {
    Origin origin;
    origin.answer("/page", with({{"Cache-Control", "max-age=1000"}, {"Vary", "Accept-Language"}}));
    Proxy proxy;
    get(proxy, origin, "/page", {{"Accept-Language", "de"}}).body();
    get(proxy, origin, "/page", {{"Accept-Language", "fr"}}).body();
    auto told = explained(proxy, origin.url("/page"), {"-H", "Accept-Language: FR"});
    EXPECT_EQ(told["outcome"], "hit");
    EXPECT_EQ(told["vary"]["fields"], "accept-language");
    EXPECT_EQ(told["vary"]["request"][0], "accept-language: fr");
    EXPECT_EQ(told["vary"]["stored_variants"].size(), 2u);
    told = explained(proxy, origin.url("/page"), {"-H", "Accept-Language: en"});
    EXPECT_EQ(told["outcome"], "miss");
    EXPECT_EQ(told["why"], "no stored variant matches this request");
    EXPECT_THAT(explained_in_words(proxy, origin.url("/page")).output, HasSubstr("stored: accept-language: de"));
}

TEST(Explain, who_is_denied_and_by_which_rule) {
    Origin origin;
    FakeDns dns;
    Proxy proxy(R"({"dns": {"servers": [")" + dns.server() + R"("]},
                    "access": [{"deny": {"url_contains": ["/secret"]}},
                               {"allow": {"destination": ["10.0.0.0/8"], "port": [81]}},
                               {"allow": {"source": ["127.0.0.0/8"]}}]})");
    auto told = explained(proxy, "http://example.com/secret");
    EXPECT_EQ(told["outcome"], "denied");
    EXPECT_EQ(told["access"]["rule"], R"(access[0]: deny {"url_contains":["/secret"]})");
    EXPECT_EQ(get(proxy, origin, "/secret").status(), 403);
    told = explained(proxy, origin.url("/page"));
    EXPECT_EQ(told["outcome"], "denied") << "no rule opens loopback: " << told;
    EXPECT_EQ(get(proxy, origin, "/page").status(), 403);
    EXPECT_EQ(explained(proxy, "http://example.com/", {"--client", "192.0.2.1"})["access"]["rule"],
              "default: clients on loopback only");
    told = nlohmann::json::parse(Client("127.0.0.1", proxy.admin()).get("/explain?url=http://some.example:81/").body());
    EXPECT_EQ(told["undecided"], true) << "DNS is queried only if the request has the field";
    EXPECT_EQ(told["access"]["verdict"], "undecided");
    EXPECT_EQ(told["outcome"], "miss");
    EXPECT_EQ(explained(proxy, "https://example.com:8443/", {"-X", "CONNECT"})["access"]["closed"],
              "CONNECT to a port other than 443");
    auto const browsers = explained(proxy, "https://192.0.2.7/secret");
    EXPECT_EQ(browsers["request"]["method"], "CONNECT");
    EXPECT_EQ(browsers["outcome"], "tunnelled") << "the rule for /secret sees no path";
    EXPECT_EQ(browsers["why"], "the contents of the tunnel are neither inspected nor cached");
    EXPECT_EQ(explained(proxy, "192.0.2.7:443", {"-X", "CONNECT"})["outcome"], "tunnelled");
    EXPECT_EQ(explained(proxy, "https://192.0.2.7/secret", {"-X", "GET"})["outcome"], "denied");
}

TEST(Explain, what_goes_past_the_cache) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(R"({"caching": {"never": ["/cgi-bin/"]}})");
    get(proxy, origin, "/page").body();
    auto told = explained(proxy, origin.url("/page"), {"--method", "POST"});
    EXPECT_EQ(told["outcome"], "passed");
    EXPECT_EQ(told["why"], "method");
    EXPECT_EQ(explained(proxy, origin.url("/cgi-bin/x"))["why"], "caching.never");
    EXPECT_EQ(explained(proxy, origin.url("/page"), {"-H", "Cache-Control: no-store"})["why"], "no-store in request");
    EXPECT_EQ(explained(proxy, origin.url("/page"), {"-H", "Authorization: x"})["why"], "authorization");
    EXPECT_EQ(explained(proxy, origin.url("/none"), {"-H", "Cache-Control: only-if-cached"})["outcome"], "refused");
}

TEST(Explain, a_page_of_the_proxy_itself) {
    Proxy proxy(R"({"refusals": {"page": "garner.internal"}})");
    auto const told = explained(proxy, "http://garner.internal/");
    EXPECT_EQ(told["outcome"], "own");
    EXPECT_THAT(explained_in_words(proxy, "http://garner.internal/").output, HasSubstr("a page of this proxy"));
}

TEST(Explain, a_lifetime_that_an_invalidation_has_ended) {
    Origin origin;
    origin.answer("/page", fresh("x", 1'000, {{"Surrogate-Key", "t"}}));
    Proxy proxy;
    get(proxy, origin, "/page").body();
    EXPECT_TRUE(explained(proxy, origin.url("/page"))["freshness"]["ended_by"].is_null());
    auto const place = "admin.address=127.0.0.1:" + std::to_string(proxy.admin());
    EXPECT_EQ(run({garner_binary(), "purge", "--tag", "t", "--soft", "--set", place}).code, 0);
    EXPECT_EQ(explained(proxy, origin.url("/page"))["freshness"]["ended_by"], "invalidated by tag t");
    EXPECT_THAT(
        explained_in_words(proxy, origin.url("/page")).output,
        AllOf(HasSubstr("1000 s (16 min 40 s) from max-age"), HasSubstr("ended "), HasSubstr(" ago: invalidated by tag t")));
}

TEST(Explain, what_is_not_stored_stands_in_the_answer_the_log_and_the_figures) {
    Origin origin;
    struct Case {
        std::string path;
        Answer answer;
        std::string reason;
    };
    Case const cases[] = {
        {"/private", with({{"Cache-Control", "private, max-age=9"}}), "private"},
        {"/no-store", with({{"Cache-Control", "no-store"}}), "no-store in response"},
        {"/star", with({{"Cache-Control", "max-age=9"}, {"Vary", "*"}}), "Vary: *"},
        {"/ill-formed", with({{"Cache-Control", "max-age=9"}, {"Vary", "a b"}}), "malformed Vary"},
        {"/cookie", with({{"Set-Cookie", "a=b"}, {"ETag", R"("a")"}}), "Set-Cookie"},
        {"/nothing", with({}), "no freshness, no validator"},
        {"/429", {.status = 429, .fields = {{"Cache-Control", "max-age=9"}}, .body = "x"}, "status"},
        {"/403", {.status = 403, .body = "x"}, "no freshness for this status"},
        {"/never", with({{"Cache-Control", "max-age=9"}}), "rule: never"},
        {"/large", with({{"Cache-Control", "max-age=9"}}, std::string(300'000, 'x')), "larger than object_max"},
    };
    Proxy proxy(R"({"memory": {"object_max": "256 KiB"}, "caching": {"rules": [{"url_contains": ["/never"], "never": true}]}})");
    for (auto const& c : cases) {
        origin.answer(c.path, c.answer);
        auto reply = get(proxy, origin, c.path);
        EXPECT_EQ(reply.detail(), c.reason);
        reply.body();
        EXPECT_EQ(proxy.logged(c.path).all["reason"], c.reason);
        EXPECT_EQ(proxy.stats()["not_stored"][c.reason], 1) << c.reason;
        EXPECT_THAT(proxy.metrics(), HasSubstr("garner_not_stored_total{reason=\"" + c.reason + "\"} 1\n"));
    }
    auto const told = explained(proxy, origin.url("/private"));
    EXPECT_EQ(told["outcome"], "miss");
    EXPECT_EQ(told["why"], "not stored; the last response was uncacheable: private");
    EXPECT_EQ(told["not_shared_reason"], "private");
    EXPECT_GT(told["not_shared_seconds"], 100);
}

TEST(Explain, parts_that_are_stored_and_what_is_asked_for_beside_them) {
    Origin origin;
    std::string const whole(10'000, 'x');
    origin.by_hand("/film", [&](Hand& hand) {
        auto const range = hand.request().head.field("Range");
        std::size_t first = 0;
        std::size_t last = whole.size() - 1;
        std::sscanf(range.c_str(), "bytes=%zu-%zu", &first, &last);
        auto const place = std::to_string(first) + "-" + std::to_string(last);
        Fields const fields{{"ETag", R"("v1")"}, {"Cache-Control", "max-age=600"}, {"Content-Range", "bytes " + place + "/10000"}};
        hand.answer({.status = 206, .fields = fields, .body = whole.substr(first, last - first + 1)});
    });
    Proxy proxy;
    get(proxy, origin, "/film", {{"Range", "bytes=0-9"}}).body();
    auto const url = origin.url("/film");
    auto told = explained(proxy, url);
    EXPECT_EQ(told["outcome"], "miss");
    EXPECT_EQ(told["why"], "only parts of the object are stored");
    EXPECT_EQ(told["parts"]["length_bytes"], 10'000);
    EXPECT_EQ(told["parts"]["stored_ranges"], nlohmann::json::parse(R"([{"first": 0, "last": 9}])"));
    EXPECT_EQ(told["parts"]["asks"], "bytes=10-");
    auto words = explained_in_words(proxy, url).output;
    EXPECT_THAT(words, HasSubstr("parts       bytes 0-9 of 10000 are stored"));
    EXPECT_THAT(words, HasSubstr("the origin is asked for the rest: bytes=10-"));

    told = explained(proxy, url, {"-H", "Range: bytes=2-4"});
    EXPECT_EQ(told["outcome"], "hit");
    EXPECT_EQ(told["status"], 206);
    EXPECT_EQ(told["stored"]["body_bytes"], 10) << "the stored part";
    told = explained(proxy, url, {"-H", "Range: bytes=5-14"});
    EXPECT_EQ(told["outcome"], "miss");
    EXPECT_EQ(told["why"], "the range is only partly stored");
    EXPECT_TRUE(told["parts"]["asks"].is_null()) << "the client's range is forwarded unchanged";
    EXPECT_EQ(origin.requests("/film"), 1u);

    EXPECT_EQ(get(proxy, origin, "/film").body(), whole);
    EXPECT_EQ(origin.last("/film").head.field("Range"), "bytes=10-");
    EXPECT_TRUE(explained(proxy, url)["parts"].is_null());
}

TEST(Explain, with_what_status_the_store_answers) {
    Origin origin;
    origin.answer("/page", with({{"Cache-Control", "max-age=1000"}, {"ETag", R"("a")"}}));
    Proxy proxy;
    get(proxy, origin, "/page").body();
    auto const url = origin.url("/page");
    EXPECT_EQ(explained(proxy, url)["status"], 200);
    EXPECT_EQ(explained(proxy, url, {"-H", R"(If-None-Match: "a")"})["status"], 304);
    EXPECT_EQ(explained(proxy, url, {"-H", R"(If-None-Match: "b")"})["status"], 200);
    EXPECT_EQ(explained(proxy, url, {"-H", "Range: bytes=0-1"})["status"], 206);
    EXPECT_EQ(explained(proxy, url, {"-H", "Range: bytes=9-"})["status"], 416);
    EXPECT_TRUE(explained(proxy, origin.url("/else"))["status"].is_null());
    EXPECT_EQ(explained(proxy, origin.url("/else"), {"-H", "Cache-Control: only-if-cached"})["status"], 504);
    EXPECT_THAT(explained_in_words(proxy, url, {"-H", "Range: bytes=0-1"}).output, HasSubstr("served from the cache; status 206"));
}

TEST(Explain, the_rule_that_keeps_it_from_being_stored) {
    Origin origin;
    origin.answer("/never", fresh("x"));
    Proxy proxy(R"({"caching": {"rules": [{"url_contains": ["/but"], "never": false},
                                          {"url_contains": ["/never"], "never": true, "default_ttl": "10s"}]}})");
    get(proxy, origin, "/never").body();
    EXPECT_EQ(explained(proxy, origin.url("/never"))["why"], "not stored: caching.rules[1] (never)");
    EXPECT_EQ(explained(proxy, origin.url("/never/but"))["why"], "not stored");
    auto const words = explained_in_words(proxy, origin.url("/never")).output;
    EXPECT_THAT(words, HasSubstr("caching.rules[1]: never true, default_ttl 10s\n"));
}

TEST(Explain, a_name_that_could_not_be_resolved_lately) {
    FakeDns dns;
    Proxy proxy(R"({"workers": 1, "dns": {"servers": [")" + dns.server() + R"("]}})");
    auto const url = "http://Nobody.example/page";
    // A page of another site can send this request, so it must not cause a DNS query.
    auto const asked = Client("127.0.0.1", proxy.admin()).get("/explain?url=http%3A%2F%2Fnobody.example%2Fpage").body();
    EXPECT_EQ(nlohmann::json::parse(asked)["outcome"], "miss");
    EXPECT_EQ(dns.queries("nobody.example").udp, 0);
    auto const told = explained(proxy, url);
    EXPECT_EQ(told["outcome"], "failed");
    EXPECT_EQ(told["status"], 502);
    EXPECT_EQ(told["why"], "the name could not be resolved: no such host");
    EXPECT_EQ(told["name_failure"]["reason"], "no such host");
    EXPECT_THAT(told["name_failure"]["left_seconds"].get<int>(), AnyOf(4, 5));
    EXPECT_EQ(explained(proxy, url, {"-H", "Cache-Control: no-cache"})["outcome"], "miss") << "a reload asks DNS again";
    EXPECT_THAT(explained_in_words(proxy, url).output,
                HasSubstr("name        not resolved: no such host; the failure is cached for "));
}

TEST(Explain, a_name_that_leads_to_a_closed_address) {
    FakeDns dns;
    dns.set("inner.example", {.v4 = {"127.0.0.1"}});
    dns.set("outer.example", {.v4 = {"192.0.2.7"}});
    dns.set("both.example", {.v4 = {"127.0.0.1", "192.0.2.7"}});
    Proxy proxy(R"({"workers": 1, "dns": {"servers": [")" + dns.server() + R"("]},
                    "access": [{"deny": {"destination": ["192.0.2.0/24"], "port": [81]}}, {"allow": {"source": ["127.0.0.0/8"]}}]})");
    for (auto const* url : {"http://inner.example/page", "https://inner.example/"}) {
        auto const told = explained(proxy, url);
        EXPECT_EQ(told["outcome"], "denied") << told;
        EXPECT_EQ(told["status"], 403);
        EXPECT_EQ(told["undecided"], false);
        EXPECT_EQ(told["access"]["of_connection"]["address"], "127.0.0.1");
        EXPECT_THAT(told["why"].get<std::string>(), StartsWith("connecting to the origin at 127.0.0.1: "));
    }
    EXPECT_EQ(Client(proxy).get("http://inner.example/page").status(), 403) << "as explain said";
    EXPECT_THAT(explained_in_words(proxy, "http://inner.example/page").output, HasSubstr("connecting to 127.0.0.1: denied"));
    EXPECT_EQ(explained(proxy, "http://outer.example/page")["outcome"], "miss");
    EXPECT_EQ(explained(proxy, "http://both.example/page")["outcome"], "miss") << "one address is allowed";
    EXPECT_EQ(explained(proxy, "http://outer.example:81/page")["outcome"], "denied") << "the rule names the destination";
}

TEST(Explain, a_failure_that_is_remembered) {
    Origin origin;
    origin.raw("/page", "");
    Proxy proxy;
    get(proxy, origin, "/page").body();
    auto told = explained(proxy, origin.url("/page"));
    EXPECT_EQ(told["outcome"], "negative");
    EXPECT_EQ(told["failure"]["status"], 502);
    EXPECT_EQ(told["failure"]["reason"], "The origin closed the connection without a response.");
    EXPECT_THAT(told["failure"]["left_seconds"].get<int>(), AnyOf(2, 3));
    EXPECT_EQ(get(proxy, origin, "/page").detail(), "negative");
    EXPECT_EQ(explained(proxy, origin.url("/page"), {"-H", "Cache-Control: no-cache"})["outcome"], "miss");
    EXPECT_EQ(get(proxy, origin, "/page").detail(), "negative") << "explaining a reload removes no negative entry";
}

TEST(Explain, what_is_being_fetched_and_who_waits_for_it) {
    Origin origin;
    auto held = origin.hold("/page");
    Proxy proxy;
    Client first(proxy, origin), second(proxy, origin);
    auto a = first.get("/page");
    held.arrived();
    auto told = explained(proxy, origin.url("/page"));
    EXPECT_EQ(told["outcome"], "collapsed");
    EXPECT_EQ(told["fetches"][0]["followers"], 0);
    auto b = second.get("/page");
    for (int i = 0; i < 100 && told["fetches"][0]["followers"] != 1; ++i) {
        pause_for(20ms);
        told = explained(proxy, origin.url("/page"));
    }
    EXPECT_EQ(told["fetches"][0]["followers"], 1);
    EXPECT_EQ(told["fetches"][0]["phase"], "waiting for the head");
    held.release(fresh("x"));
    EXPECT_EQ(a.body(), "x");
    EXPECT_EQ(b.body(), "x");
    EXPECT_EQ(origin.requests("/page"), 1u);
    EXPECT_EQ(explained(proxy, origin.url("/page"))["outcome"], "hit");
}

TEST(Explain, an_accelerator_has_its_own_part_of_the_cache) {
    Origin origin;
    origin.answer("/page", fresh("x"));
    Proxy proxy(Proxy::Setup{.accelerates = origin.url()});
    Client client("127.0.0.1", proxy.accelerator());
    client.get("/page").body();
    EXPECT_EQ(explained(proxy, origin.url("/page"))["outcome"], "miss");
    auto told = explained(proxy, origin.url("/page"), {"--accelerator"});
    EXPECT_EQ(told["outcome"], "hit");
    EXPECT_EQ(told["listener"]["kind"], "accelerator");
    auto const own = "http://127.0.0.1:" + std::to_string(proxy.accelerator()) + "/page";
    EXPECT_EQ(explained(proxy, own, {"--accelerator"})["outcome"], "hit");
    auto const other = explained_in_words(proxy, "http://example.com/", {"--accelerator"});
    EXPECT_EQ(other.code, 1);
    EXPECT_THAT(other.errors, HasSubstr("no accelerator has the origin of this URL"));
}

TEST(Explain, wrong_questions_are_told_so) {
    Proxy proxy;
    auto const url = "http://example.com/";
    EXPECT_EQ(explained_in_words(proxy, "nonsense").code, 2);
    auto const field = explained_in_words(proxy, url, {"-H", "no colon"});
    EXPECT_EQ(field.code, 2);
    EXPECT_THAT(field.errors, HasSubstr("is not a field like"));
    EXPECT_EQ(explained_in_words(proxy, url, {"-X", "G ET"}).code, 2);
    EXPECT_EQ(explained_in_words(proxy, url, {"--client", "me"}).code, 2);
    auto const framing = explained_in_words(proxy, url, {"-H", "Content-Length: -1"});
    EXPECT_EQ(framing.code, 1);
    EXPECT_THAT(framing.errors, HasSubstr("would reject this request"));
    EXPECT_EQ(explained_in_words(proxy, url, {"-H", "Transfer-Encoding: chunked", "-X", "GET"}).code, 0);
    Client admin("127.0.0.1", proxy.admin());
    EXPECT_EQ(admin.get("/explain").status(), 400);
    EXPECT_EQ(admin.get("/explain?url=http%3A%2F%2Fexample.com%2F").status(), 200);
    EXPECT_EQ(admin.get("/explain?url=http%3A%2F%2Fexample.com%2F&field=a%0d%0ab").status(), 400);
    EXPECT_EQ(admin.get("/explain?url=http%3A%2F%2Fexample.com%2F&client=x").status(), 400);
    proxy.stop();
    auto const nobody = explained_in_words(proxy, url);
    EXPECT_EQ(nobody.code, 1);
    EXPECT_THAT(nobody.errors, HasSubstr("no Garner replies at"));
}

}   // namespace garner::test
