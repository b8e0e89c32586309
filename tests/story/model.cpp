// The proxy against a naive cache that implements RFC 9111 in a few lines: random requests, responses, changes, purges. Responses
// simulate passing time by their Age: ages and lifetimes differ so much that the run's own seconds do not matter.
#include <algorithm>
#include <mutex>
#include <random>

#include "story/scene.hpp"

namespace garner::test {

namespace {

using Seconds = std::optional<int>;

/// A response of the origin.
struct Said {
    int status = 200;
    bool alive = true;   // false: the connection closes without a response
    int version = 0;
    Seconds max_age, s_maxage, expires, stale_if_error;
    int age = 0;
    bool no_store = false, no_cache = false, is_private = false, is_public = false, must_revalidate = false;
    bool tagged = true;
    bool varies = false;

    std::string tag(std::string const& language) const { return '"' + std::to_string(version) + (varies ? language : "") + '"'; }
    std::string body(std::string const& url, std::string const& language) const {
        return url + " version " + std::to_string(version) + " in " + (varies ? language : "all");
    }
    Fields fields(std::string const& language) const {
        Fields fields;
        auto directive = [&](bool given, std::string text) {
            if (given) fields.emplace_back("Cache-Control", std::move(text));
        };
        directive(max_age.has_value(), "max-age=" + std::to_string(max_age.value_or(0)));
        directive(s_maxage.has_value(), "s-maxage=" + std::to_string(s_maxage.value_or(0)));
        directive(stale_if_error.has_value(), "stale-if-error=" + std::to_string(stale_if_error.value_or(0)));
        directive(no_store, "no-store");
        directive(no_cache, "no-cache");
        directive(is_private, "private");
        directive(is_public, "public");
        directive(must_revalidate, "must-revalidate");
        if (expires) fields.emplace_back("Expires", http_date(*expires));
        if (age > 0) fields.emplace_back("Age", std::to_string(age));
        if (tagged) fields.emplace_back("ETag", tag(language));
        if (varies) fields.emplace_back("Vary", "Accept-Language");
        return fields;
    }
};

struct Asked {
    std::string method = "GET";
    std::string language = "de";
    bool no_cache = false, no_store = false, only_if_cached = false, authorized = false, any_stale = false;
    Seconds max_age, min_fresh, max_stale;
    std::string tag;        // If-None-Match
    bool in_part = false;   // Range: bytes=2-5

    Fields fields() const {
        Fields fields{{"Accept-Language", language}};
        auto directive = [&](bool given, std::string text) {
            if (given) fields.emplace_back("Cache-Control", std::move(text));
        };
        directive(no_cache, "no-cache");
        directive(no_store, "no-store");
        directive(only_if_cached, "only-if-cached");
        directive(any_stale, "max-stale");
        directive(max_age.has_value(), "max-age=" + std::to_string(max_age.value_or(0)));
        directive(min_fresh.has_value(), "min-fresh=" + std::to_string(min_fresh.value_or(0)));
        directive(max_stale.has_value(), "max-stale=" + std::to_string(max_stale.value_or(0)));
        if (authorized) fields.emplace_back("Authorization", "Basic dTpw");
        if (!tag.empty()) fields.emplace_back("If-None-Match", tag);
        if (in_part) fields.emplace_back("Range", "bytes=2-5");
        return fields;
    }
};

/// A stored response: the body and status of one answer under the terms of that one or of a later 304.
struct Kept {
    int status;
    std::string body;
    std::string tag;   // empty: none
    Said terms;
    bool outdated = false;   // outdated by a HEAD response

    int lifetime() const { return outdated ? 0 : terms.s_maxage.value_or(terms.max_age.value_or(terms.expires.value_or(0))); }
    int left() const { return lifetime() - terms.age; }
    bool never_stale() const { return terms.must_revalidate || terms.s_maxage || terms.no_cache; }

    /// Freshness of RFC 9111 4.2 and request directives of 5.2.1.
    bool may_answer(Asked const& asked) const {
        if (terms.no_cache || asked.no_cache) return false;
        if (asked.max_age && (*asked.max_age == 0 || terms.age > *asked.max_age)) return false;
        if (asked.min_fresh && left() < *asked.min_fresh) return false;
        if (left() > 0) return true;
        if (never_stale()) return false;
        return asked.max_stale ? -left() <= *asked.max_stale : asked.any_stale;
    }
    /// The request's own directives exclude it.
    bool is_bypassed_by(Asked const& asked) const {
        bool const is_too_old = asked.max_age && (*asked.max_age == 0 || terms.age > *asked.max_age);
        bool const is_too_short = asked.min_fresh && left() < *asked.min_fresh;
        return !terms.no_cache && (asked.no_cache || is_too_old || is_too_short);
    }
    /// Stale responses on errors, RFC 9111 4.2.4 and RFC 5861 4.
    bool may_answer_for_a_failure(Asked const& asked, bool answered) const {
        if (never_stale()) return false;
        if (asked.no_cache) return false;
        bool const wants_recent = asked.max_age || asked.min_fresh;
        if (wants_recent && !asked.any_stale && !asked.max_stale) return false;
        int const disconnected = 7 * 24 * 3600;
        return -left() < terms.stale_if_error.value_or(answered ? 0 : disconnected);
    }
};

/// Storing, RFC 9111 3 and 3.5.
bool may_be_kept(Asked const& asked, Said const& said) {
    if (asked.method != "GET" || asked.no_store || said.no_store || said.is_private) return false;
    if (asked.authorized && !said.is_public && !said.must_revalidate && !said.s_maxage) return false;
    bool const explicit_lifetime = said.max_age || said.s_maxage || said.expires;
    bool const guessable = said.status == 200 || said.status == 404 || said.is_public;
    if (!explicit_lifetime && !guessable) return false;
    // Garner's rule: a response that could never be reused is not stored.
    bool const ever_fresh = said.s_maxage.value_or(said.max_age.value_or(1)) > 0;
    return said.tagged || (explicit_lifetime && !said.no_cache && (ever_fresh || said.stale_if_error));
}

class NaiveCache {
public:
    Kept* find(std::string const& url, std::string const& language) {
        auto& known = urls_[url];
        auto const found = known.kept.find(known.varies ? language : "");
        return found == known.kept.end() ? nullptr : &found->second;
    }
    void keep(std::string const& url, std::string const& language, Kept kept) {
        auto& known = urls_[url];
        if (known.varies != kept.terms.varies) known.kept.clear();
        known.varies = kept.terms.varies;
        known.kept.insert_or_assign(known.varies ? language : "", std::move(kept));
    }
    bool forget(std::string const& url) { return urls_.erase(url) > 0; }
    void forget(std::string const& url, std::string const& language) {
        auto& known = urls_[url];
        known.kept.erase(known.varies ? language : "");
    }
    bool has(std::string const& url) { return !urls_[url].kept.empty(); }

private:
    struct Url {
        bool varies = false;
        std::map<std::string, Kept> kept;   // by language; "" if it does not vary
    };
    std::map<std::string, Url> urls_;
};

/// The expected outcome of a request.
struct Expected {
    int status = 0;
    std::string body{};
    std::string tag{};
    bool asks_origin = false;
    bool may_be_cut = true;   // a 200 of the proxy itself: conditions and ranges apply
};

std::string in_words(std::string const& url, Said const& said) {
    std::string text = url + (said.alive ? " says " : " is dead, would say ") + std::to_string(said.status);
    for (auto const& [name, value] : said.fields("LL")) text += "; " + name + ": " + value;
    return text;
}

std::string in_words(Asked const& asked) {
    auto text = asked.method;
    for (auto const& [name, value] : asked.fields()) text += "; " + name + ": " + value;
    return text;
}

class Model : public ::testing::Test {
protected:
    static constexpr int url_count = 8;
    Origin origin;
    Proxy proxy{R"({"caching": {"negative_ttl": "0s"}})"};
    Client client{proxy, origin};
    NaiveCache cache;
    std::mt19937 random;
    std::mutex mutex;   // guards the members below, which the origin reads
    std::map<std::string, Said> says;
    std::map<std::string, int> asked_for;

    bool one_in(unsigned n) { return random() % n == 0; }
    template <class T>
    T any(std::initializer_list<T> of) {
        return *(of.begin() + random() % of.size());
    }

    void SetUp() override {
        origin.otherwise([this](Hand& hand) { answer(hand); });
        for (int i = 0; i < url_count; ++i) change("/" + std::to_string(i));
    }

    void answer(Hand& hand) {
        hand.read_body();
        auto const& head = hand.request().head;
        auto url = head.target();
        std::lock_guard lock(mutex);
        ++asked_for[url];
        auto const& said = says[url];
        auto const language = head.field("Accept-Language");
        if (!said.alive) return hand.leave();
        Answer answer{.status = said.status, .fields = said.fields(language), .body = said.body(url, language)};
        if (said.status == 200 && said.tagged && head.method() == "GET" && head.field("If-None-Match") == said.tag(language)) {
            answer.status = 304;
            answer.body.clear();
        }
        hand.answer(answer);
    }

    /// The origin changes its response for a URL.
    void change(std::string const& url) {
        std::lock_guard lock(mutex);
        auto const version = says[url].version + (one_in(3) ? 0 : 1);
        Said said;
        said.version = version;
        said.varies = says[url].varies != one_in(12);
        said.tagged = !one_in(4);
        said.alive = !one_in(15);
        if (one_in(6)) said.status = any({404, 500, 503, 302});
        if (!one_in(4)) said.max_age = any({0, 2'000, 2'000, 100'000});
        if (one_in(6)) said.s_maxage = any({0, 2'000, 100'000});
        if (one_in(6)) said.expires = any({0, 2'000, 100'000});
        if (one_in(4)) said.stale_if_error = any({0, 10'000, 1'000'000});
        said.age = any({0, 0, 1'000, 5'000, 50'000});
        said.no_store = one_in(12);
        said.no_cache = one_in(12);
        said.is_private = one_in(12);
        said.is_public = one_in(8);
        said.must_revalidate = one_in(10);
        says[url] = said;
    }

    Asked any_request(std::string const& url) {
        Asked asked;
        asked.language = any<std::string>({"de", "en", "fr"});
        if (one_in(10)) asked.method = any<std::string>({"HEAD", "HEAD", "POST", "PUT", "DELETE"});
        asked.no_cache = one_in(20);
        asked.no_store = one_in(30);
        asked.only_if_cached = one_in(30);
        asked.authorized = one_in(12);
        asked.any_stale = one_in(20);
        if (one_in(12)) asked.max_age = any({0, 500, 3'000});
        if (one_in(15)) asked.min_fresh = any({500, 30'000});
        if (one_in(12)) asked.max_stale = any({500, 20'000});
        if (asked.any_stale) asked.max_stale.reset();
        auto const* kept = cache.find(url, asked.language);
        if (kept && one_in(8)) asked.tag = one_in(3) ? R"("other")" : kept->tag;
        asked.in_part = asked.tag.empty() && asked.method == "GET" && one_in(10);
        return asked;
    }

    static Expected from(Kept const& kept) {
        return {.status = kept.status, .body = kept.body, .tag = kept.tag, .may_be_cut = kept.status == 200};
    }
    static Expected failed() { return {.status = 502, .asks_origin = true, .may_be_cut = false}; }
    Expected passed_on(std::string const& url, Asked const& asked, Said const& said) {
        return {.status = said.status,
                .body = said.body(url, asked.language),
                .tag = said.tagged ? said.tag(asked.language) : "",
                .asks_origin = true,
                .may_be_cut = said.status == 200};
    }

    Expected expected(std::string const& url, Asked const& asked) {
        auto const& said = says[url];
        bool const reads = asked.method == "GET" || asked.method == "HEAD";
        auto* kept = reads && (!asked.no_store || asked.only_if_cached) ? cache.find(url, asked.language) : nullptr;
        if (kept && asked.authorized) {
            auto const& terms = kept->terms;
            if (!terms.is_public && !terms.must_revalidate && !terms.s_maxage) {
                if (asked.only_if_cached) return {.status = 504, .may_be_cut = false};
                return said.alive ? passed_on(url, asked, said) : failed();   // another user's response, beside the stored one
            }
        }
        if (kept && kept->may_answer(asked)) return from(*kept);
        if (reads && asked.only_if_cached) return {.status = 504, .may_be_cut = false};
        return from_origin(url, asked, said, kept);
    }

    Expected from_origin(std::string const& url, Asked const& asked, Said const& said, Kept* kept) {
        bool const in_trouble = said.status == 500 || said.status == 503;
        if (kept && (!said.alive || in_trouble) && kept->may_answer_for_a_failure(asked, said.alive)) {
            auto stale = from(*kept);
            stale.asks_origin = true;
            return stale;
        }
        bool const reads = asked.method == "GET" || asked.method == "HEAD";
        // RFC 9111 4.4 and Garner's rule: a lost response may have been a success.
        if (!reads && (!said.alive || said.status < 400)) cache.forget(url);
        if (!said.alive) return failed();
        if (!reads) return passed_on(url, asked, said);
        bool const validated = kept && asked.method == "GET" && said.status == 200 && !kept->tag.empty() && said.tagged &&
                               kept->tag == said.tag(asked.language);
        if (validated) return freshened(url, asked, said, *kept);
        auto answer = passed_on(url, asked, said);
        if (kept && asked.method == "HEAD" && said.status == 200) {   // RFC 9111 4.3.5
            bool const agrees = kept->status == 200 && kept->body.size() == answer.body.size() &&
                                (!said.tagged || kept->tag == said.tag(asked.language));
            if (agrees) return freshened(url, asked, said, *kept);
            kept->outdated = true;
            return answer;
        }
        // Garner's rule: a GET that shows that the stored response is outdated removes it.
        bool const ends =
            kept && asked.method == "GET" && !asked.authorized && !said.is_private && (said.status == 200 || said.status == 404);
        // Garner's rule: the client of such a request may have provoked an error or a redirect.
        bool const is_provoked = kept && said.status >= 300 && kept->is_bypassed_by(asked) && (may_be_kept(asked, said) || ends);
        if (is_provoked && (asked.no_cache || asked.authorized || asked.in_part)) {
            kept->outdated = true;
            return answer;
        }
        if (is_provoked) {   // other requests could have joined it
            if (ends) cache.forget(url, asked.language);
            return answer;
        }
        if (may_be_kept(asked, said))
            cache.keep(url, asked.language, {said.status, answer.body, answer.tag, said});
        else if (ends)
            cache.forget(url, asked.language);
        return answer;
    }

    /// RFC 9111 4.3.4, 3.2: fields of the 304 replace stored fields of equal name; others stay.
    Expected freshened(std::string const& url, Asked const& asked, Said const& said, Kept kept) {
        auto terms = said;
        auto const& before = kept.terms;
        bool const has_cache_control = said.max_age || said.s_maxage || said.stale_if_error || said.no_store || said.no_cache ||
                                       said.is_private || said.is_public || said.must_revalidate;
        if (!has_cache_control) {
            terms = before;
            terms.age = said.age;
            terms.version = said.version;
            terms.varies = said.varies || before.varies;
            if (said.expires) terms.expires = said.expires;
        } else if (!said.expires) {
            terms.expires = before.expires;
        }
        terms.varies = said.varies || before.varies;
        terms.tagged = said.tagged || before.tagged;
        kept.terms = terms;
        kept.outdated = false;
        auto answer = from(kept);
        answer.asks_origin = true;
        auto judged = terms;
        judged.status = kept.status;
        auto get = asked;
        get.method = "GET";
        if (may_be_kept(get, judged))
            cache.keep(url, asked.language, kept);
        else
            cache.forget(url);
        return answer;
    }

    ::testing::AssertionResult request(std::string const& url) {
        auto const asked = any_request(url);
        Expected expect;
        int before = 0;
        {
            std::lock_guard lock(mutex);
            expect = expected(url, asked);
            before = asked_for[url];
        }
        auto reply = client.send(asked.method, url, asked.fields(), asked.method == "POST" ? "x" : "");
        bool const is_right = is_as_expected(reply, asked, expect);   // waits for the whole response
        std::lock_guard lock(mutex);
        bool const asks_origin = asked_for[url] > before;
        if (is_right && asks_origin == expect.asks_origin) return ::testing::AssertionSuccess();
        auto const words = [](bool asks) { return asks ? ", asked" : ""; };
        return ::testing::AssertionFailure() << in_words(asked) << ": " << reply.status() << " " << reply.body() << " "
                                             << reply.trouble() << words(asks_origin) << "; expected " << expect.status << " "
                                             << expect.body << words(expect.asks_origin);
    }

    static bool is_as_expected(Reply const& reply, Asked const& asked, Expected const& expect) {
        bool const reads = asked.method == "GET" || asked.method == "HEAD";
        bool const cut = expect.may_be_cut && reads;
        // If the origin was asked, the whole response is allowed too.
        std::vector<int> allowed{expect.status};
        if (cut && !asked.tag.empty() && asked.tag == expect.tag) {
            if (!expect.asks_origin) allowed.clear();
            allowed.push_back(304);
        }
        if (cut && asked.in_part) {
            if (!expect.asks_origin) allowed.clear();
            allowed.push_back(206);
        }
        auto body = expect.body.empty() ? reply.body() : expect.body;
        if (reply.status() == 206) body = body.substr(2, 4);
        if (asked.method == "HEAD" || reply.status() == 304) body.clear();
        return std::ranges::count(allowed, reply.status()) && reply.complete() && reply.body() == body;
    }

    ::testing::AssertionResult purge(std::string const& url) {
        bool const something = cache.has(url);
        auto const status = client.send("PURGE", url).status();
        cache.forget(url);
        if (status == 200 || (status == 404 && !something)) return ::testing::AssertionSuccess();
        return ::testing::AssertionFailure() << "PURGE: " << status;
    }
};

}   // namespace

TEST_F(Model, agrees_with_a_naive_cache) {
    auto const* const given = std::getenv("GARNER_SEED");
    auto const seed = given ? static_cast<unsigned>(std::stoul(given)) : std::random_device{}();
    SCOPED_TRACE("GARNER_SEED=" + std::to_string(seed));
    random.seed(seed);
    std::vector<std::string> told;
    for (int step = 0; step < 4'000 && !HasFailure(); ++step) {
        auto const url = "/" + std::to_string(random() % url_count);
        if (one_in(5)) {
            change(url);
            continue;
        }
        SCOPED_TRACE("step " + std::to_string(step) + ", " + in_words(url, says[url]));
        EXPECT_TRUE(one_in(40) ? purge(url) : request(url));
        if (HasFailure()) std::fprintf(stderr, "GARNER_SEED=%u step %d\n", seed, step);
    }
}

}   // namespace garner::test
