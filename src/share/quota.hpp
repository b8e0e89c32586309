// The rules of quotas: windows, limits, states. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "share/options.hpp"
#include "share/usage.hpp"
#include "util/bytes.hpp"

namespace garner::share {

/// The window that contains `now`, by the time zone of the process.
Window window_at(Per per, std::int64_t now);

/// `slow`: the slow lane applies. `over`: nothing more goes over the line.
enum class QuotaState : std::uint8_t { within, slow, over };
constexpr char const* text(QuotaState state) {
    return state == QuotaState::within ? "within" : state == QuotaState::slow ? "slow" : "over";
}

/// The question that the limit of requests decides: may one more begin, or may those that have begun go on.
enum class Asks : std::uint8_t { begin, go_on };

/// `usage` has entered the window of `now`.
QuotaState state_of(QuotaRule const& rule, Usage const& usage, std::int64_t now, Asks asks);

/// The limit that is used up most.
struct Nearest {
    char const* unit = "bytes";   // or "requests", "minutes"
    std::uint64_t used = 0, limit = 0;
    double part() const { return limit == 0 ? 0 : static_cast<double>(used) / static_cast<double>(limit); }
};
Nearest nearest_limit(QuotaRule const& rule, Usage const& usage);

/// A quota and its use at one moment.
struct QuotaStanding {
    QuotaRule rule = {};        // without its matchers
    std::string subject = {};   // subject_key(); empty: all clients of the rule
    Usage usage = {};
    QuotaState state = QuotaState::within;   // for the next request
    std::int64_t until = 0;                  // the end of the window

    Nearest nearest() const { return nearest_limit(rule, usage); }
};

/// As subject_name(); "all": all clients of the rule.
std::string quota_subject_name(std::string_view key);
/// The result of subject_keys_of(), or the key of all clients.
std::vector<std::string> quota_subject_keys_of(std::string_view name);

/// "1.2 GB of 2 GB", "17 of 100 requests", "30m of 2h"
std::string used_text(Nearest const& nearest);
/// "2026-12-01 00:00", in local time.
std::string local_time_text(std::int64_t time);
/// `The quota "guests" is used up: 2 GB of 2 GB this month. It begins anew at 2026-12-01 00:00.`
std::string over_text(QuotaStanding const& standing);

}   // namespace garner::share
