// Orders the sources of a response.
#include "icp/choice.hpp"

#include <algorithm>

#include "icp/https.hpp"
#include "icp/score.hpp"
#include "icp/srv_peers.hpp"

namespace garner::icp {

namespace {

using Direct = Question::Direct;

constexpr std::size_t ways_max = 8;   // sources tried for one request at most

Hierarchy hit_of(PeerOptions const& options, Protocol protocol) {
    bool const parent = options.type == PeerOptions::Type::parent;
    if (protocol == Protocol::digest) return parent ? Hierarchy::cd_parent_hit : Hierarchy::cd_sibling_hit;
    return parent ? Hierarchy::parent_hit : Hierarchy::sibling_hit;
}

/// A choice while it is built: each step appends sources. The existing ones keep their positions.
class Choice {
public:
    Choice(Question const& question, std::span<PeerView const> views, std::span<Told const> told)
        : question_(question), views_(views), told_(told), used_(views.size()) {}

    void origin(Hierarchy why);
    void bound(Health);
    void hits();
    void nearest_origin();
    void misses();
    void unasked(std::vector<std::size_t> const& theirs);
    void unheard();
    void last_resort();
    std::vector<std::size_t> parents(Health) const;
    std::vector<std::size_t> readers(Health) const;
    std::vector<Source> take();

private:
    struct Missed {
        std::size_t place = 0;
        bool measured = false;   // it reported its distance to the origin
        double way = 0;          // µs to the origin, as far as known
    };
    std::vector<Missed> missed() const;
    std::vector<std::size_t> of_its_group(Missed const& one, std::vector<Missed> const& all) const;
    bool may_fetch(std::size_t place) const;
    bool is_unqueried(std::size_t place) const;
    void groups(std::vector<std::size_t> const& parents);
    void in_turn(std::vector<std::size_t> const& parents);
    void add(std::size_t place, Hierarchy why);

    Question const& question_;
    std::span<PeerView const> views_;
    std::span<Told const> told_;
    std::vector<bool> used_;   // by index of the view
    bool has_origin_ = false;
    std::vector<Source> sources_;
};

void Choice::origin(Hierarchy why) {
    if (has_origin_ || question_.direct == Direct::never) return;
    has_origin_ = true;
    sources_.push_back({nullptr, why});
}

/// Keeps one entry free for the origin.
void Choice::add(std::size_t place, Hierarchy why) {
    bool const origin_follows = !has_origin_ && question_.direct != Direct::never;
    if (used_[place] || sources_.size() + origin_follows >= ways_max) return;
    used_[place] = true;
    sources_.push_back({views_[place].peer, why});
}

/// A parent for this host that has not refused to fetch.
bool Choice::may_fetch(std::size_t place) const {
    auto const& options = *views_[place].options;
    if (options.type != PeerOptions::Type::parent || binding_of(options, question_.host) == Binding::none) return false;
    return std::none_of(told_.begin(), told_.end(), [&](Told const& one) {
        return one.peer == place && (one.reply == ReplyKind::denied || one.reply == ReplyKind::miss_nofetch);
    });
}

std::vector<std::size_t> Choice::parents(Health health) const {
    std::vector<std::size_t> found;
    for (std::size_t place = 0; place < views_.size(); ++place)
        if (views_[place].health == health && !views_[place].full && may_fetch(place)) found.push_back(place);
    order_servers(views_, question_.turn, found);
    return found;
}

/// Without the parents that only tunnel the request.
std::vector<std::size_t> Choice::readers(Health health) const {
    auto theirs = parents(health);
    if (question_.https) std::erase_if(theirs, [&](std::size_t place) { return !reads_https(*views_[place].options); });
    return theirs;
}

void Choice::bound(Health health) {
    auto theirs = parents(health);
    std::erase_if(theirs, [&](std::size_t place) { return binding_of(*views_[place].options, question_.host) != Binding::bound; });
    groups(theirs);
    for (auto const place : theirs) add(place, Hierarchy::single_parent);
}

void Choice::hits() {
    auto found = holders(question_, views_, told_);
    Score const score(size_of(question_, told_), found);
    std::stable_sort(found.begin(), found.end(), [&](Holder const& a, Holder const& b) { return score(a) < score(b); });
    for (auto const& holder : found) {
        if (holder.place == Holder::origin)
            origin(Hierarchy::source_fastest);
        else
            add(holder.place, hit_of(*views_[holder.place].options, holder.protocol));
    }
}

void Choice::nearest_origin() {
    if (origin_is_nearest(question_, views_)) origin(Hierarchy::closest_direct);
}

std::vector<Choice::Missed> Choice::missed() const {
    std::vector<Missed> all;
    for (auto const& one : told_) {
        if (one.reply != ReplyKind::miss) continue;
        auto const& view = views_[one.peer];
        if (!usable(view) || !may_fetch(one.peer)) continue;
        auto const rtt = rtt_of(view, one);
        if (one.source_rtt)
            all.push_back({one.peer, true, rtt + static_cast<double>(microseconds(*one.source_rtt).count())});
        else
            all.push_back({one.peer, false, rtt / weight_of(view)});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](Missed const& a, Missed const& b) { return a.measured != b.measured ? a.measured : a.way < b.way; });
    return all;
}

void Choice::misses() {
    auto const all = missed();
    if (all.empty()) return;
    auto const& near = question_.origin_rtt;
    if (near && static_cast<double>(near->count()) < all.front().way) origin(Hierarchy::closest_direct);
    for (auto const& one : all) {
        // In a group, the owner of the URL goes before the closest parent. Otherwise each child would fetch the URL through
        // another one.
        groups(of_its_group(one, all));
        add(one.place, one.measured ? Hierarchy::closest_parent_miss : Hierarchy::first_parent_miss);
    }
}

std::vector<std::size_t> Choice::of_its_group(Missed const& one, std::vector<Missed> const& all) const {
    std::vector<std::size_t> found;
    for (auto const& other : all)
        if (views_[other.place].options->group == views_[one.place].options->group) found.push_back(other.place);
    return found;
}

/// Each group is ordered by its members' scores; the groups follow the order of their first members.
void Choice::groups(std::vector<std::size_t> const& parents) {
    auto const group_of = [&](std::size_t place) -> std::string const& { return views_[place].options->group; };
    for (auto const leader : parents) {
        if (group_of(leader).empty() || used_[leader]) continue;
        struct Member {
            bool preferred;
            double score;
            std::size_t place;
            auto operator<=>(Member const&) const = default;
        };
        std::vector<Member> members;
        for (auto const place : parents) {
            auto const& options = *views_[place].options;
            if (options.group != group_of(leader)) continue;
            auto const score = rendezvous_score(question_.url, options.name, scaled_weight(options));
            members.push_back({!views_[place].standby, score, place});
        }
        std::sort(members.begin(), members.end(), std::greater<>{});
        for (auto const& member : members) add(member.place, Hierarchy::carp);
    }
}

void Choice::in_turn(std::vector<std::size_t> const& parents) {
    std::vector<std::size_t> those, standby;
    for (auto const place : parents)
        if (views_[place].options->round_robin) (views_[place].standby ? standby : those).push_back(place);
    for (std::size_t i = 0; i < those.size(); ++i) add(those[(question_.turn + i) % those.size()], Hierarchy::roundrobin_parent);
    for (auto const place : standby) add(place, Hierarchy::roundrobin_parent);
}

/// Used without a query. A query in clear text must not name an https:// URL.
bool Choice::is_unqueried(std::size_t place) const {
    auto const& options = *views_[place].options;
    return options.no_query || (question_.https && question_.hierarchical && https_of(options) == Https::ask);
}

void Choice::unasked(std::vector<std::size_t> const& theirs) {
    groups(theirs);
    for (auto const place : theirs)
        if (views_[place].options->is_default) add(place, Hierarchy::default_parent);
    in_turn(theirs);
    for (auto const place : theirs)
        if (is_unqueried(place) || question_.direct == Direct::never) add(place, Hierarchy::firstup_parent);
}

/// A digest's HIT spared the query to the parents, but may be false: they follow as a fallback, before the origin.
void Choice::unheard() {
    bool const by_digest = std::any_of(
        told_.begin(), told_.end(), [](Told const& one) { return one.reply == ReplyKind::hit && replies_at_once(one.protocol); });
    if (!by_digest) return;
    auto theirs = readers(Health::alive);
    auto const way = [&](std::size_t place) {
        auto const rtt = rtt_of(views_[place]).value_or(microseconds::max());
        return static_cast<double>(rtt.count()) / weight_of(views_[place]);
    };
    std::stable_sort(theirs.begin(), theirs.end(), [&](std::size_t a, std::size_t b) { return way(a) < way(b); });
    for (auto const place : theirs) add(place, Hierarchy::firstup_parent);
}

/// If no other source may be used: includes parents that were dead or full a moment ago.
void Choice::last_resort() {
    if (question_.direct != Direct::never) return;
    for (std::size_t place = 0; place < views_.size(); ++place)
        if (may_fetch(place)) add(place, Hierarchy::any_old_parent);
}

std::vector<Source> Choice::take() {
    if (sources_.empty()) sources_.push_back({nullptr, Hierarchy::no_direct_fail});
    return std::move(sources_);
}

}   // namespace

std::vector<Source> choose(Question const& question, std::span<PeerView const> views, std::span<Told const> told) {
    Choice choice(question, views, told);
    if (question.direct == Direct::always) {
        choice.origin(Hierarchy::direct);
        return choice.take();
    }
    choice.bound(Health::alive);
    choice.bound(Health::suspect);
    if (!question.hierarchical) choice.origin(Hierarchy::direct);
    choice.hits();
    choice.nearest_origin();
    choice.misses();
    choice.unasked(choice.readers(Health::alive));
    choice.unheard();
    choice.origin(Hierarchy::direct);
    choice.unasked(choice.parents(Health::alive));
    choice.unasked(choice.parents(Health::suspect));
    choice.last_resort();
    return choice.take();
}

}   // namespace garner::icp
