// Every order of an invalidation, fetches, joined fetches, 304 and storing in a child and its parent. After both have applied the
// invalidation, no request gets what it covers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "cache/scene.hpp"

namespace garner::cache {
namespace two_tiers {
namespace {

using Kind = Lookup::Kind;

/// A cache in a group whose lease holds.
struct Tier {
    Tier() {
        auto& lease = scene.cache.memory().invalidations.lease;
        lease.begin(seconds(60), seconds(120));
        lease.renew(Lease::Time::max());
    }
    bool must_pass(std::string const& key) const { return scene.cache.invalidations.must_pass_caches(plain_url_of(key)); }

    Scene scene;
    bool applied = false;
};

/// Deliberate errors of a proxy around its cache.
enum class Error { none, no_pass, uses_what_it_joined, passing_joins, decides_before_lease };

/// The tiers that all walks use in turn, each walk with a URL of its own.
struct Tiers {
    std::unique_ptr<Tier> child = std::make_unique<Tier>(), parent = std::make_unique<Tier>();
    unsigned walks = 0;
    Error error = Error::none;
};

enum class Start { empty, parent_has_it, both_have_it, both_are_stale };
/// How both learn of the invalidation. `watermark`: the child has missed it, and begins anew.
enum class By { purge, prefix, soft, watermark };
enum class Second { at_child, at_parent, none };
struct Case {
    Start start;
    By by;
    Second second;
    bool alone = false;   // the first request leads no others
};

/// A request of a client: at the child, which asks the parent, or at the parent.
class Request {
public:
    using Origin = std::function<int()>;
    struct Manner {
        Error error = Error::none;
        bool is_slow = false;   // the choice of a source is a step of its own, and may be late
        bool alone = false;     // it leads no others
    };
    Request(std::vector<Tier*> path, std::string url, Origin origin, Manner manner)
        : path_(std::move(path)), url_(std::move(url)), origin_(std::move(origin)), manner_(manner) {
        hops_.push_back({});
    }

    bool is_over() const { return answer_ != 0; }
    bool has_begun() const { return begun_; }
    /// False: it waits for the fetch that it has joined.
    bool may_go() const {
        auto const& hop = hops_.back();
        return !is_over() && !(hop.follow && hop.follow->view().phase == FillView::Phase::head);
    }
    /// Looks in a cache, asks the next one or the origin, or takes an answer.
    void go() {
        begun_ = true;
        do step();
        while (!manner_.is_slow && is_hurried());
    }
    int answer() const { return answer_; }

private:
    enum class Stage { looks, leases, decides, asks, receives };
    struct Hop {
        Stage stage = Stage::looks;
        bool passes = false;      // no-cache
        bool passes_on = false;   // the request to the next hop has no-cache
        FillLease lead{};
        store::ObjectPtr stale{};
        FillPtr follow{};
        int received = 0;   // version in the response
    };

    Tier& tier() { return *path_[hops_.size() - 1]; }
    Cache& cache() { return tier().scene.cache; }
    bool is_last() const { return hops_.size() == path_.size(); }
    static int version_of(store::Object const& object) { return object.bytes().front() - '0'; }

    /// The next stage does not wait for another program.
    bool is_hurried() const {
        auto const& hop = hops_.back();
        if (is_over() || hop.follow) return false;
        return hop.stage == Stage::leases || hop.stage == Stage::decides || (hop.stage == Stage::asks && !is_last());
    }
    void step() {
        auto& hop = hops_.back();
        if (hop.follow) return take_followed();
        bool const is_wrong = manner_.error == Error::decides_before_lease;
        switch (hop.stage) {
        case Stage::looks: hop.stage = is_wrong ? Stage::decides : Stage::leases; return look();
        case Stage::leases:
            if (!hop.lead) hop.lead = cache().lease(cache().key(url_), hop.stale);
            hop.stage = is_wrong ? Stage::asks : Stage::decides;
            return;
        case Stage::decides:
            hop.passes_on = manner_.error != Error::no_pass && (hop.passes || tier().must_pass(url_));
            hop.stage = hop.lead ? Stage::asks : Stage::leases;
            return;
        case Stage::asks: hop.stage = Stage::receives; return ask();
        case Stage::receives: return take_response();
        }
    }
    void look() {
        auto& hop = hops_.back();
        Ask ask;
        ask.control.no_cache = hop.passes;
        bool const joins_none = hop.passes && manner_.error != Error::passing_joins;
        if (manner_.alone || joins_none) ask.collapse = Collapse::alone;
        auto found = tier().scene.lookup(url_, ask);
        if (found.kind == Kind::fresh) return give(version_of(*found.object));
        hop.stale = found.kind == Kind::stale ? found.object : nullptr;
        hop.follow = found.follow;
        hop.lead = std::move(found.lead);
    }
    void ask() {
        if (is_last())
            hops_.back().received = origin_();
        else
            hops_.push_back({.passes = hops_.back().passes_on});
    }

    void take_response() {
        auto& hop = hops_.back();
        auto const version = hop.received;
        auto const& invalidations = cache().invalidations;
        bool const is_same = hop.stale && version_of(*hop.stale) == version;
        auto const asked = hop.lead.fill()->asked();
        bool const is_outdated = is_same && (invalidations.judge(*hop.stale, asked) || invalidations.judge(*hop.stale).is_hard());
        if (is_outdated) {
            hop.stale = nullptr;   // the 304 says nothing about the time since
            hop.received = 0;
            hop.stage = Stage::decides;
            return;
        }
        hop.lead.complete(object(version, is_same ? hop.stale : nullptr, asked), {}, {});
        give(version);
    }
    store::ObjectPtr object(int version, store::ObjectPtr const& freshened, std::uint64_t asked) {
        auto const body = std::to_string(version);
        store::Object::Parts parts;
        parts.key = url_;
        parts.head = "HTTP/1.1 200 OK\r\n";
        parts.bytes = body;
        parts.terms = Scene::terms(1'000);
        parts.sequence = freshened ? std::max(freshened->sequence(), asked) : tier().scene.next();
        return cache().memory().make_object(parts, cache().key(url_).fingerprint);
    }

    void take_followed() {
        auto& hop = hops_.back();
        auto const fill = std::move(hop.follow);
        auto const view = fill->view();
        bool const is_complete = view.phase == FillView::Phase::complete;
        bool const is_outdated = is_complete && cache().invalidations.judge(*view.object, fill->asked());
        if (is_complete && (!is_outdated || manner_.error == Error::uses_what_it_joined)) return give(version_of(*view.object));
        hop = {.passes = hop.passes};   // looks again
    }
    void give(int version) {
        hops_.pop_back();
        if (hops_.empty())
            answer_ = version;
        else
            hops_.back().received = version;
    }

    std::vector<Tier*> const path_;
    std::string const url_;
    Origin const origin_;
    Manner const manner_;
    std::vector<Hop> hops_;
    bool begun_ = false;
    int answer_ = 0;
};

/// One order of the steps, by the choices at each step.
class Walk {
public:
    Walk(Tiers& tiers, Case const& what)
        : tiers_(tiers), what_(what), url_("fhttp://a.example/" + std::to_string(++tiers.walks) + "/"), requests_(make_requests()) {
        child().applied = parent().applied = false;
        bool const stale = what.start == Start::both_are_stale;
        if (what.start != Start::empty) store(parent(), stale);
        if (what.start == Start::both_have_it || stale) store(child(), stale);
    }

    /// `choices`: taken first, and extended by 0. `options`: their numbers of alternatives. Empty, or what is wrong.
    std::string run(std::vector<std::size_t>& choices, std::vector<std::size_t>& options) {
        options.clear();
        for (std::size_t step = 0;; ++step) {
            auto const actions = possible();
            if (actions.empty()) break;
            if (step == choices.size()) choices.push_back(0);
            options.push_back(actions.size());
            act(actions[choices[step]]);
        }
        // Two leases later: requests use caches again.
        for (auto const& path : {std::vector{&child(), &parent()}, std::vector{&parent()}}) {
            Request last(path, url_, [this] { return version_; }, {.error = Error::no_pass});
            while (!last.is_over() && last.may_go()) last.go();
            if (last.answer() != 2)
                wrong_ += " at last " + std::to_string(last.answer()) + " from " + (path.size() == 2 ? "child" : "parent");
        }
        return wrong_.empty() ? "" : log_ + ":" + wrong_;
    }

private:
    enum Action : std::size_t { first, second, publish, apply_child, apply_parent };

    Tier& child() { return *tiers_.child; }
    Tier& parent() { return *tiers_.parent; }
    std::array<Request, 2> make_requests() {
        // A watermark concerns the URLs of all walks.
        if (what_.by == By::watermark) tiers_.child = std::make_unique<Tier>();
        std::vector<Tier*> const both{&child(), &parent()};
        auto const origin = [this] { return version_; };
        bool const is_slow = what_.second == Second::none;
        return {Request(both, url_, origin, {.error = tiers_.error, .is_slow = is_slow, .alone = what_.alone}),
                Request(what_.second == Second::at_parent ? std::vector{&parent()} : both, url_, origin, {.error = tiers_.error})};
    }
    void store(Tier& tier, bool stale) {
        Answer answer;
        answer.body = "1";
        answer.lifetime = stale ? 0 : 1'000;
        tier.scene.store(url_, answer);
    }
    std::vector<Action> possible() const {
        std::vector<Action> all;
        if (requests_[0].may_go()) all.push_back(first);
        // Two requests at the child are alike: the first one begins first.
        bool const is_turn = what_.second == Second::at_parent || (what_.second == Second::at_child && requests_[0].has_begun());
        if (is_turn && requests_[1].may_go()) all.push_back(second);
        if (version_ == 1) all.push_back(publish);
        if (version_ == 2 && !tiers_.child->applied) all.push_back(apply_child);
        if (version_ == 2 && !tiers_.parent->applied) all.push_back(apply_parent);
        return all;
    }
    void act(Action action) {
        constexpr char const* names[]{" first", " second", " publish", " child", " parent"};
        log_ += names[action];
        if (action == publish) version_ = 2;
        if (action == apply_child) apply(child());
        if (action == apply_parent) apply(parent());
        if (action > second) return;
        auto& request = requests_[action];
        bool const is_due = child().applied && parent().applied;
        if (!request.has_begun()) due_[action] = is_due;
        request.go();
        if (request.is_over() && due_[action] && request.answer() != 2) wrong_ += names[action];
    }
    void apply(Tier& tier) {
        tier.applied = true;
        auto& cache = tier.scene.cache;
        auto const url = std::string(plain_url_of(url_));
        if (what_.by == By::watermark && &tier == tiers_.child.get()) return void(cache.invalidations.raise_watermark(wall_now()));
        if (what_.by == By::soft) return cache.invalidate(*url_invalidation(url, true));
        if (what_.by != By::purge) return cache.invalidate(*prefix_invalidation(url, false));
        cache.invalidations.accept_purged(*url_invalidation(url, false), wall_now());
        cache.purge(url);
    }

    Tiers& tiers_;
    Case const what_;
    std::string const url_;
    int version_ = 1;
    std::array<Request, 2> requests_;
    std::array<bool, 2> due_{};
    std::string log_, wrong_;
};

/// The next combination of choices in the order of an odometer. False after the last one.
bool advance(std::vector<std::size_t>& choices, std::vector<std::size_t> const& options) {
    while (!choices.empty() && choices.back() + 1 == options[choices.size() - 1]) choices.pop_back();
    if (choices.empty()) return false;
    ++choices.back();
    return true;
}

/// The first order that is wrong; empty: none. Counts the orders.
std::string first_wrong(Tiers& tiers, Case const& what, unsigned& count) {
    std::vector<std::size_t> choices, options;
    std::string wrong;
    do {
        Walk walk(tiers, what);
        wrong = walk.run(choices, options);
        ++count;
    } while (wrong.empty() && advance(choices, options));
    return wrong;
}

std::vector<Case> all_cases() {
    std::vector<Case> all;
    for (auto const by : {By::purge, By::prefix, By::soft, By::watermark})
        for (auto const start : {Start::empty, Start::parent_has_it, Start::both_have_it, Start::both_are_stale}) {
            // A hard invalidation of stale responses is like one of absent responses.
            if (start == Start::both_are_stale && (by == By::purge || by == By::prefix)) continue;
            for (auto const second : {Second::at_child, Second::at_parent}) all.push_back({start, by, second});
            for (bool const alone : {false, true}) all.push_back({start, by, Second::none, alone});
        }
    return all;
}

TEST(TwoTiers, no_order_of_events_brings_back_what_was_invalidated) {
    Tiers tiers;
    unsigned count = 0;
    for (auto const& [start, by, second, alone] : all_cases())
        EXPECT_EQ(first_wrong(tiers, {start, by, second, alone}, count), "")
            << "start " << static_cast<int>(start) << ", by " << static_cast<int>(by) << ", second " << static_cast<int>(second)
            << (alone ? ", alone" : "");
    EXPECT_GT(count, 40'000U);
}

TEST(TwoTiers, the_walk_finds_errors_of_a_proxy) {
    auto const cases = all_cases();
    for (auto const error : {Error::no_pass, Error::uses_what_it_joined, Error::passing_joins, Error::decides_before_lease}) {
        Tiers tiers;
        tiers.error = error;
        unsigned count = 0;
        auto const is_found = [&](Case const& what) { return !first_wrong(tiers, what, count).empty(); };
        EXPECT_TRUE(std::ranges::any_of(cases, is_found)) << static_cast<int>(error);
    }
}

}   // namespace
}   // namespace two_tiers
}   // namespace garner::cache
