// The counts of former processes: a takeover does not let the counters of /metrics fall.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "util/mutex.hpp"

namespace garner::admin {

struct Report;

/// Counters by name: {"garner_requests_total{answer}": {"hit": 5}, "garner_refreshes_total": 2}. Members that are no counts are
/// ignored.
using Totals = nlohmann::ordered_json;

/// Thread-safe.
class FormerTotals {
public:
    void add(Totals const& more);
    /// `value` of this process, and those of the former ones.
    Totals with(std::string const& name, Totals value) const;

private:
    mutable Mutex mutex_;
    Totals totals_ GUARDED_BY(mutex_) = Totals::object();
};

/// The counters of /metrics, with those of former processes. Histograms are left out.
Totals totals_of(Report const& report);
/// The counts after `before`.
Totals increase(Totals const& before, Totals const& now);

}   // namespace garner::admin
