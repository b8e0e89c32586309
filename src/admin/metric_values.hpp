// The values of the metrics. The rows of metrics.cpp name these functions, which read a report.
#pragma once
#include <array>
#include <functional>
#include <optional>

#include "admin/json_members.hpp"
#include "admin/metric_lists.hpp"
#include "admin/report.hpp"

namespace garner::admin::values {

template <class Value>
Json or_null(std::optional<Value> const& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json config_since(Report const& report);
Json config_pending(Report const& report);
Json config_unconfirmed(Report const& report);
Json config_returned(Report const& report);
Json program_version(Report const&);
Json logins_failed(Report const& report);
Json sessions(Report const& report);
Json workers(Report const& report);
Json accepted_invalidations(Report const& report);
Json health_state(Report const& report);
Json health_sentence(Report const& report);
Json health_by_check(Report const& report);
Json certificates(Report const& report);

// ---- members ----

// clang-format off
template <auto Member> Json figure(Report const& report) { return report.figures.*Member; }
template <auto Member> Json counter(Report const& report) { return report.figures.sum(Member); }
template <auto Member> Json memory(Report const& report) { return report.figures.cache.*Member; }
template <auto Member> Json invalidations(Report const& report) { return report.figures.invalidations.*Member; }
template <auto Member> Json disk(Report const& report) { return report.figures.disk.*Member; }
template <auto Member> Json icp(Report const& report) { return report.figures.icp.*Member; }
template <auto Member> Json log(Report const& report) { return report.figures.log.*Member; }
template <auto Member> Json config(Report const& report) { return report.figures.config.*Member; }
// clang-format on

// ---- the group: null without one ----

Json group_state(Report const& report);
Json group_while_cut_off(Report const& report);
Json group_since(Report const& report);
Json group_why(Report const& report);
Json group_voters(Report const& report);
Json group_members(Report const& report);
Json group_current(Report const& report);
Json group_lease_left(Report const& report);
Json group_lease_ages(Report const& report);
Json group_lags(Report const& report);
Json group_submissions(Report const& report);
Json group_watermarks(Report const& report);
Json group_offers(Report const& report);
Json group_offers_held(Report const& report);
Json group_offers_total(Report const& report);
Json replicated_bytes(Report const& report);
Json group_links(Report const& report);
template <auto Member>
Json group_total(Report const& report) {
    auto const& group = report.figures.group;
    return group ? Json(group->totals.*Member) : Json(nullptr);
}
template <auto Member>
Json group_times(Report const& report) {
    auto const& times = report.figures.*Member;
    if (times.total == 0) return nullptr;
    return {{"p50_ms", static_cast<double>(times.percentile(50).count()) / 1e3},
            {"p99_ms", static_cast<double>(times.percentile(99).count()) / 1e3}};
}

// ---- counts by reason ----

/// Values that mean that nothing happened are left out.
template <class Reason>
bool is_counted(Reason) {
    return true;
}
inline bool is_counted(http::StoreRefusal reason) { return reason != http::StoreRefusal::none; }
inline bool is_counted(http::Bypass reason) { return reason != http::Bypass::none; }
inline bool is_counted(http::ReuseReason reason) {   // these are served without asking the origin first
    using enum http::ReuseReason;
    return reason != fresh && reason != stale_while_revalidate && reason != max_stale_request;
}

Json answers(Report const& report);
Json open_streams(Report const& report);
template <class Reason, class Owner>
Json counts_of(Figures const& figures, CounterOf<Reason> Owner::*counters) {
    Json json = Json::object();
    for (std::size_t i = 0; i < CounterOf<Reason>::size; ++i) {
        auto const reason = static_cast<Reason>(i);
        std::uint64_t sum = 0;
        for (auto const* worker : figures.workers) sum += (worker->*counters).value(i);
        if (is_counted(reason)) json[text(reason)] = sum;
    }
    return json;
}
template <auto Counters>
Json reasons(Report const& report) {
    return counts_of(report.figures, Counters);
}
/// The number of things that began, without those of `Less`. Workers count on meanwhile, so these are read first.
template <auto Begun, auto Less>
Json begun_without(Report const& report) {
    auto const less = counts_of(report.figures, Less);
    auto left = counts_of(report.figures, Begun);
    for (auto& [name, count] : left.items()) count = count.template get<std::uint64_t>() - less[name].template get<std::uint64_t>();
    return left;
}

// ---- quotas ----

Json quota_subjects(Report const& report);
template <auto Member>
Json quota_totals(Report const& report) {
    Json json = Json::object();
    for (auto const& rule : report.figures.quotas.rules) json[rule.name] = rule.*Member;
    return json;
}
template <auto Member>
Json ledger(Report const& report) {
    return report.figures.quotas.ledger.*Member;
}

// ---- ratios and times ----

Json latency_of(LatencySnapshot const& times);
template <auto Member>
Json ratios(Report const& report) {
    Json json = Json::object();
    for (std::size_t i = 0; i < windows.size(); ++i) json[windows[i].name] = or_null(report.ratios[i].*Member);
    return json;
}
template <auto SinceStart, auto InWindow>
Json latency(Report const& report) {
    auto json = latency_of(report.figures.*SinceStart);
    for (std::size_t i = 0; i < latency_windows.size(); ++i)
        json[latency_windows[i].name] = latency_of(report.latencies[i].*InWindow);
    return json;
}
template <auto Table>
Json top(Report const& report) {
    return lists::top(report.top.*Table);
}

// ---- the line ----

Json line_limits(Report const& report);
Json line_bytes(Report const& report);
Json line_waiting(Report const& report);
Json subject_count(Report const& report);
template <share::Direction Way>
Json cap_bytes(Report const& report) {
    Json json = Json::object();
    for (auto const& cap : report.figures.caps) json[cap.name] = cap.bytes[share::index(Way)];
    return json;
}

// ---- peers ----

Json millis(std::optional<microseconds> const& time);
Json state_of_peer(icp::PeerStats const& peer);
Json address_of_peer(icp::PeerStats const& peer);
Json digest_entries(icp::PeerStats const& peer);
/// A value for each peer: a member, or the result of a function.
template <auto Get>
Json peer(Report const& report) {
    Json list = Json::array();
    for (auto const& peer : report.figures.peers) list.push_back(std::invoke(Get, peer));
    return list;
}

// ---- memory and disk ----

/// Those of a report without figures are 0.
MemoryUse memory_use(Report const& report, std::size_t part);
Json memory_list(Report const& report);
Json disk_state(Report const& report);
Json disk_states(Report const& report);
Json disk_not_stored(Report const& report);
template <auto Member>
Json memory_by_part(Report const& report) {
    Json json = Json::object();
    for (std::size_t i = 0; i < memory_parts().size(); ++i)
        json[std::string(memory_parts()[i].name)] = memory_use(report, i).*Member;
    return json;
}
template <auto Member>
Json memory_sum(Report const& report) {
    return sum_of(report.figures.memory).*Member;
}
template <auto Part, auto Whole>
Json disk_quotient(Report const& report) {
    return or_null(quotient(report.figures.disk.*Part, report.figures.disk.*Whole));
}
template <auto Member>
Json write_cost(Report const& report) {
    return or_null(report.disk_costs.*Member);
}

// ---- estimates ----

proxy::Sampling::Report const& sampling(Report const& report);
Json is_sampling(Report const& report);
Json sampling_rate(Report const& report);
Json requests_wanted(Report const&);
Json estimates(Report const& report);
Json auto_aim(Report const& report);
// clang-format off
template <auto Member> Json sampled(Report const& report) { return sampling(report).*Member; }
template <auto Member> Json estimate(Report const& report) { return sampling(report).what_if.*Member; }
// clang-format on

}   // namespace garner::admin::values
