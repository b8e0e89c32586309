#include "seen/service_state.hpp"

#include <algorithm>

namespace garner::seen {

Result<std::unique_ptr<ServiceState>> ServiceState::open(Options const& options, net::asio::io_context& io) {
    auto keeper = SetKeeper::open(options);
    if (!keeper) return keeper.fault();
    std::unique_ptr<ServiceState> state(new ServiceState(options, io));
    state->keeper_ = *std::move(keeper);
    state->sorting_.layers = *crawl::UrlLayers::read(options.layers);
    state->sorting_.links_max = options.batch_links;
    auto const partitions = static_cast<std::uint32_t>(options.peers.size());
    state->links_.resize(std::max(partitions, 1u));
    if (partitions < 2) return state;
    state->sorting_.splitter = crawl::HostSplitter(partitions);
    state->sorting_.own = options.partition;
    state->sorting_.answered = &state->answered_.emplace(options.answered_entries);
    state->own_words_ = forwarded_words(options, options.partition);
    for (std::uint32_t i = 0; i < partitions; ++i)
        if (i != options.partition) state->links_[i] = std::make_unique<PeerLink>(io, options, i, *state->answered_);
    return state;
}

bool ServiceState::allows(IpAddress const& client) const { return client.is_loopback() || is_among(client, options_.allow); }

bool ServiceState::has_room(Batch const& batch) const {
    if (!batch.own.empty() && !keeper_->has_room(batch.own.size())) return false;
    for (auto const& link : links_)
        if (link && !batch.foreign[link->partition()].empty() && !link->has_room(batch.foreign[link->partition()].size()))
            return false;
    return true;
}

bool ServiceState::hold(Bytes before, Bytes after) {
    held_ = held_ - before + after;
    return held_ <= options_.held_bytes || after <= before;
}

void ServiceState::count(Batch const& batch, bool forwarded, bool durable) {
    std::array<std::uint64_t, 256> counts{};
    for (auto const answer : batch.answers) ++counts[answer];
    ++counters.batches;
    counters.links += batch.answers.size();
    counters.fresh += counts[is_new];
    counters.not_durable += counts[not_durable];
    counters.repeated += counts[already_seen];
    for (std::size_t answer = is_new + 1; answer <= not_text; ++answer) counters.refused[answer] += counts[answer];
    for (std::uint32_t i = 0; i < partitions_max; ++i) counters.unreachable += counts[unreachable(i)];
    counters.kept_home += batch.kept_home;
    counters.durable_batches += durable;
    if (!forwarded) return;
    ++counters.forwarded_batches;
    counters.forwarded_links += batch.answers.size();
}

}   // namespace garner::seen
