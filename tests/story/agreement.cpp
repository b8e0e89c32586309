// garner explain against the proxy itself: its prediction must equal the outcome of the request. Random requests, many cache
// states, several configurations.
#include <random>

#include "story/scene.hpp"

namespace garner::test {

namespace {

using Json = nlohmann::json;

/// A cache state of a URL, set by the origin's responses; its path is "/KIND/round".
struct Kind {
    char const* name;
    Answer answer;
    Fields asked_first = {};   // fields of the request that brings it into the cache
    bool then_fails = false;   // later requests get no response
};

Answer tells(Fields fields, int status = 200) { return {.status = status, .fields = std::move(fields), .body = "0123456789"}; }

std::vector<Kind> const& kinds() {
    // clang-format off
    static std::vector<Kind> const all{
        {"fresh", tells({{"Cache-Control", "max-age=600"}, {"ETag", "\"v1\""}})},
        {"plain", tells({{"Cache-Control", "max-age=600"}})},
        {"stale", tells({{"Cache-Control", "max-age=600"}, {"Age", "700"}, {"ETag", "\"v1\""}})},
        {"strict", tells({{"Cache-Control", "max-age=600, must-revalidate"}, {"Age", "700"}, {"ETag", "\"v1\""}})},
        {"while", tells({{"Cache-Control", "max-age=600, stale-while-revalidate=9000"}, {"Age", "700"}, {"ETag", "\"v1\""}})},
        {"error", tells({{"Cache-Control", "max-age=600, stale-if-error=9000"}, {"Age", "700"}, {"ETag", "\"v1\""}}), {}, true},
        {"no-store", tells({{"Cache-Control", "no-store"}})},
        {"private", tells({{"Cache-Control", "private, max-age=600"}})},
        {"shared", tells({{"Cache-Control", "s-maxage=600"}, {"ETag", "\"v1\""}})},
        {"cookie", tells({{"Cache-Control", "max-age=600"}, {"Set-Cookie", "a=b"}})},
        {"vary", tells({{"Cache-Control", "max-age=600"}, {"Vary", "Accept-Language"}, {"ETag", "\"v1\""}}), {{"Accept-Language", "de"}}},
        {"star", tells({{"Cache-Control", "max-age=600"}, {"Vary", "*"}})},
        {"moved", tells({{"Cache-Control", "max-age=600"}, {"Location", "/elsewhere"}}, 301)},
        {"missing", tells({{"Cache-Control", "max-age=600"}}, 404)},
        {"guessed", tells({{"Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"}})},
        {"part", tells({{"Cache-Control", "max-age=600"}, {"ETag", "\"v1\""}}), {{"Range", "bytes=2-5"}}},
        {"broken", tells({{"Cache-Control", "max-age=600"}}), {}, true},
    };
    // clang-format on
    return all;
}

std::string name_in(std::string const& path) { return path.substr(1, path.find('/', 1) - 1); }

/// An origin that validates, and knows single ranges of the form a-b.
Answer answer_to(Kind const& kind, Head const& request) {
    auto answer = kind.answer;
    auto const tag = std::ranges::find(answer.fields, "ETag", &Fields::value_type::first);
    if (tag == answer.fields.end()) return answer;
    if (request.field("If-None-Match") == tag->second) {
        answer.status = 304;
        answer.body.clear();
        return answer;
    }
    int first = 0, last = 0;
    if (std::sscanf(request.field("Range").c_str(), "bytes=%d-%d", &first, &last) != 2 || last > 9) return answer;
    answer.status = 206;
    answer.body = answer.body.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1));
    answer.fields.emplace_back("Content-Range", "bytes " + std::to_string(first) + "-" + std::to_string(last) + "/10");
    return answer;
}

struct Question {
    std::string method;
    std::string path;
    Fields fields;
    std::string text() const {
        auto text = method + " " + path;
        for (auto const& [name, value] : fields) text += ", " + name + ": " + value;
        return text;
    }
};

class Dice {
public:
    explicit Dice(unsigned seed) : random_(seed) {}
    Question request(std::size_t round) {
        auto const& kind = kinds()[random_() % kinds().size()];
        Question asked{any({"GET", "GET", "GET", "GET", "GET", "GET", "GET", "HEAD", "POST", "OPTIONS"}),
                       "/" + std::string(kind.name) + "/" + std::to_string(round),
                       {{"User-Agent", "dice"}}};
        maybe(asked, 4, "Cache-Control",
              {"no-cache", "no-store", "max-age=0", "only-if-cached", "max-stale", "max-stale=5", "min-fresh=900", "max-age=300"});
        maybe(asked, 6, "Range", {"bytes=0-3", "bytes=2-5", "bytes=50-60"});
        maybe(asked, 8, "If-None-Match", {"\"v1\"", "\"v0\"", "*"});
        maybe(asked, 3, "Accept-Language", {"de", "en"});
        maybe(asked, 10, "Authorization", {"Basic Og=="});
        maybe(asked, 15, "Pragma", {"no-cache"});
        return asked;
    }

private:
    std::string any(std::vector<char const*> const& of) { return of[random_() % of.size()]; }
    void maybe(Question& asked, unsigned one_in, char const* name, std::vector<char const*> const& values) {
        if (random_() % one_in == 0) asked.fields.emplace_back(name, any(values));
    }
    std::mt19937 random_;
};

struct Surroundings {
    char const* name;
    char const* patch;
    bool has_parent = false;
    friend void PrintTo(Surroundings const& one, std::ostream* out) { *out << one.name; }
};

Surroundings const surroundings[] = {
    {"Memory", R"({})"},
    {"Disk", R"({"memory": {"size": "1 MiB", "object_max": "8 B"}, "disk": {"path": "@DISK@", "size": "16 MiB", "admit": "all"}})"},
    {"Offline", R"({"caching": {"offline": true}})"},
    {"Rules", R"({"caching": {"never": ["/moved"], "range_fetches_whole": true, "rules": [
        {"url_contains": ["/plain"], "ttl_max": "0s"}, {"url_contains": ["/star", "/stale"], "ttl_min": "1h"},
        {"url_contains": ["/vary", "/fresh"], "reload": "ignore"}, {"url_contains": ["/guessed"], "never": true}]}})"},
    {"Refused", R"({"misses": [{"deny": {"method": ["POST", "HEAD"]}}],
        "access": [{"deny": {"url_contains": ["/missing"]}}, {"allow": {"destination": ["127.0.0.0/8"], "port": ["1-65535"]}}]})"},
    {"Parent", R"({})", true},
};

class Agreement : public ::testing::TestWithParam<Surroundings> {
protected:
    Agreement() {
        origin_.otherwise([](Hand& hand) {
            hand.read_body();
            auto const path = hand.request().head.target();
            auto const kind = std::ranges::find(kinds(), name_in(path), &Kind::name);
            bool const prepared = hand.request().head.has("X-Prepare");
            if (kind == kinds().end() || (kind->then_fails && !prepared)) return hand.leave();
            hand.answer(answer_to(*kind, hand.request().head));
        });
    }

    Json explained(Question const& asked) {
        auto target = "/explain?method=" + asked.method + "&url=" + origin_.url(asked.path);
        for (auto const& [name, value] : asked.fields) target += "&field=" + form_text(name + ": " + value);
        return Json::parse(admin_->get(target).body());
    }
    static std::string form_text(std::string const& text) {
        std::string out;
        char escape[4];
        for (unsigned char c : text) {
            std::snprintf(escape, sizeof escape, "%%%02X", c);
            out += escape;
        }
        return out;
    }

    void start() {
        auto patch = std::string(GetParam().patch);
        if (auto const at = patch.find("@DISK@"); at != patch.npos) patch.replace(at, 6, disk_.path("store").string());
        auto settings = Json::parse(patch);
        if (GetParam().has_parent) {
            parent_ = std::make_unique<Proxy>();
            settings["peers"] = {{{"name", "up"},
                                  {"type", "parent"},
                                  {"host", "127.0.0.1"},
                                  {"http_port", parent_->port()},
                                  {"icp_port", 0},
                                  {"no_query", true}}};
        }
        proxy_ = std::make_unique<Proxy>(settings.dump());
        client_ = std::make_unique<Client>(*proxy_, origin_);
        admin_ = std::make_unique<Client>("127.0.0.1", proxy_->admin());
    }

    void prepare(std::size_t round) {
        for (auto const& kind : kinds()) {
            if (std::string_view(kind.name) == "broken") continue;
            auto fields = kind.asked_first;
            fields.emplace_back("X-Prepare", "1");
            client_->get("/" + std::string(kind.name) + "/" + std::to_string(round), fields).body();
        }
    }

    /// Waits for background fetches, which would change the outcome between question and request.
    void wait_for_fetches(Question const& asked) {
        EXPECT_TRUE(eventually([&] { return explained(asked)["fetches"].empty(); }));
    }

    void check(Question const& asked) {
        wait_for_fetches(asked);
        auto const told = explained(asked);
        auto const before = origin_.requests(asked.path);
        auto const reply = client_->send(asked.method, asked.path, asked.fields);
        reply.body();
        if (reply.field("Connection") == "close") client_->close();
        bool const went_out = origin_.requests(asked.path) > before;
        SCOPED_TRACE(asked.text() + " explained as " + told["outcome"].dump() + ", " + told["why"].dump() + ", " +
                     told["status"].dump() + "\n" + reply.head().text());
        auto const verdict = told["outcome"].get<std::string>();
        auto const why = told["why"].get<std::string>();
        ++verdicts_[verdict];
        if (!told["status"].is_null()) {
            EXPECT_EQ(told["status"], reply.status());
        }
        auto const& met = reply.outcome();
        if (verdict == "hit" || verdict == "stale") {
            EXPECT_EQ(met, "hit");
            EXPECT_EQ(reply.detail(), why == "fresh" ? "" : why);
        } else if (verdict == "revalidate" || verdict == "miss" || verdict == "passed") {
            EXPECT_TRUE(met == "hit" || went_out || parent_);
            check_forwarded(told, reply);
        } else if (verdict == "negative") {
            EXPECT_EQ(reply.detail(), "negative");
        } else if (verdict == "denied") {
            EXPECT_EQ(reply.status(), 403);
        } else {
            EXPECT_EQ(verdict, "refused");
            EXPECT_GE(reply.status(), 400);
        }
        EXPECT_EQ(told["fwd"].is_null(), verdict != "revalidate" && verdict != "miss" && verdict != "passed");
        bool const goes_nowhere = verdict == "hit" || verdict == "negative" || verdict == "denied" || verdict == "refused";
        EXPECT_FALSE(goes_nowhere && went_out);
    }

    /// The reason that explain gave for asking the origin.
    void check_forwarded(Json const& told, Reply const& reply) {
        auto const verdict = told["outcome"].get<std::string>();
        auto const why = told["why"].get<std::string>();
        bool const fell_back = verdict == "revalidate" && reply.hit();   // a stale response in place of a failure
        if (fell_back) return;
        auto const fwd = reply.outcome();
        ++forwarded_[fwd];
        EXPECT_EQ(told["fwd"], fwd);
        if (verdict == "miss") {
            EXPECT_THAT(why, AnyOf(StartsWith("not stored"), reasons_of_miss(fwd)));
        } else if (verdict == "passed" && reply.fwd_status()) {
            EXPECT_EQ(reason_in(reply.detail()), why);
        } else if (verdict == "revalidate" && reply.stored()) {
            // A rule that decides on the new response comes before the reason of the request.
            EXPECT_THAT(reason_in(reply.detail()), AnyOf(why, StartsWith("rule: ")));
        }
    }

    /// Without the peer that was used, and the reason for it.
    static std::string reason_in(std::string const& detail) {
        auto const at = detail.rfind("; ");
        return at == detail.npos ? detail : detail.substr(at + 2);
    }

    /// The reasons that explain gives for a miss, besides "not stored".
    static ::testing::Matcher<std::string> reasons_of_miss(std::string const& fwd) {
        if (fwd == "vary-miss") return AnyOf("no stored variant matches this request", "only parts of the object are stored");
        if (fwd == "partial") return AnyOf("the range is only partly stored", "only parts of the object are stored");
        return ::testing::Eq("only parts of the object are stored");
    }

    TempDir disk_;
    Origin origin_;
    std::unique_ptr<Proxy> parent_, proxy_;
    std::unique_ptr<Client> client_, admin_;
    std::map<std::string, int> verdicts_;
    std::map<std::string, int> forwarded_;
};

/// Without the parent, which would have followers of its own.
class Following : public Agreement {};

std::string name_of(::testing::TestParamInfo<Surroundings> const& one) { return one.param.name; }

}   // namespace

TEST_P(Agreement, explain_says_what_a_request_meets) {
    constexpr std::size_t rounds = 17, requests = 100;
    start();
    Dice dice(2111);
    for (std::size_t round = 0; round < rounds; ++round) {
        prepare(round);
        for (std::size_t i = 0; i < requests && !HasFailure(); ++i) check(dice.request(round));
    }
    for (auto const* verdict : {"hit", "miss", "passed", "refused"}) EXPECT_GT(verdicts_[verdict], 10) << verdict;
    for (auto const* fwd : {"uri-miss", "method"}) EXPECT_GT(forwarded_[fwd], 10) << fwd;
}

TEST_P(Following, explain_says_whom_a_request_follows) {
    start();
    Dice dice(2112);
    for (std::size_t round = 0; round < 40; ++round) {
        auto asked = dice.request(round);
        asked.method = "GET";
        asked.path = "/busy/" + std::to_string(round);
        // Ages are judged when the leader's response arrives, so explain cannot predict them.
        std::erase_if(asked.fields, [](auto const& field) {
            return field.second.find("=") != std::string::npos && field.first == "Cache-Control";
        });
        auto held = origin_.hold(asked.path);
        Client first(*proxy_, origin_);
        auto const leader = first.get(asked.path);
        held.arrived();
        auto const told = explained(asked);
        auto const reply = client_->send(asked.method, asked.path, asked.fields);
        bool const goes_out = told["outcome"] == "miss" || told["outcome"] == "passed";
        SCOPED_TRACE(asked.text() + " explained as " + told["outcome"].dump() + ", " + told["why"].dump());
        if (told["outcome"] == "collapsed") {
            EXPECT_TRUE(eventually([&] { return explained(asked)["fetches"][0]["followers"] == 1; }));
        }
        if (goes_out) held.nth(1).release(fresh("for itself"));
        held.release("for all");
        EXPECT_EQ(leader.body(), "for all");
        EXPECT_EQ(reply.outcome() == "collapsed", told["outcome"] == "collapsed") << reply.head().text();
        EXPECT_EQ(held.count(), goes_out ? 2u : 1u);
        ++verdicts_[told["outcome"]];
    }
    EXPECT_GT(verdicts_["collapsed"], 10);
}

INSTANTIATE_TEST_SUITE_P(In, Agreement, ::testing::ValuesIn(surroundings), name_of);
INSTANTIATE_TEST_SUITE_P(In, Following, ::testing::ValuesIn(std::begin(surroundings), std::prev(std::end(surroundings))), name_of);

}   // namespace garner::test
