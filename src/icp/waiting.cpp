// Decides how long to wait for replies.
#include <algorithm>

#include "icp/score.hpp"

namespace garner::icp {

namespace {

bool has_spoken(std::size_t place, std::span<Told const> told) {
    return std::any_of(told.begin(), told.end(), [&](Told const& one) { return one.peer == place; });
}

}   // namespace

microseconds patience(Plan const& whom, std::span<PeerView const> views, milliseconds timeout_min, milliseconds timeout) {
    if (whom.wait_for.empty()) return microseconds{0};
    microseconds sum{0};
    int known = 0;
    for (auto const place : whom.wait_for) {
        if (!views[place].query_rtt) continue;
        sum += *views[place].query_rtt;
        ++known;
    }
    microseconds const most = timeout;
    if (known == 0) return most;
    return std::min(std::max<microseconds>(2 * sum / known, timeout_min), most);
}

microseconds worth_waiting(Question const& question, Plan const& whom, std::span<PeerView const> views, std::span<Told const> told,
                           microseconds patience) {
    std::vector<std::size_t> silent;
    for (auto const place : whom.wait_for)
        if (!has_spoken(place, told)) silent.push_back(place);
    if (silent.empty()) return microseconds{0};
    auto competing = holders(question, views, told);
    if (competing.empty()) return patience;

    microseconds worth{0};
    for (auto const place : silent) {
        auto const& view = views[place];
        if (!view.query_rtt) continue;
        Holder const other{place, Protocol::icp, static_cast<double>(view.query_rtt->count()), view.throughput, weight_of(view)};
        competing.push_back(other);
        Score const score(size_of(question, told), competing);
        competing.pop_back();
        auto const best = *std::min_element(competing.begin(), competing.end(),
                                            [&](Holder const& a, Holder const& b) { return score(a) < score(b); });
        // Time only worsens its score: without more weight it would have had to reply first.
        if (other.weight <= best.weight || score(other) >= score(best)) continue;
        worth = std::max(worth, microseconds{static_cast<std::int64_t>(score.rtt_below(score(best), other))});
    }
    return std::min(worth, patience);
}

}   // namespace garner::icp
