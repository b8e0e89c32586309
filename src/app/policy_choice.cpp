#include "app/policy_choice.hpp"

#include "cache/options.hpp"
#include "io/log.hpp"
#include "sim/auto_policy.hpp"

namespace garner::app {

void PolicyChoice::configure(std::string const& configured) {
    configured_ = configured;
    if (!sim::AutoPolicy::is_spec(configured))
        running_ = configured;
    else if (running_.empty())
        running_ = cache::Options{}.policy;
}

void PolicyChoice::simulate(proxy::Sampling* sampling, Bytes size) const {
    std::optional<sim::AutoPolicy::Terms> follow;
    if (sim::AutoPolicy::is_spec(configured_)) follow = *sim::AutoPolicy::read(configured_);
    if (sampling) sampling->run(size, running_, follow);
    if (follow && !sampling)
        spdlog::warn("memory.policy auto needs memory.what_if, which was false at the start: {} stays in use until a takeover",
                     running_);
}

std::optional<std::string> PolicyChoice::look(proxy::Sampling* sampling, SteadyTime now) {
    if (!sampling) return std::nullopt;
    auto change = sampling->look(now);
    if (!change) return std::nullopt;
    running_ = change->policy;
    return std::move(change->why);
}

}   // namespace garner::app
