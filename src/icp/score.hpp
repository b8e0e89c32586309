// Ranks the sources by when the response would arrive; used by source selection and by the waiting alike.
#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "icp/choice.hpp"

namespace garner::icp {

/// Its configured weight; at least 1.
inline double weight_of(PeerView const& view) { return std::max(view.options->weight, 1u); }

/// The round trip to a peer, if known: measured by a query, else by a connection.
inline std::optional<microseconds> rtt_of(PeerView const& view) { return view.query_rtt ? view.query_rtt : view.connect_rtt; }

/// The round trip of a reply: measured for this query, except for digests, which send nothing.
inline double rtt_of(PeerView const& view, Told const& told) {
    if (!replies_at_once(told.protocol)) return static_cast<double>(told.took.count());
    return static_cast<double>(rtt_of(view).value_or(told.took).count());
}

/// True when the peer can be used now.
inline bool usable(PeerView const& view) { return view.health != Health::dead && !view.full; }

/// A source that has the response.
struct Holder {
    std::size_t place = 0;                   // index of the view, or `origin`
    Protocol protocol = Protocol::icp;       // if it is a peer
    double rtt = 0;                          // µs
    std::optional<double> throughput = {};   // bytes per second
    double weight = 1;
    static constexpr std::size_t origin = SIZE_MAX;
};

/// The usable peers that sent a HIT, in the order of their replies, then the origin if its remembered times let it compete
/// with them.
std::vector<Holder> holders(Question const&, std::span<PeerView const>, std::span<Told const>);

/// The body's size, if a reply or the question has it.
std::optional<Bytes> size_of(Question const&, std::span<Told const>);

/// µs until the whole body would be here, divided by the weight; the least wins. Transfer times count only if known for all
/// of `competing`: a partial knowledge would count against the known ones.
class Score {
public:
    Score(std::optional<Bytes> size, std::span<Holder const> competing);
    double operator()(Holder const& holder) const { return (holder.rtt + transfer(holder)) / holder.weight; }
    /// The longest round trip for a score below `score`.
    double rtt_below(double score, Holder const& holder) const { return score * holder.weight - transfer(holder); }

private:
    double transfer(Holder const&) const;
    std::optional<Bytes> size_;
};

/// The remembered origin is nearer than every peer that would be waited for: no reply could be better.
bool origin_is_nearest(Question const&, std::span<PeerView const>);

}   // namespace garner::icp
