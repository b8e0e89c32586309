// Plans which peers to query.
#include <algorithm>

#include "icp/https.hpp"
#include "icp/score.hpp"

namespace garner::icp {

namespace {

bool is_parent(PeerView const& view) { return view.options->type == PeerOptions::Type::parent; }

bool is_asked(Question const& question, PeerView const& view) {
    return can_be_asked(question, view) && !view.full && !view.standby && binding_of(*view.options, question.host) != Binding::none;
}

}   // namespace

bool takes_part(Question const& question, PeerOptions const& options) {
    bool const is_sibling = options.type == PeerOptions::Type::sibling;
    return (!question.https || https_of(options) != Https::no) && !(question.only_parents && is_sibling);
}

bool can_be_asked(Question const& question, PeerView const& view) {
    bool const by_query = view.askable && (!question.https || https_of(*view.options) == Https::clear);
    bool const by_digest = view.has_digest && (!question.https || reads_https(*view.options));
    return by_query || by_digest;
}

Plan plan(Question const& question, std::span<PeerView const> views) {
    if (question.direct == Question::Direct::always || !question.hierarchical) return {};
    bool const bound = std::any_of(views.begin(), views.end(), [&](PeerView const& view) {
        return is_parent(view) && usable(view) && binding_of(*view.options, question.host) == Binding::bound;
    });
    if (bound || origin_is_nearest(question, views)) return {};
    Plan whom;
    for (std::size_t place = 0; place < views.size(); ++place) {
        if (!is_asked(question, views[place])) continue;
        whom.ask.push_back(place);
        if (views[place].health == Health::alive) whom.wait_for.push_back(place);
    }
    return whom;
}

bool origin_is_nearest(Question const& question, std::span<PeerView const> views) {
    if (question.direct != Question::Direct::may || !question.origin_rtt) return false;
    // Beyond one round trip, a large body depends on throughput: peers that may have it are queried.
    if (question.size && question.origin_throughput) return false;
    bool anybody = false;
    for (auto const& view : views) {
        if (view.health != Health::alive || !is_asked(question, view)) continue;
        anybody = true;
        auto const rtt = rtt_of(view);
        if (!rtt || static_cast<double>(rtt->count()) / weight_of(view) <= static_cast<double>(question.origin_rtt->count()))
            return false;
    }
    return anybody;
}

Binding binding_of(PeerOptions const& options, std::string_view host) {
    bool all_excluded = true;
    for (auto const& domain : options.domains) {
        if (domain.host.matches(host)) {
            if (domain.excluded) return Binding::none;
            return options.type == PeerOptions::Type::parent ? Binding::bound : Binding::eligible;
        }
        all_excluded = all_excluded && domain.excluded;
    }
    return all_excluded ? Binding::eligible : Binding::none;
}

}   // namespace garner::icp
