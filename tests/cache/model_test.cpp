// The cache against a naive model: random requests, responses, purges and passing time.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "cache/cache.hpp"
#include "cache/scene.hpp"

namespace garner::cache {
namespace {

using Kind = Lookup::Kind;

/// RFC 9111 for a cache of unlimited size.
class NaiveCache {
public:
    struct Stored {
        std::string body;
        WallTime since{};
        std::uint32_t lifetime = 0;
    };
    struct Url {
        std::string vary;                         // one field name, or empty
        std::map<std::string, Stored> variants;   // by the field's value; "" without Vary
        WallTime passes_until{};
        std::uint64_t purges = 0;
    };

    Url& url(std::string const& name) { return urls_[name]; }
    Stored const* find(std::string const& name, std::string const& accept) {
        auto& known = urls_[name];
        auto found = known.variants.find(known.vary.empty() ? "" : accept);
        return found == known.variants.end() ? nullptr : &found->second;
    }
    void store(std::string const& name, std::string const& vary, std::string const& accept, Stored stored) {
        auto& known = urls_[name];
        if (known.vary != vary) known.variants.clear();
        known.vary = vary;
        known.passes_until = {};
        known.variants[vary.empty() ? "" : accept] = std::move(stored);
    }

private:
    std::map<std::string, Url> urls_;
};

/// A fetch in progress in both caches.
struct Fetching {
    std::string url;
    std::string accept;
    FillLease lead;
    std::uint64_t purges;   // purges of this URL when the fetch began
    bool leads;
    std::string validates;   // the body to validate; empty: none
    std::string sought;      // variant selected by the URL's Vary when the fetch began; empty: no Vary
};

class Model : public testing::Test {
protected:
    Scene scene{{.size = 256 * MiB}};
    NaiveCache naive;
    std::vector<Fetching> fetching;
    std::mt19937 random;
    WallTime now = wall_now();
    int answers = 0;
    std::vector<std::string> urls = different_urls();

    /// Twelve URLs whose hit-for-pass marks do not share a slot.
    std::vector<std::string> different_urls() {
        std::vector<std::string> chosen;
        std::set<Fingerprint> places;
        for (int i = 0; chosen.size() < 12; ++i) {
            auto url = "u" + std::to_string(i);
            if (places.insert(scene.cache.key(url).fingerprint % 256).second) chosen.push_back(url);
        }
        return chosen;
    }

    Ask ask(std::string const& accept) {
        Ask ask;
        ask.fields = {{"accept", accept}};
        ask.now = now;
        return ask;
    }

    std::string sought(std::string const& url, std::string const& accept) { return naive.url(url).vary.empty() ? "" : accept; }
    bool somebody_leads(std::string const& url, std::string const& accept, NaiveCache::Stored const* known) {
        return std::ranges::any_of(fetching, [&](Fetching const& fetch) {
            return fetch.url == url && fetch.leads && fetch.purges == naive.url(url).purges &&
                   fetch.validates == (known ? known->body : "") && (known || fetch.sought == sought(url, accept));
        });
    }

    void look_up(std::string const& url, std::string const& accept) {
        auto found = scene.lookup(url, ask(accept));
        auto const* known = naive.find(url, accept);
        bool passes = naive.url(url).passes_until > now;
        if (known && now - known->since < seconds{known->lifetime}) {
            ASSERT_EQ(found.kind, Kind::fresh);
            ASSERT_EQ(found.object->bytes(), known->body);
            return;
        }
        if (known) {
            ASSERT_EQ(found.kind, Kind::stale);
            ASSERT_EQ(found.object->bytes(), known->body);
        }
        bool follows = !passes && somebody_leads(url, accept, known);
        auto not_there = passes ? Kind::hit_for_pass : follows ? Kind::busy : Kind::absent;
        ASSERT_EQ(found.kind, known ? Kind::stale : not_there);
        ASSERT_EQ(found.follow != nullptr, follows);
        ASSERT_EQ(bool(found.lead), !follows);
        if (follows) return;
        ASSERT_EQ(found.lead.fill()->leads_others(), !passes);
        fetching.push_back(
            {url, accept, std::move(found.lead), naive.url(url).purges, !passes, known ? known->body : "", sought(url, accept)});
    }

    void end_a_fetch() {
        if (fetching.empty()) return;
        auto at = random() % fetching.size();
        auto fetch = std::move(fetching[at]);
        fetching.erase(fetching.begin() + static_cast<std::ptrdiff_t>(at));
        switch (random() % 6) {
        case 0: return fetch.lead.fail({502, "trouble"});
        case 1: return fetch.lead.drop();
        case 2:
            if (fetch.leads) naive.url(fetch.url).passes_until = WallTime(seconds{early_in_a_second() + 120});
            return fetch.lead.refuse("private");
        default: return answer(fetch);
        }
    }

    /// The mark uses the real clock in whole seconds: both caches must read the same second.
    static std::int64_t early_in_a_second() {
        while (wall_now() - WallTime(seconds{unix_seconds(wall_now())}) > milliseconds{950})
            std::this_thread::sleep_for(milliseconds{10});
        return unix_seconds(wall_now());
    }

    void answer(Fetching& fetch) {
        auto body = "answer " + std::to_string(++answers);
        Answer given;
        given.body = body;
        given.lifetime = static_cast<std::uint32_t>(random() % 60);
        given.vary = random() % 16 == 0 ? "" : "accept";
        if (fetch.url.back() % 2 == 0) given.vary = random() % 16 == 0 ? "accept" : "";
        given.request = ask(fetch.accept);
        scene.complete(fetch.lead, fetch.url, given);
        if (fetch.purges == naive.url(fetch.url).purges)
            naive.store(fetch.url, std::string(given.vary), fetch.accept, {body, now, given.lifetime});
    }

    void purge(std::string const& url) {
        auto& known = naive.url(url);
        bool was_there = !known.variants.empty();
        for (auto const& fetch : fetching) was_there |= fetch.url == url && fetch.purges == known.purges;
        ASSERT_EQ(scene.cache.purge(scene.cache.key(url)), was_there);
        known.variants.clear();
        known.vary.clear();
        ++known.purges;
    }
};

TEST_F(Model, agrees_with_a_naive_cache) {
    auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    random.seed(seed);
    for (int i = 0; i < 60'000 && !HasFatalFailure(); ++i) {
        SCOPED_TRACE("step " + std::to_string(i));
        auto const& url = urls[random() % urls.size()];
        auto accept = std::to_string(random() % 5);
        auto what = random() % 32;
        if (what == 0)
            purge(url);
        else if (what < 3)
            now += milliseconds{random() % 5'000};
        else if (what < 8)
            end_a_fetch();
        else
            look_up(url, accept);
    }
    if (HasFatalFailure()) return;
    fetching.clear();
    for (auto const& url : urls) purge(url);
    EXPECT_EQ(scene.used(), 0u);
    EXPECT_EQ(scene.cache.memory().stats().fills, 0u);
}

}   // namespace
}   // namespace garner::cache
