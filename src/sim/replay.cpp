#include "sim/replay.hpp"

#include <time.h>

#include <algorithm>

#include "policy/policies.hpp"
#include "sim/tier.hpp"

namespace garner::sim {
namespace {

constexpr std::size_t ahead = 16;             // requests: as long as a line takes to come from memory
constexpr std::size_t turn = 1 << 16;         // requests between two looks at the counter

/// Of this thread alone, in seconds: others may share the processor.
double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Requests [from, to) and what they miss.
void replay_some(Tier& tier, Trace const& trace, std::size_t from, std::size_t to, Result& result) {
    std::uint64_t misses = 0;
    Bytes missed_bytes = 0, bytes = 0;
    for (auto i = from; i < to; ++i) {
        if (i + ahead < trace.requests()) tier.prefetch(trace.keys[i + ahead]);
        auto size = trace.sizes[i];
        bytes += size;
        if (tier.request(trace.keys[i], size)) continue;
        ++misses;
        missed_bytes += size;
    }
    result.misses += static_cast<double>(misses);
    result.missed_bytes += static_cast<double>(missed_bytes);
    result.bytes += bytes;
}

}  // namespace

std::optional<Result> replay(Trace const& trace, std::string_view spec, ReplayOptions const& options) {
    policy::Options of_policy;
    of_policy.capacity = options.size;
    of_policy.seed = options.seed;
    Tier tier(policy::make(spec, of_policy), options.size, options.object_max);
    Result result;
    result.policy = spec;
    result.size = options.size;
    result.requests = trace.requests();
    auto begin = cpu_seconds();
    for (std::size_t from = 0; from < trace.requests(); from += turn) {
        if (options.stop && *options.stop) return std::nullopt;
        auto to = std::min(from + turn, trace.requests());
        replay_some(tier, trace, from, to, result);
        if (options.replayed) options.replayed->fetch_add(to - from, std::memory_order_relaxed);
    }
    result.seconds = cpu_seconds() - begin;
    result.metadata = tier.metadata_bytes();
    result.objects_most = tier.objects_most();
    return result;
}

}  // namespace garner::sim
