// Failed fetches, failed names and measurements of peers, for the process that takes over.
#pragma once
#include <vector>

#include "app/program_parts.hpp"
#include "takeover/takeover_message.hpp"

namespace garner::app {

/// The `state` messages.
std::vector<takeover::Json> state_messages(Parts const& parts, SteadyTime now);

/// Before this process serves. The fault names a member that is invalid.
Result<void> adopt_state(takeover::Json const& message, Parts& parts, SteadyTime now);

}   // namespace garner::app
