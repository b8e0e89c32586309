// The samples behind the windows and the history of /stats.json, for the process that takes over. Pure.
#pragma once
#include <vector>

#include "admin/past.hpp"
#include "takeover/takeover_message.hpp"

namespace garner::app {

/// `state` messages, each below the limit of a message.
std::vector<takeover::Json> window_messages(admin::Past const& past);

/// Adds what the message has to that of the messages before it. The fault names a member that is invalid.
Result<void> read_windows(takeover::Json const& message, admin::Past& into);

}   // namespace garner::app
