// A quota and its use as JSON.
#pragma once
#include <string>

#include "admin/json_members.hpp"
#include "share/quota.hpp"

namespace garner::admin {

/// `used` and `limit` are of the limit that is used up most, in its `unit`.
inline Json quota_json(share::QuotaStanding const& standing) {
    auto const nearest = standing.nearest();
    auto const& rule = standing.rule;
    return {{"name", rule.name},
            {"subject", share::quota_subject_name(standing.subject)},
            {"used", nearest.used},
            {"limit", nearest.limit},
            {"unit", nearest.unit},
            {"state", share::text(standing.state)},
            {"until", standing.until},
            {"per", share::text(rule.per)},
            {"over", share::text(rule.over)},
            {"slow_bytes_per_second", rule.slow},
            {"bytes", standing.usage.bytes},
            {"requests", standing.usage.requests},
            {"minutes", standing.usage.minutes}};
}

}   // namespace garner::admin
