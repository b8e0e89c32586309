#include "icp/origin_times.hpp"

namespace garner::icp {

OriginTimes::Known OriginTimes::find(std::string_view host, SteadyTime now) {
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    auto const* times = shard.hosts.use(host);
    if (!times || now - times->seen > valid) return {};
    return {times->rtt.mean_time(), times->throughput.mean()};
}

void OriginTimes::connected(std::string_view host, microseconds rtt, SteadyTime now) {
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    times_of(shard, host, now).rtt.add(rtt);
}

void OriginTimes::fetched(std::string_view host, Bytes bytes, microseconds took, SteadyTime now) {
    auto const rate = throughput_of(bytes, took);
    if (!rate) return;
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    times_of(shard, host, now).throughput.add(*rate);
}

std::size_t OriginTimes::size() const {
    std::size_t sum = 0;
    for (auto const& shard : shards_) {
        MutexLock const lock(shard.mutex);
        sum += shard.hosts.size();
    }
    return sum;
}

OriginTimes::Times& OriginTimes::times_of(Shard& shard, std::string_view host, SteadyTime now) {
    auto& times = shard.hosts.get(host, hosts_max / shards_.size());
    if (now - times.seen > valid) times = {};
    times.seen = now;
    return times;
}

}   // namespace garner::icp
