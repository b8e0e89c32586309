// The what-if simulation: the workers' samples of the traffic, and the shadow cache that replays them.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/auto_policy.hpp"
#include "sim/replay_budget.hpp"
#include "sim/shadow.hpp"
#include "util/counter.hpp"
#include "util/mutex.hpp"

namespace garner::proxy {

/// One worker's side. request() and sample() are called on its thread only; they neither wait nor allocate.
class Sampler {
public:
    static constexpr std::size_t samples_max = 4'096;   // that may wait for replay

    explicit Sampler(std::atomic<Fingerprint> const& below) : below_(below) {}

    /// Counts a request for an object of that size that is cached, or is to be stored. True: a sample() is wanted.
    bool request(Fingerprint fingerprint, Bytes size) {
        requests_.add();
        bytes_.add(size);
        return fingerprint <= below_.load(std::memory_order_relaxed);
    }
    void sample(sim::Sample const& sample) {
        auto const at = written_.load(std::memory_order_relaxed);
        if (at - read_.load(std::memory_order_acquire) == samples_.size()) return dropped_.add();
        samples_[at % samples_.size()] = sample;
        written_.store(at + 1, std::memory_order_release);
    }

    /// For one other thread.
    std::optional<sim::Sample> take() {
        auto const at = read_.load(std::memory_order_relaxed);
        if (at == written_.load(std::memory_order_acquire)) return std::nullopt;
        auto const sample = samples_[at % samples_.size()];
        read_.store(at + 1, std::memory_order_release);
        return sample;
    }
    std::uint64_t requests() const { return requests_.value(); }
    Bytes bytes() const { return bytes_.value(); }
    std::uint64_t dropped() const { return dropped_.value(); }

private:
    std::atomic<Fingerprint> const& below_;
    Counter requests_;
    Counter bytes_;
    Counter dropped_;
    std::atomic<std::size_t> written_{0};
    alignas(64) std::atomic<std::size_t> read_{0};
    std::array<sim::Sample, samples_max> samples_;
};

/// Thread-safe. The caller's thread replays, usually the main thread about once a second; a worker never does.
class Sampling {
public:
    explicit Sampling(unsigned workers);

    Sampler& of_worker(unsigned number) { return *samplers_[number]; }

    /// Sets the active policy. With `follow`, look() reports when another policy would do better; only then the replay may take
    /// more than a small share of the requests' time (sim::ReplayBudget), up to 0.8 % of a core.
    void run(Bytes capacity, std::string policy, std::optional<sim::AutoPolicy::Terms> const& follow);

    /// Replays the pending samples. The caller must apply a returned change.
    std::optional<sim::AutoPolicy::Change> look(SteadyTime now);

    struct Report {
        sim::WhatIf what_if;
        std::uint64_t dropped = 0;   // samples that were not replayed: the buffer was full, or the budget spent
        std::string policy;          // the active one
        std::optional<sim::AutoPolicy::Aim> follows;
        std::string why;   // reason of the last change; empty: none yet
    };
    Report report(SteadyTime now);

private:
    struct Totals {
        std::uint64_t requests = 0;
        Bytes bytes = 0;
        std::uint64_t dropped = 0;
    };
    void replay(SteadyTime now) REQUIRES(mutex_);
    void replay_pending() REQUIRES(mutex_);
    void adjust_rate(SteadyTime now) REQUIRES(mutex_);
    bool may_replay() REQUIRES(mutex_) { return follow_ || budget_.spend(); }
    Totals totals() const REQUIRES(mutex_);

    std::atomic<Fingerprint> below_{~Fingerprint{0}};
    std::vector<std::unique_ptr<Sampler>> samplers_;
    Mutex mutex_;
    std::optional<sim::Shadow> shadow_ GUARDED_BY(mutex_);   // set by the first run()
    std::optional<sim::AutoPolicy> follow_ GUARDED_BY(mutex_);
    std::vector<std::string> policies_ GUARDED_BY(mutex_);   // in the shadow cache
    Bytes capacity_ GUARDED_BY(mutex_) = 0;
    std::string running_ GUARDED_BY(mutex_);
    std::string why_ GUARDED_BY(mutex_);
    sim::ReplayBudget budget_ GUARDED_BY(mutex_);
    Totals told_ GUARDED_BY(mutex_);                          // counts already passed to the shadow
    std::uint64_t skipped_ GUARDED_BY(mutex_) = 0;            // samples beyond the budget
    std::uint64_t samples_ GUARDED_BY(mutex_) = 0;            // since paced_
    std::uint64_t requests_at_pace_ GUARDED_BY(mutex_) = 0;   // all requests until paced_
    SteadyTime paced_ GUARDED_BY(mutex_){};
    std::uint64_t forgotten_ GUARDED_BY(mutex_) = 0;
    SteadyTime counts_since_ GUARDED_BY(mutex_){};
};

}   // namespace garner::proxy
