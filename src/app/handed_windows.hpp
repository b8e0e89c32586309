// The samples behind the windows and the history of /stats.json, for the process that takes over. Pure.
#pragma once
#include <vector>

#include "admin/past.hpp"
#include "takeover/takeover_message.hpp"

namespace garner::app {

/// `state` messages, each below the limit of a message. Their arrays begin with the oldest element; an `age_ms` is at most a day.
/// - `samples`: `age_ms`, and the events after it: `requests` (for objects), `hits`, `bytes`, `hit_bytes`, `all_requests`,
///   `failed`, `refused`, `lost_lines`
/// - `latencies`: `dense` (true: 15 s apart, false: a minute), `age_ms`, `hit` and `miss`: the durations until the next sample
///   as an array: their sum in microseconds, then pairs of a bucket of /metrics and its count
/// - `history`: the charts: `interval_s` (5 or 60) and `values`, a number or null for each name of `series`; for the interval
///   that has begun `age_ms`, `parts` and `wholes` (the increase since then) in place of `values`
std::vector<takeover::Json> window_messages(admin::Past const& past);

/// Adds what the message has to that of the messages before it. The fault names a member that is invalid.
Result<void> read_windows(takeover::Json const& message, admin::Past& into);

}   // namespace garner::app
