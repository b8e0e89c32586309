// The figures that are lists of rows, such as refusals and rules: a row of metrics.cpp names each.
#pragma once
#include <span>

#include "admin/json_members.hpp"
#include "admin/report.hpp"

namespace garner::admin::lists {

Json health_items(Report const&);
Json top(std::span<TopRow const> table);
Json refusals(Report const&);
Json failures(Report const&);
Json rules(Report const&);
/// One number for each rule.
Json rule_hits(Report const&);
Json subjects(Report const&);
Json caps(Report const&);
Json quotas(Report const&);
Json certificates(Report const&);
Json history(Report const&);
/// One number for each series of the history.
Json latest(Report const&);
Json dropped_most(Report const&);

}   // namespace garner::admin::lists
