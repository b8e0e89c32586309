// Cache and freshness rules against a naive reading of RFC 9111, with their own clock: response heads as origins write them,
// requests with directives, 304 responses, purges, and passing time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "cache/cache.hpp"
#include "cache/scene.hpp"
#include "http/cacheability.hpp"
#include "http/dates.hpp"
#include "http/validation.hpp"

namespace garner::cache {
namespace {

using Kind = Lookup::Kind;
using Number = std::optional<std::int64_t>;

/// Freshness of a response; `written` gives it as header fields.
struct Said {
    Number max_age, s_maxage, expires_in, while_revalidate;
    std::int64_t age = 0, dated_ago = 0;
    bool no_cache = false, must_revalidate = false, no_store = false, is_private = false, tagged = true;

    std::string written(WallTime now) const {
        std::string text = "HTTP/1.1 200 OK\r\n", control;
        auto add = [&](std::string_view directive, Number value) {
            if (value) control.append(control.empty() ? "" : ", ").append(directive).append(std::to_string(*value));
        };
        auto flag = [&](std::string_view directive, bool given) {
            if (given) control.append(control.empty() ? "" : " ,").append(directive);
        };
        flag("no-cache", no_cache);
        add("max-age=", max_age);
        add("S-MaxAge=", s_maxage);
        add("stale-while-revalidate=", while_revalidate);
        flag("Must-Revalidate", must_revalidate);
        flag("no-store", no_store);
        flag("private", is_private);
        if (!control.empty()) text += "Cache-Control: " + control + "\r\n";
        auto const date = unix_seconds(now) - dated_ago;
        text += "Date: " + http::format_http_date(date) + "\r\n";
        if (expires_in) text += "Expires: " + http::format_http_date(date + *expires_in) + "\r\n";
        if (age > 0) text += "Age: " + std::to_string(age) + "\r\n";
        if (tagged) text += "ETag: \"a\"\r\n";
        return text + "\r\n";
    }
    std::int64_t lifetime() const { return s_maxage.value_or(max_age.value_or(expires_in.value_or(0))); }
};

struct Asked {
    Number max_age, min_fresh, max_stale;
    bool no_cache = false;

    std::string written() const {
        std::string text;
        auto add = [&](std::string_view directive, Number value) {
            if (value) text.append(text.empty() ? "" : ", ").append(directive).append(std::to_string(*value));
        };
        if (no_cache) text = "no-cache";
        add("max-age=", max_age);
        add("min-fresh=", min_fresh);
        add("max-stale=", max_stale);
        return text;
    }
};

struct Kept {
    std::string body;
    Said said;
    WallTime since;

    std::int64_t age(WallTime now) const {
        return std::max(said.age, said.dated_ago) + std::chrono::floor<seconds>(now - since).count();
    }
    Kind answer(Asked const& asked, WallTime now) const {
        auto const left = said.lifetime() - age(now);
        if (said.no_cache || asked.no_cache) return Kind::stale;
        if (asked.max_age && (*asked.max_age == 0 || age(now) > *asked.max_age)) return Kind::stale;
        if (asked.min_fresh && left < *asked.min_fresh) return Kind::stale;
        if (left > 0) return Kind::fresh;
        if (said.must_revalidate || said.s_maxage) return Kind::stale;
        if (-left < said.while_revalidate.value_or(0) && (asked.max_stale || !asked.max_age)) return Kind::refresh;
        return asked.max_stale && -left <= *asked.max_stale ? Kind::fresh : Kind::stale;
    }
};

class RulesModel : public testing::Test {
protected:
    Scene scene{{.size = 64 * MiB}};
    std::map<std::string, Kept> naive;
    std::mt19937 random;
    WallTime now = from_unix_seconds(1'700'000'000);
    int bodies = 0;

    bool one_in(unsigned n) { return random() % n == 0; }
    std::int64_t any(std::int64_t below) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below)); }

    Said any_answer() {
        Said said;
        if (!one_in(3)) said.max_age = any(60);
        if (one_in(5)) said.s_maxage = any(60);
        if (one_in(3)) said.expires_in = any(60);
        if (one_in(4)) said.while_revalidate = any(40);
        if (one_in(4)) said.age = any(50);
        if (one_in(6)) said.dated_ago = any(50);
        said.no_cache = one_in(10);
        said.must_revalidate = one_in(8);
        said.no_store = one_in(12);
        said.is_private = one_in(12);
        said.tagged = !one_in(4);
        return said;
    }
    Asked any_question() {
        Asked asked;
        if (one_in(6)) asked.max_age = any(50);
        if (one_in(8)) asked.min_fresh = any(30);
        if (one_in(6)) asked.max_stale = any(40);
        asked.no_cache = one_in(15);
        return asked;
    }

    void look_up(std::string const& url) {
        auto const asked = any_question();
        auto const text = asked.written();
        SCOPED_TRACE("asked: " + text);
        Ask ask;
        ask.now = now;
        if (!text.empty()) ask.fields = {{"Cache-Control", text}};
        ask.control = http::parse_request_cache_control(Scene::head(ask).fields);
        auto found = scene.lookup(url, ask);
        auto const known = naive.find(url);
        if (known == naive.end()) {
            ASSERT_TRUE(found.kind == Kind::absent || found.kind == Kind::hit_for_pass);
            return answered(url, std::move(found));
        }
        auto const& kept = known->second;
        SCOPED_TRACE("kept: " + kept.said.written(kept.since) + std::to_string(kept.age(now)) + " s old");
        ASSERT_EQ(found.kind, kept.answer(asked, now));
        ASSERT_EQ(found.object->bytes(), kept.body);
        if (found.kind == Kind::fresh) return;
        if (found.kind == Kind::refresh && !found.lead) return;   // no new fetch so soon after a failed one
        ASSERT_TRUE(bool(found.lead));
        one_in(3) ? found.lead.drop() : answered(url, std::move(found));
    }

    /// The origin sends a new response, or a 304 for the stored one.
    void answered(std::string const& url, Lookup found) {
        if (one_in(3)) now += milliseconds{any(2'000)};
        auto const said = any_answer();
        auto text = said.written(now);
        http::ResponseHead head;
        std::size_t scanned = 0;
        http::parse_response_head(text, {}, scanned, head);
        auto const control = http::parse_response_cache_control(head.fields, {});
        http::RequestHead request;
        auto const refusal = http::why_not_store(request, {}, head, control);
        ASSERT_EQ(refusal == http::StoreRefusal::none, is_worth_keeping(said));
        if (refusal != http::StoreRefusal::none) return found.lead.refuse("");
        store::Object::Parts parts;
        auto const body = "body " + std::to_string(++bodies);
        parts.key = url;
        parts.head = "HTTP/1.1 200 OK\r\n";
        parts.bytes = body;
        parts.terms = http::terms_of(head, control, now, now, {});
        parts.sequence = scene.next();
        bool const same = found.object && one_in(2);   // a 304: new freshness for the old body
        if (same) {
            parts.bytes = found.object->bytes();
            parts.sequence = found.lead ? std::max(found.object->sequence(), found.lead.fill()->asked()) : found.object->sequence();
        }
        auto const bytes = std::string(parts.bytes);
        found.lead.complete(scene.cache.memory().make_object(parts, scene.cache.key(url).fingerprint), {}, {});
        naive.insert_or_assign(url, Kept{bytes, said, now});
    }

    static bool is_worth_keeping(Said const& said) {
        if (said.no_store || said.is_private) return false;
        if (said.tagged) return true;
        bool const is_explicit = said.max_age || said.s_maxage || said.expires_in;
        bool const ever_fresh = said.s_maxage.value_or(said.max_age.value_or(1)) > 0;
        return is_explicit && !said.no_cache && (ever_fresh || said.while_revalidate);
    }
};

TEST_F(RulesModel, agree_with_a_naive_reading) {
    auto const seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    random.seed(seed);
    for (int step = 0; step < 60'000 && !HasFatalFailure(); ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        auto const url = "u" + std::to_string(random() % 20);
        if (one_in(60)) {
            ASSERT_EQ(scene.cache.purge(scene.cache.key(url)), naive.erase(url) > 0);
        } else if (one_in(4)) {
            now += milliseconds{any(8'000)};
        } else {
            look_up(url);
        }
    }
    if (HasFatalFailure()) return;
    for (int i = 0; i < 20; ++i) scene.cache.purge(scene.cache.key("u" + std::to_string(i)));
    EXPECT_EQ(scene.used(), 0u);
    EXPECT_EQ(scene.cache.memory().stats().fills, 0u);
}

}   // namespace
}   // namespace garner::cache
