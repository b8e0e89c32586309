#include "icp/origin_times.hpp"

#include <random>

namespace garner::icp {

OriginTimes::OriginTimes() {
    std::random_device device;
    hash_.seed = (std::uint64_t{device()} << 32) | device();
    for (auto& shard : shards_) shard.entries = decltype(shard.entries)(0, hash_);
}

OriginTimes::Known OriginTimes::find(std::string_view host, SteadyTime now) {
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    auto const found = shard.entries.find(host);
    if (found == shard.entries.end() || now - found->second.seen > valid) return {};
    auto& entry = found->second;
    entry.unlink();
    shard.by_use.push_back(entry);
    Known known;
    if (auto const rtt = entry.rtt.mean()) known.rtt = microseconds{static_cast<std::int64_t>(*rtt)};
    known.throughput = entry.throughput.mean();
    return known;
}

void OriginTimes::connected(std::string_view host, microseconds rtt, SteadyTime now) {
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    entry_of(shard, host, now).rtt.add(static_cast<double>(rtt.count()));
}

void OriginTimes::fetched(std::string_view host, Bytes bytes, microseconds took, SteadyTime now) {
    auto const rate = throughput_of(bytes, took);
    if (!rate) return;
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    entry_of(shard, host, now).throughput.add(*rate);
}

std::size_t OriginTimes::size() const {
    std::size_t sum = 0;
    for (auto const& shard : shards_) {
        MutexLock const lock(shard.mutex);
        sum += shard.entries.size();
    }
    return sum;
}

OriginTimes::Entry& OriginTimes::entry_of(Shard& shard, std::string_view host, SteadyTime now) {
    auto found = shard.entries.find(host);
    if (found == shard.entries.end()) {
        if (shard.entries.size() >= hosts_max / shards_.size())
            shard.entries.erase(shard.entries.find(*shard.by_use.front().host));
        found = shard.entries.try_emplace(std::string(host)).first;
        found->second.host = &found->first;
    }
    auto& entry = found->second;
    if (now - entry.seen > valid) entry.rtt = entry.throughput = {};
    entry.seen = now;
    entry.unlink();
    shard.by_use.push_back(entry);
    return entry;
}

}  // namespace garner::icp
