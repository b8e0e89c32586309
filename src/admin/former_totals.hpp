// The counts of former processes: a takeover does not let counters fall.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "util/counter.hpp"
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
    /// `times` are those of a histogram: see counts_of().
    LatencySnapshot with(std::string const& name, LatencySnapshot times) const;

private:
    mutable Mutex mutex_;
    Totals totals_ GUARDED_BY(mutex_) = Totals::object();
};

/// A histogram: the counts of its buckets by their numbers, and "sum", in microseconds.
Totals counts_of(LatencySnapshot const& times);

/// The counters and histograms of /metrics, with those of former processes.
Totals totals_of(Report const& report);
/// The counts after `before`.
Totals increase(Totals const& before, Totals const& now);

}   // namespace garner::admin
