// Every order of an invalidation, fetches, joined fetches, 304 and storing in a child and its parent. After both have applied the
// invalidation, no request gets what it covers. The child sends no-cache from then on, as the members of a group do.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "cache/scene.hpp"

namespace garner::cache {
namespace two_tiers {   // other tests have the same names
namespace {

using Kind = Lookup::Kind;

struct Tier {
    Scene scene;
    bool applied = false;
};

/// Deliberate errors of a proxy around its cache.
enum class Error { none, no_pass, uses_what_it_joined, passing_joins };

/// The tiers that all walks use in turn, each walk with a URL of its own.
struct Tiers {
    Tier child, parent;
    unsigned walks = 0;
    Error error = Error::none;
};

enum class Start { empty, parent_has_it, both_have_it, both_are_stale };
struct Case {
    Start start;
    bool soft;
    bool second_at_parent;
};

/// A request of a client: at the child, which asks the parent, or at the parent.
class Request {
public:
    using Origin = std::function<int()>;
    Request(std::vector<Tier*> path, std::string url, Origin origin, Error error)
        : path_(std::move(path)), url_(std::move(url)), origin_(std::move(origin)), error_(error) {
        hops_.push_back({});
    }

    bool is_over() const { return answer_ != 0; }
    bool has_begun() const { return begun_; }
    /// False: it waits for the fetch that it has joined.
    bool may_go() const {
        auto const& hop = hops_.back();
        return !is_over() && !(hop.follow && hop.follow->view().phase == FillView::Phase::head);
    }
    /// Looks in a cache, asks the origin, or takes an answer.
    void go() {
        begun_ = true;
        auto& hop = hops_.back();
        if (hop.follow) return take_followed();
        if (hop.received != 0) return take_response();
        if (hop.lead) return ask_origin();
        look();
    }
    int answer() const { return answer_; }

private:
    struct Hop {
        bool passes = false;   // no-cache
        FillLease lead{};
        store::ObjectPtr stale{};
        FillPtr follow{};
        int received = 0;   // version in the response
    };

    Tier& tier() { return *path_[hops_.size() - 1]; }
    Cache& cache() { return tier().scene.cache; }
    static int version_of(store::Object const& object) { return object.bytes().front() - '0'; }

    void look() {
        auto& hop = hops_.back();
        Ask ask;
        ask.control.no_cache = hop.passes;
        auto found = tier().scene.lookup(url_, ask);
        if (found.kind == Kind::fresh) return give(version_of(*found.object));
        hop.stale = found.kind == Kind::stale ? found.object : nullptr;
        hop.follow = found.follow;
        hop.lead = std::move(found.lead);
        // A request with no-cache uses no fetch that began before.
        if (hop.passes && error_ != Error::passing_joins) hop.follow = nullptr;
        if (hop.follow) return;
        if (!hop.lead) hop.lead = cache().lease(cache().key(url_), hop.stale);
        ask_next();
    }
    void ask_next() {
        if (hops_.size() == path_.size()) return;
        bool const passes = error_ != Error::no_pass && (hops_.back().passes || tier().applied);
        hops_.push_back({.passes = passes});
    }
    void ask_origin() { hops_.back().received = origin_(); }

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
            return ask_next();
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
        parts.sequence = freshened ? freshened->sequence() : tier().scene.next();
        if (freshened && cache().invalidations.judge(*freshened)) parts.sequence = std::max(parts.sequence, asked);
        return cache().memory().make_object(parts, cache().key(url_).fingerprint);
    }

    void take_followed() {
        auto& hop = hops_.back();
        auto const fill = std::move(hop.follow);
        auto const view = fill->view();
        bool const is_complete = view.phase == FillView::Phase::complete;
        bool const is_outdated = is_complete && cache().invalidations.judge(*view.object, fill->asked());
        if (is_complete && (!is_outdated || error_ == Error::uses_what_it_joined)) return give(version_of(*view.object));
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
    Error const error_;
    std::vector<Hop> hops_;
    bool begun_ = false;
    int answer_ = 0;
};

/// One order of the steps, by the choices at each step.
class Walk {
public:
    Walk(Tiers& tiers, Case const& what)
        : tiers_(tiers), what_(what), url_("fhttp://a.example/" + std::to_string(++tiers.walks)), requests_(make_requests()) {
        tiers.child.applied = tiers.parent.applied = false;
        bool const stale = what.start == Start::both_are_stale;
        if (what.start != Start::empty) store(tiers.parent, stale);
        if (what.start == Start::both_have_it || stale) store(tiers.child, stale);
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
        for (auto const& path : {std::vector{&tiers_.child, &tiers_.parent}, std::vector{&tiers_.parent}}) {
            Request last(
                path, url_, [this] { return version_; }, tiers_.error);
            while (!last.is_over() && last.may_go()) last.go();
            if (last.answer() != 2)
                wrong_ += " at last " + std::to_string(last.answer()) + " from " + (path.size() == 2 ? "child" : "parent");
        }
        return wrong_.empty() ? "" : log_ + ":" + wrong_;
    }

private:
    enum Action : std::size_t { first, second, publish, apply_child, apply_parent };

    std::array<Request, 2> make_requests() {
        std::vector<Tier*> const both{&tiers_.child, &tiers_.parent};
        auto const origin = [this] { return version_; };
        return {Request(both, url_, origin, tiers_.error),
                Request(what_.second_at_parent ? std::vector{&tiers_.parent} : both, url_, origin, tiers_.error)};
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
        bool const is_turn = what_.second_at_parent || requests_[0].has_begun();
        if (is_turn && requests_[1].may_go()) all.push_back(second);
        if (version_ == 1) all.push_back(publish);
        if (version_ == 2 && !tiers_.child.applied) all.push_back(apply_child);
        if (version_ == 2 && !tiers_.parent.applied) all.push_back(apply_parent);
        return all;
    }
    void act(Action action) {
        constexpr char const* names[]{" first", " second", " publish", " child", " parent"};
        log_ += names[action];
        if (action == publish) version_ = 2;
        if (action == apply_child) apply(tiers_.child);
        if (action == apply_parent) apply(tiers_.parent);
        if (action > second) return;
        auto& request = requests_[action];
        bool const is_due = tiers_.child.applied && tiers_.parent.applied;
        if (!request.has_begun()) due_[action] = is_due;
        request.go();
        if (request.is_over() && due_[action] && request.answer() != 2) wrong_ += names[action];
    }
    void apply(Tier& tier) {
        tier.applied = true;
        tier.scene.cache.invalidate({.kind = Invalidation::Kind::url, .soft = what_.soft, .origin = {}, .text = url_.substr(1)});
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

/// A hard invalidation of stale responses is like one of absent responses.
constexpr std::array cases{
    Case{Start::empty, false, false},        Case{Start::empty, false, true},         Case{Start::parent_has_it, false, false},
    Case{Start::parent_has_it, false, true}, Case{Start::parent_has_it, true, false}, Case{Start::parent_has_it, true, true},
    Case{Start::both_have_it, false, false}, Case{Start::both_have_it, false, true},  Case{Start::both_have_it, true, false},
    Case{Start::both_have_it, true, true},   Case{Start::both_are_stale, true, true}};

TEST(TwoTiers, no_order_of_events_brings_back_what_was_invalidated) {
    Tiers tiers;
    unsigned count = 0;
    for (auto const& what : cases) EXPECT_EQ(first_wrong(tiers, what, count), "") << &what - cases.data();
    EXPECT_GT(count, 20'000U);
}

TEST(TwoTiers, the_walk_finds_errors_of_a_proxy) {
    for (auto const error : {Error::no_pass, Error::uses_what_it_joined, Error::passing_joins}) {
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
