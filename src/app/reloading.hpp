// Applies a configuration to the running parts: the whole configuration, or nothing of it.
#pragma once
#include <vector>

#include "app/program_parts.hpp"
#include "app/policy_choice.hpp"
#include "util/prepared.hpp"

namespace garner::app {

/// Used on the main thread.
class Reloading {
public:
    Reloading(Parts& parts, PolicyChoice& policy) : parts_(parts), policy_(policy) {}

    /// Prepares every part before it changes any. A fault has changed nothing. `running`: the configuration in use.
    Result<void> apply(config::Config const& running, config::Config const& fresh);

private:
    struct Step;
    static Step const steps[];

    Result<Prepared> logins(config::Config const& fresh);
    Result<Prepared> server(config::Config const& fresh);
    Result<Prepared> mesh(config::Config const& fresh);
    Result<Prepared> access_log(config::Config const& fresh);
    Result<Prepared> admin(config::Config const& fresh);
    Result<Prepared> disk(config::Config const& fresh);
    Result<Prepared> memory(config::Config const& fresh);
    Result<Prepared> log_level(config::Config const& fresh);

    Parts& parts_;
    PolicyChoice& policy_;
    config::Config const* running_ = nullptr;   // during apply()
};

}   // namespace garner::app
