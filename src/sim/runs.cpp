#include "sim/runs.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <thread>

#include "policy/policies.hpp"
#include "sim/offline.hpp"
#include "sim/tier.hpp"
#include "sim/typed_policy.hpp"
#include "util/clock.hpp"
#include "util/mutex.hpp"

namespace garner::sim {
namespace {

constexpr std::size_t prefetched = 16;              // requests: about the time to load a cache line from memory
constexpr std::size_t requests_at_once = 1 << 16;   // between two checks of the flag that stops a replay

struct Job {
    std::string_view policy;
    Bytes size;    // size of the replayed cache
    Bytes shown;   // the cache size that it represents
};

std::vector<Job> jobs_of(Trace const& trace, SimOptions const& options) {
    std::vector<Job> jobs;
    auto scaled = [](Bytes size, double by) { return static_cast<Bytes>(static_cast<double>(size) * by); };
    for (auto const& wish : options.sizes)
        for (auto const& policy : options.policies) {
            // A share of the unique bytes already refers to the sampled objects.
            auto size = wish.of_trace(trace);
            if (options.sample >= 1)
                jobs.push_back({policy, size, size});
            else if (wish.of)
                jobs.push_back({policy, size, scaled(size, 1 / options.sample)});
            else
                jobs.push_back({policy, scaled(size, options.sample), size});
        }
    return jobs;
}

/// The difference between the sample's requests and its share of all requests counts as hits: the hottest keys are in the
/// sample by chance, and they hit at any size (SHARDS_adj, Waldspurger et al. 2015).
void adjust(Result& result, Trace const& trace, double sample) {
    auto requests = static_cast<double>(trace.requests() + trace.requests_left_out) * sample;
    auto bytes = static_cast<double>(trace.bytes + trace.bytes_left_out) * sample;
    result.requests = static_cast<std::uint64_t>(std::max(requests, result.misses));
    result.bytes = static_cast<Bytes>(std::max(bytes, result.missed_bytes));
}

/// Replays requests [from, to) and counts their misses.
template <class Policy>
void replay_some(Tier& tier, Policy& policy, Trace const& trace, std::size_t from, std::size_t to, Result& result) {
    std::uint64_t misses = 0;
    Bytes missed_bytes = 0, bytes = 0;
    std::array<std::uint64_t, prefetched> hashes;   // of the next requests: each is computed once
    for (auto i = from; i < std::min(from + prefetched, to); ++i) hashes[i % prefetched] = Tier::hash_of(trace.keys[i]);
    for (auto i = from; i < to; ++i) {
        auto& place = hashes[i % prefetched];
        auto const hash = place;
        if (i + prefetched < to) {
            place = Tier::hash_of(trace.keys[i + prefetched]);
            tier.prefetch(place);
        }
        auto size = trace.sizes[i];
        bytes += size;
        if (tier.request(policy, trace.keys[i], hash, size)) continue;
        ++misses;
        missed_bytes += size;
    }
    result.misses += static_cast<double>(misses);
    result.missed_bytes += static_cast<double>(missed_bytes);
    result.bytes += bytes;
}

/// All replays of one trace, on the configured number of threads.
class Runs {
public:
    Runs(Trace const& trace, SimOptions const& options)
        : trace_(trace), options_(options), jobs_(jobs_of(trace, options)), results_(jobs_.size()) {}

    std::vector<Result> all(std::function<bool(Progress const&)> const& go_on) {
        auto const wanted = options_.threads ? options_.threads : std::max(1u, std::thread::hardware_concurrency());
        {
            std::vector<std::jthread> threads;
            for (std::size_t i = 0; i < std::min<std::size_t>(wanted, jobs_.size()); ++i) threads.emplace_back([this] { work(); });
            MutexLock const lock(mutex_);
            while (!have_ended_soon() && !stop_)
                if (!go_on(progress())) stop_ = true;
        }
        MutexLock const lock(mutex_);
        if (trouble_) std::rethrow_exception(trouble_);
        std::vector<Result> finished;
        for (auto& result : results_)
            if (result) finished.push_back(std::move(*result));
        return finished;
    }

private:
    static constexpr std::chrono::milliseconds look_every{200};

    /// Waits for a short time only.
    bool have_ended_soon() REQUIRES(mutex_) {
        auto const until = steady_now() + look_every;
        while (done_ != jobs_.size() && ended_.wait_until(mutex_, until)) {
        }
        return done_ == jobs_.size();
    }

    Progress progress() const REQUIRES(mutex_) {
        auto const all = static_cast<double>(trace_.requests()) * static_cast<double>(jobs_.size());
        return {.done = done_, .of = jobs_.size(), .share = all > 0 ? static_cast<double>(replayed_.load()) / all : 1};
    }

    void work() {
        for (std::size_t i; !stop_ && (i = next_.fetch_add(1)) < jobs_.size();) {
            std::optional<Result> result;
            std::exception_ptr trouble;
            try {
                result = run(jobs_[i]);
            } catch (std::bad_alloc const&) {
                trouble = std::current_exception();
            }
            MutexLock const lock(mutex_);
            results_[i] = std::move(result);
            if (trouble) trouble_ = trouble;
            if (++done_ == jobs_.size()) ended_.notify_one();
        }
    }

    /// Nothing when the replay was abandoned.
    std::optional<Result> run(Job const& job) {
        std::optional<Result> result;
        if (auto const* reference = find_reference(job.policy)) {
            result = reference->run(trace_, job.size);
            replayed_.fetch_add(trace_.requests(), std::memory_order_relaxed);
        } else {
            result = replay(job);
        }
        if (!result) return result;
        result->size = job.shown;
        if (options_.sample < 1) adjust(*result, trace_, options_.sample);
        return result;
    }

    std::optional<Result> replay(Job const& job) {
        policy::Options of_policy;
        of_policy.capacity = job.size;
        of_policy.seed = options_.seed;
        Tier tier(policy::make(job.policy, of_policy), job.size, options_.object_max);
        Result result;
        result.policy = job.policy;
        result.requests = trace_.requests();
        auto const begin = thread_seconds();
        for (std::size_t from = 0; from < trace_.requests(); from += requests_at_once) {
            if (stop_) return std::nullopt;
            auto const to = std::min(from + requests_at_once, trace_.requests());
            with_own_class(tier.policy(), [&](auto& policy) { replay_some(tier, policy, trace_, from, to, result); });
            replayed_.fetch_add(to - from, std::memory_order_relaxed);
        }
        result.seconds = thread_seconds() - begin;
        result.metadata = tier.metadata_bytes();
        result.objects_most = tier.objects_most();
        return result;
    }

    Trace const& trace_;
    SimOptions const& options_;
    std::vector<Job> const jobs_;
    std::atomic<std::size_t> next_{0};
    std::atomic<std::uint64_t> replayed_{0};
    std::atomic<bool> stop_{false};
    Mutex mutex_;
    ConditionVariable ended_;
    std::size_t done_ GUARDED_BY(mutex_) = 0;
    std::vector<std::optional<Result>> results_ GUARDED_BY(mutex_);
    std::exception_ptr trouble_ GUARDED_BY(mutex_);   // the latest one
};

}   // namespace

std::vector<Result> run_all(Trace const& trace, SimOptions const& options, std::function<bool(Progress const&)> const& go_on) {
    return Runs(trace, options).all(go_on);
}

}   // namespace garner::sim
