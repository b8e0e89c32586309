// The time within which the operator must confirm a configuration.
#pragma once
#include <optional>
#include <utility>

#include "util/clock.hpp"

namespace garner::app {

/// Keeps the configuration to return to. Pure.
template <class Configuration>
class Trial {
public:
    /// A trial in progress keeps the configuration that it would return to, and gets the new time.
    void begin(Configuration confirmed, SteadyTime until) {
        if (!confirmed_) confirmed_ = std::move(confirmed);
        until_ = until;
    }
    /// False if there is no trial.
    bool confirm() { return std::exchange(confirmed_, std::nullopt).has_value(); }
    bool is_running() const { return confirmed_.has_value(); }
    /// Once, when the time is over: the configuration to return to.
    std::optional<Configuration> take_if_over(SteadyTime now) {
        return confirmed_ && now >= until_ ? std::exchange(confirmed_, std::nullopt) : std::nullopt;
    }

private:
    std::optional<Configuration> confirmed_;
    SteadyTime until_{};
};

}   // namespace garner::app
