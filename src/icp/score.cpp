#include "icp/score.hpp"

namespace garner::icp {

std::vector<Holder> holders(Question const& question, std::span<PeerView const> views, std::span<Told const> told) {
    std::vector<Holder> found;
    bool const may = question.direct == Question::Direct::may;
    for (auto const& one : told) {
        auto const& view = views[one.peer];
        if (one.reply == ReplyKind::hit && usable(view))
            found.push_back({one.peer, one.protocol, rtt_of(view, one), view.throughput, weight_of(view)});
    }
    bool const competes = may && question.origin_rtt && !found.empty();
    if (competes) {
        auto const rtt = static_cast<double>(question.origin_rtt->count());
        found.push_back({.place = Holder::origin, .rtt = rtt, .throughput = question.origin_throughput});
    }
    return found;
}

std::optional<Bytes> size_of(Question const& question, std::span<Told const> told) {
    if (question.size) return question.size;
    for (auto const& one : told)
        if (one.reply == ReplyKind::hit && one.size) return one.size;
    return std::nullopt;
}

Score::Score(std::optional<Bytes> size, std::span<Holder const> competing) : size_(size) {
    auto const known = [](Holder const& holder) { return holder.throughput && *holder.throughput > 0; };
    if (!std::all_of(competing.begin(), competing.end(), known)) size_.reset();
}

double Score::transfer(Holder const& holder) const { return size_ ? static_cast<double>(*size_) / *holder.throughput * 1e6 : 0; }

}   // namespace garner::icp
