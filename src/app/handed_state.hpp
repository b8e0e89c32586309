// Failed fetches, failed names and measurements of peers, for the process that takes over.
#pragma once
#include <vector>

#include "app/program_parts.hpp"
#include "takeover/takeover_message.hpp"

namespace garner::app {

/// The `state` messages (docs/reference/takeover-protocol.md). Each array may be missing.
/// - `failures`: failed fetches: `key`, `second` (fingerprints of the cache key), `failures` (in a row), `of_head_only`,
///   `left_ms`, `counts_left_ms` (until the row ends), `status`, `kind`, `reason`; `seeds`: the two seeds of these fingerprints
///   (XXH3, 64 bits)
/// - `names`: names that DNS has not resolved: `host`, `failure`, `failures`, `left_ms`; `servers`: the dns.servers that were
///   asked
/// - `peers`: `name`, `host`, `http`; liveness: `expired`, `overdue`, `refused`, `probed_before_ms`, `silent_ms`; means, which
///   may be missing like `silent_ms`: `query_rtt_us`, `connect_rtt_us`, `throughput` (bytes per second)
std::vector<takeover::Json> state_messages(Parts const& parts, SteadyTime now);

/// Before this process serves. The fault names a member that is invalid.
Result<void> adopt_state(takeover::Json const& message, Parts& parts, SteadyTime now);

}   // namespace garner::app
