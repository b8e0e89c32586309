// Who would have the response here first: what the choice and the waiting for it reckon with alike.
#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "icp/choice.hpp"

namespace garner::icp {

/// Its share of the wins; 1 for what has been given none.
inline double weight_of(PeerView const& view) { return std::max(view.options->weight, 1u); }

/// To a peer, as far as it is known: of a query, else of a connection.
inline std::optional<microseconds> rtt_of(PeerView const& view) {
    return view.query_rtt ? view.query_rtt : view.connect_rtt;
}

/// The round trip of what was said: measured just now, but where nothing was sent.
inline double rtt_of(PeerView const& view, Told const& told) {
    if (told.protocol != Protocol::digest) return static_cast<double>(told.took.count());
    return static_cast<double>(rtt_of(view).value_or(told.took).count());
}

/// It can be used now.
inline bool usable(PeerView const& view) { return view.health != Health::dead && !view.full; }

/// One that has the response.
struct Holder {
    std::size_t place = 0;                  // among the views, or `origin`
    Protocol protocol = Protocol::icp;      // of a peer
    double rtt = 0;                         // µs
    std::optional<double> throughput = {};  // bytes a second
    double weight = 1;
    static constexpr std::size_t origin = SIZE_MAX;
};

/// Those with a HIT who can be used, in the order in which they said so, then the origin where it competes with them by what
/// is remembered of it.
std::vector<Holder> holders(Question const&, std::span<PeerView const>, std::span<Told const>);

/// The body's size, as far as anybody has said.
std::optional<Bytes> size_of(Question const&, std::span<Told const>);

/// µs until all of it would be here, by weight; the least wins. The transfer's time counts where it is known of all
/// `competing`: what is known of some only would speak against them.
class Score {
public:
    Score(std::optional<Bytes> size, std::span<Holder const> competing);
    double operator()(Holder const& holder) const { return (holder.rtt + transfer(holder)) / holder.weight; }
    /// The longest round trip with which it would have a score below `score`.
    double rtt_below(double score, Holder const& holder) const { return score * holder.weight - transfer(holder); }

private:
    double transfer(Holder const&) const;
    std::optional<Bytes> size_;
};

/// The remembered origin is nearer than every peer that would be waited for: no answer could be better.
bool origin_is_nearest(Question const&, std::span<PeerView const>);

}  // namespace garner::icp
