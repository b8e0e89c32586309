#include "proxy/sampling.hpp"

#include <algorithm>

#include "policy/policies.hpp"

namespace garner::proxy {

namespace {

constexpr seconds pace{1};
constexpr std::uint32_t replays_per_second = 120'000;   // at 66 ns each, 0.8 % of a core

/// All registered policies with their default settings, and the active one.
std::vector<std::string> policies_beside(std::string const& running) {
    std::vector<std::string> specs;
    for (auto const& row : policy::all()) specs.emplace_back(row.name);
    specs.emplace_back("garner:aim=bytes");   // the default policy's other aim, for operators that optimise bytes
    if (std::find(specs.begin(), specs.end(), running) == specs.end()) specs.push_back(running);
    return specs;
}

}   // namespace

Sampling::Sampling(unsigned workers) {
    for (unsigned i = 0; i < workers; ++i) samplers_.push_back(std::make_unique<Sampler>(below_));
}

void Sampling::run(Bytes capacity, std::string policy, std::optional<sim::AutoPolicy::Terms> const& follow) {
    MutexLock const lock(mutex_);
    replay(steady_now());   // replays the earlier samples under the earlier settings
    auto policies = policies_beside(policy);
    bool const begins_to_follow = follow && !follow_;   // with all samples again
    if (!shadow_ || begins_to_follow || capacity != capacity_ || policies != policies_) {
        sim::Shadow::Terms terms;
        terms.capacity = capacity_ = capacity;
        terms.policies = policies_ = std::move(policies);
        terms.replays_per_second = replays_per_second;
        if (shadow_ && !begins_to_follow)
            shadow_->change(std::move(terms));
        else
            shadow_.emplace(std::move(terms)), forgotten_ = 0;
    }
    running_ = std::move(policy);
    follow_.reset();
    why_.clear();
    if (follow) follow_.emplace(*follow);
}

std::optional<sim::AutoPolicy::Change> Sampling::look(SteadyTime now) {
    MutexLock const lock(mutex_);
    replay(now);
    if (!shadow_ || !follow_) return std::nullopt;
    auto change = follow_->look(shadow_->what_if(), running_, now);
    if (!change) return change;
    running_ = change->policy;
    why_ = change->why;
    return change;
}

Sampling::Report Sampling::report(SteadyTime now) {
    MutexLock const lock(mutex_);
    replay(now);
    Report report;
    if (!shadow_) return report;
    report.what_if = shadow_->what_if();
    report.what_if.seconds = std::chrono::duration<double>(now - counts_since_).count();
    auto const samplers = samplers_.size() * sizeof(Sampler);
    report.what_if.metadata += samplers;
    report.what_if.metadata_max += samplers;
    report.dropped = totals().dropped;
    report.policy = running_;
    if (follow_) report.follows = follow_->aim();
    report.why = why_;
    return report;
}

void Sampling::replay(SteadyTime now) {
    if (!shadow_) return;
    if (shadow_->forgotten() != forgotten_) {
        forgotten_ = shadow_->forgotten();
        counts_since_ = now;
    }
    auto const rate = shadow_->rate();   // the rate at which they were drawn
    replay_pending();
    auto const all = totals();
    auto const dropped = all.dropped - told_.dropped;
    shadow_->all_requests(all.requests - told_.requests, all.bytes - told_.bytes,
                          static_cast<double>(dropped) * shadow_->rate() / rate);
    samples_ += dropped;
    told_ = all;
    if (paced_ == SteadyTime{}) paced_ = now;
    if (now - paced_ >= pace) adjust_rate(now);
    below_.store(shadow_->below(), std::memory_order_relaxed);
}

/// One sample of each worker in turn, approximately in order of arrival. Bounded, in case samples arrive faster than this.
void Sampling::replay_pending() {
    std::size_t rounds = 2 * Sampler::samples_max;
    for (bool more = true; more && rounds > 0; --rounds) {
        more = false;
        for (auto& sampler : samplers_) {
            auto const sample = sampler->take();
            if (!sample) continue;
            more = true;
            if (may_replay())
                shadow_->request(*sample), ++samples_;
            else
                ++skipped_;
        }
    }
}

void Sampling::adjust_rate(SteadyTime now) {
    auto const elapsed = std::chrono::duration<double>(now - paced_).count();
    auto const requests = told_.requests - requests_at_pace_;
    if (follow_)
        shadow_->pace(samples_, elapsed);
    else
        shadow_->pace(budget_.sustained(samples_, requests, elapsed), elapsed,
                      sim::ReplayBudget::allowed(requests, elapsed) / elapsed);
    budget_.earn(requests, elapsed);
    samples_ = 0;
    requests_at_pace_ = told_.requests;
    paced_ = now;
}

Sampling::Totals Sampling::totals() const {
    Totals all{.requests = 0, .bytes = 0, .dropped = skipped_};
    for (auto const& sampler : samplers_) {
        all.requests += sampler->requests();
        all.bytes += sampler->bytes();
        all.dropped += sampler->dropped();
    }
    return all;
}

}   // namespace garner::proxy
