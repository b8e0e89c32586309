#include "sim/runs.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

#include "sim/offline.hpp"
#include "sim/replay.hpp"

namespace garner::sim {
namespace {

struct Job {
    std::string_view policy;
    Bytes size;        // of the cache that is replayed
    Bytes shown;       // of the cache it stands for
};

std::vector<Job> jobs_of(Trace const& trace, SimOptions const& options) {
    std::vector<Job> jobs;
    auto scaled = [](Bytes size, double by) { return static_cast<Bytes>(static_cast<double>(size) * by); };
    for (auto const& wish : options.sizes)
        for (auto const& policy : options.policies) {
            // A share is one of the sampled objects already.
            auto size = wish.of_trace(trace);
            if (options.sample >= 1) jobs.push_back({policy, size, size});
            else if (wish.of) jobs.push_back({policy, size, scaled(size, 1 / options.sample)});
            else jobs.push_back({policy, scaled(size, options.sample), size});
        }
    return jobs;
}

/// What the sample lacks of its share of all requests, or has too much, are hits: the hottest keys are in it or not by
/// chance, and they are hits at any size (SHARDS_adj, Waldspurger et al. 2015).
void adjust(Result& result, Trace const& trace, double sample) {
    auto requests = static_cast<double>(trace.requests() + trace.requests_left_out) * sample;
    auto bytes = static_cast<double>(trace.bytes + trace.bytes_left_out) * sample;
    result.requests = static_cast<std::uint64_t>(std::max(requests, result.misses));
    result.bytes = static_cast<Bytes>(std::max(bytes, result.missed_bytes));
}

Result run(Trace const& trace, Job const& job, SimOptions const& options, std::atomic<std::uint64_t>& replayed) {
    if (auto reference = find_reference(job.policy)) {
        auto result = reference->run(trace, job.size);
        replayed.fetch_add(trace.requests(), std::memory_order_relaxed);
        return result;
    }
    ReplayOptions of_replay{.size = job.size, .object_max = options.object_max, .seed = options.seed, .replayed = &replayed};
    return replay(trace, job.policy, of_replay);
}

}  // namespace

std::vector<Result> run_all(Trace const& trace, SimOptions const& options,
                            std::function<void(Progress const&)> const& progress) {
    auto const jobs = jobs_of(trace, options);
    std::vector<Result> results(jobs.size());
    std::atomic<std::size_t> next{0}, done{0};
    std::atomic<std::uint64_t> replayed{0};
    std::mutex mutex;
    std::condition_variable ended;
    std::exception_ptr trouble;   // the last one's
    auto work = [&] {
        for (std::size_t i; (i = next.fetch_add(1)) < jobs.size();) {
            try {
                results[i] = run(trace, jobs[i], options, replayed);
            } catch (std::bad_alloc const&) {
                std::lock_guard lock(mutex);
                trouble = std::current_exception();
            }
            results[i].size = jobs[i].shown;
            if (options.sample < 1) adjust(results[i], trace, options.sample);
            std::lock_guard lock(mutex);
            if (++done == jobs.size()) ended.notify_one();
        }
    };
    auto wanted = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min<std::size_t>(wanted, jobs.size()); ++i) threads.emplace_back(work);

    std::unique_lock lock(mutex);
    auto all = static_cast<double>(trace.requests()) * static_cast<double>(jobs.size());
    while (!ended.wait_for(lock, std::chrono::milliseconds(500), [&] { return done == jobs.size(); }))
        progress({.done = done, .of = jobs.size(), .share = all > 0 ? static_cast<double>(replayed.load()) / all : 1});
    if (trouble) std::rethrow_exception(trouble);
    return results;
}

}  // namespace garner::sim
