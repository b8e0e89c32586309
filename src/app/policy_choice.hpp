// The replacement policy of the memory tier: the configured one, or with "auto" the one that the simulation prefers.
#pragma once
#include <optional>
#include <string>

#include "proxy/sampling.hpp"
#include "util/bytes.hpp"

namespace garner::app {

/// Used on one thread.
class PolicyChoice {
public:
    /// "auto" starts with the default policy.
    explicit PolicyChoice(std::string const& configured) { configure(configured); }

    /// The policy that the cache runs: a spec, never "auto".
    std::string const& running() const { return running_; }
    /// After a change of memory.policy. A change from a named policy to "auto" starts from that policy; an unchanged "auto" keeps
    /// its selected policy.
    void configure(std::string const& configured);
    /// Simulates with the running policy and size from now on. `sampling` is null if memory.what_if is false.
    void simulate(proxy::Sampling* sampling, Bytes size) const;
    /// Every second. The reason, if another policy is running() now.
    std::optional<std::string> look(proxy::Sampling* sampling, SteadyTime now);

private:
    std::string configured_, running_;
};

}   // namespace garner::app
