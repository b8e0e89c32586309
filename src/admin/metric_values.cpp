#include "admin/metric_values.hpp"

#include <algorithm>

#include "admin/group_json.hpp"
#include "proxy/moment.hpp"
#include "util/version.hpp"

namespace garner::admin::values {

Json config_since(Report const& report) { return unix_seconds(report.figures.config.since); }
Json config_pending(Report const& report) { return report.figures.config.pending.size(); }
Json config_returned(Report const& report) { return report.figures.config.returned ? 1 : 0; }
Json config_unconfirmed(Report const& report) { return report.figures.config.unconfirmed ? 1 : 0; }
Json program_version(Report const&) { return version; }
Json logins_failed(Report const& report) { return report.logins_failed; }
Json sessions(Report const& report) { return report.sessions; }
Json workers(Report const& report) { return report.figures.workers.size(); }
Json accepted_invalidations(Report const& report) {
    constexpr std::array<char const*, 4> kinds{"url", "prefix", "tag", "all"};   // as cache::Invalidation::Kind
    Json json = Json::object();
    for (std::size_t i = 0; i < kinds.size(); ++i) json[kinds[i]] = report.figures.invalidations.accepted[i];
    return json;
}
Json health_state(Report const& report) { return name_of(report.health.state); }
Json health_sentence(Report const& report) { return report.health.sentence; }
Json health_by_check(Report const& report) {
    Json json = Json::object();
    for (auto const& check : health_checks()) json[std::string(check.name)] = 0;
    for (auto const& item : report.health.items)
        json[item.check] = std::max(json.value(item.check, 0), static_cast<int>(item.state));
    return json;
}
Json certificates(Report const& report) {
    Json json = Json::object();
    for (auto const& [subject, not_after] : report.figures.certificates)
        json[subject] = std::chrono::duration_cast<seconds>(not_after.time_since_epoch()).count();
    return json;
}

// ---- the group: null without one ----

namespace {

/// `each` adds its value for one voter or member.
template <class Each>
Json of_group(Report const& report, Each each) {
    Json json = Json::object();
    if (report.figures.group) each(*report.figures.group, json);
    return json;
}

}   // namespace

using OfGroup = group::GroupState;

Json group_state(Report const& report) {
    auto const& group = report.figures.group;
    return group ? Json(group->current ? "current" : "cut off") : Json(nullptr);
}
Json group_while_cut_off(Report const& report) {
    auto const& group = report.figures.group;
    return group ? Json(while_cut_off(*group)) : Json(nullptr);
}
Json group_since(Report const& report) {
    auto const& group = report.figures.group;
    return group ? Json(proxy::moment_text(group->since)) : Json(nullptr);
}
Json group_why(Report const& report) {
    auto const& group = report.figures.group;
    return group && !group->why.empty() ? Json(group->why) : Json(nullptr);
}
Json group_voters(Report const& report) {
    auto const& group = report.figures.group;
    return group ? group_json(*group)["voters"] : Json(nullptr);
}
Json group_members(Report const& report) {
    auto const& group = report.figures.group;
    return group ? group_json(*group)["members"] : Json(nullptr);
}
Json group_current(Report const& report) {
    auto const& group = report.figures.group;
    return group ? Json(group->current ? 1 : 0) : Json(nullptr);
}
Json group_lease_left(Report const& report) {
    auto const& group = report.figures.group;
    return group ? Json(std::chrono::duration<double>(group->left).count()) : Json(nullptr);
}
Json group_lease_ages(Report const& report) {
    return of_group(report, [](OfGroup const& group, Json& json) {
        for (auto const& voter : group.voters)
            if (voter.age >= group::Time(0)) json[voter.address] = std::chrono::duration<double>(voter.age).count();
    });
}
Json group_lags(Report const& report) {
    return of_group(report, [](OfGroup const& group, Json& json) {
        for (auto const& member : group.members) json[member.name + " " + member.address] = member.lag;
    });
}
Json group_submissions(Report const& report) {
    return of_group(report, [](OfGroup const& group, Json& json) {
        json["accepted"] = group.totals.accepted;
        json["not accepted"] = group.totals.not_accepted;
        json["refused"] = group.totals.refused;
    });
}
Json group_watermarks(Report const& report) {
    auto const& group = report.figures.group;
    return group ? watermarks_json(*group) : Json(nullptr);
}
Json group_offers(Report const& report) {
    auto const& group = report.figures.group;
    return group ? group_json(*group)["offers"] : Json(nullptr);
}
Json group_offers_held(Report const& report) {
    auto const& group = report.figures.group;
    return group ? Json(group->offers.size()) : Json(nullptr);
}
Json group_offers_total(Report const& report) {
    return of_group(report, [](OfGroup const& group, Json& json) {
        json["this member"] = group.totals.offered;
        json["others"] = group.totals.offers_taken;
    });
}
Json replicated_bytes(Report const& report) {
    return report.figures.group ? counts_of(report.figures, &proxy::Counters::replicated) : Json::object();
}
Json group_links(Report const& report) {
    return of_group(report, [](OfGroup const& group, Json& json) {
        json["refused"] = group.totals.links_refused;
        json["bad frame"] = group.totals.bad_frames;
        json["flood"] = group.totals.flooded;
        json["slow reader"] = group.totals.slow_readers;
    });
}

// ---- counts by reason ----

Json answers(Report const& report) {
    Json json = Json::object();
    for (std::size_t i = 0; i < answer_count; ++i) json[name_of(static_cast<proxy::Answer>(i))] = report.figures.answers[i];
    return json;
}
Json open_streams(Report const& report) {
    auto const ended = report.figures.sum(&proxy::Counters::streams_ended);
    return report.figures.sum(&proxy::Counters::streams) - ended;
}

// ---- ratios and times ----

Json latency_of(LatencySnapshot const& times) {
    auto micros = [&times](microseconds value) {
        return times.total > 0 ? Json(static_cast<std::uint64_t>(value.count())) : Json(nullptr);
    };
    return {{"count", times.total},
            {"mean_us", micros(times.mean())},
            {"p50_us", micros(times.percentile(50))},
            {"p90_us", micros(times.percentile(90))},
            {"p99_us", micros(times.percentile(99))}};
}

// ---- the line ----

namespace {

/// One number for each direction.
template <class Get>
Json by_direction(Get get) {
    Json json = Json::object();
    for (auto const direction : share::directions) json[share::text(direction)] = get(share::index(direction));
    return json;
}

}   // namespace

Json line_limits(Report const& report) {
    return by_direction([&](std::size_t way) { return report.figures.share.rates[way]; });
}
Json line_bytes(Report const& report) {
    return by_direction([&](std::size_t way) { return report.figures.share.lines[way].bytes; });
}
Json line_waiting(Report const& report) {
    return by_direction([&](std::size_t way) { return report.figures.share.lines[way].waiting; });
}
Json subject_count(Report const& report) { return report.figures.share.subjects; }

// ---- peers ----

Json millis(std::optional<microseconds> const& time) {
    return time ? Json(static_cast<double>(time->count()) / 1e3) : Json(nullptr);
}
Json state_of_peer(icp::PeerStats const& peer) { return name_of(peer.health); }
Json address_of_peer(icp::PeerStats const& peer) { return peer.address.empty() ? Json(nullptr) : Json(peer.address); }
Json digest_entries(icp::PeerStats const& peer) { return peer.has_digest ? Json(peer.digest_entries) : Json(nullptr); }

// ---- quotas ----

Json quota_subjects(Report const& report) { return report.figures.quotas.subjects; }

// ---- memory and disk ----

MemoryUse memory_use(Report const& report, std::size_t part) {
    return part < report.figures.memory.size() ? report.figures.memory[part] : MemoryUse{};
}
Json memory_list(Report const& report) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < report.figures.memory.size(); ++i) {
        auto const use = memory_use(report, i);
        rows.push_back({{"name", memory_parts()[i].name}, {"bytes", use.bytes}, {"limit", use.limit}});
    }
    return rows;
}

constexpr std::array disk_state_names{"off", "recovering", "working", "failing"};   // in the order of DiskStats::State
Json disk_state(Report const& report) { return disk_state_names[static_cast<std::size_t>(report.figures.disk.state)]; }
Json disk_states(Report const& report) {
    Json json = Json::object();
    for (auto const* name : disk_state_names) json[name] = disk_state(report) == name ? 1 : 0;
    return json;
}
Json disk_not_stored(Report const& report) {
    Json json = Json::object();
    auto const& counts = report.figures.disk.not_stored;
    for (std::size_t i = 1; i < std::size(counts); ++i) json[text(static_cast<store::NotStored>(i))] = counts[i];
    return json;
}

// ---- estimates ----

proxy::Sampling::Report const& sampling(Report const& report) {
    static proxy::Sampling::Report const off;
    return report.figures.what_if ? *report.figures.what_if : off;
}
Json is_sampling(Report const& report) { return report.figures.what_if.has_value(); }
Json sampling_rate(Report const& report) {
    return report.figures.what_if ? Json(report.figures.what_if->what_if.rate) : Json(nullptr);
}
Json requests_wanted(Report const&) { return sim::WhatIf::requests_wanted; }
Json estimates(Report const& report) {
    Json rows = Json::array();
    auto const& what_if = sampling(report).what_if;
    if (!what_if.is_enough()) return rows;
    for (auto const& row : what_if.rows)
        rows.push_back({{"policy", row.policy},
                        {"size_bytes", row.size},
                        {"object_hit_ratio", what_if.object_hit_ratio(row)},
                        {"byte_hit_ratio", what_if.byte_hit_ratio(row)}});
    return rows;
}
Json auto_aim(Report const& report) {
    auto const& aim = sampling(report).follows;
    return aim ? Json(sim::AutoPolicy::text(*aim)) : Json(nullptr);
}

}   // namespace garner::admin::values
