// The data for statistics, the admin page and the commands.
#pragma once
#include <vector>

#include "admin/figures.hpp"
#include "admin/health.hpp"
#include "admin/history.hpp"
#include "admin/top_rows.hpp"
#include "admin/recent_windows.hpp"
#include "admin/write_costs.hpp"

namespace garner::admin {

class FormerTotals;

struct Report {
    Figures figures;
    FormerTotals const* former = nullptr;   // null: none
    WindowRatios ratios;
    WindowLatencies latencies;
    WriteCosts disk_costs;
    Health health;
    std::uint64_t logins_failed = 0;   // at the admin address
    std::size_t sessions = 0;          // of browsers there
    // Only for /stats.json and the page:
    TopTables top;
    std::vector<proxy::Refused> refusals;          // latest first
    std::vector<proxy::Refused> failures;          // other error pages, latest first; `rule` has the reason
    std::vector<share::SubjectFigures> subjects;   // users of the line, most bytes first
    std::vector<share::QuotaStanding> quotas;      // the subjects that have used most of a limit
    std::vector<HistorySeries> history;
};

}   // namespace garner::admin
