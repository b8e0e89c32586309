#include "admin/metrics.hpp"

#include <functional>

#include "admin/group_json.hpp"
#include "admin/json_members.hpp"
#include "admin/metric_lists.hpp"
#include "icp/https.hpp"
#include "util/version.hpp"

namespace garner::admin {

namespace {

// ---- getters ----

template <class Value>
Json or_null(std::optional<Value> const& value) {
    return value ? Json(*value) : Json(nullptr);
}

// clang-format off
template <auto Member> Json figure(Report const& report) { return report.figures.*Member; }
template <auto Member> Json counter(Report const& report) { return report.figures.sum(Member); }
template <auto Member> Json memory(Report const& report) { return report.figures.cache.*Member; }
template <auto Member> Json invalidations(Report const& report) { return report.figures.invalidations.*Member; }
template <auto Member> Json disk(Report const& report) { return report.figures.disk.*Member; }
template <auto Member> Json icp(Report const& report) { return report.figures.icp.*Member; }
template <auto Member> Json log(Report const& report) { return report.figures.log.*Member; }
using Config = proxy::ConfigState::Figures;
template <auto Member> Json config(Report const& report) { return report.figures.config.*Member; }
// clang-format on

Json config_since(Report const& report) { return unix_seconds(report.figures.config.since); }
Json config_pending(Report const& report) { return report.figures.config.pending.size(); }
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

// ---- the group: null without one ----

using OfGroup = group::GroupState;
using GroupTotals = group::GroupState::Totals;

Json group_current(Report const& report) {
    auto const& group = report.figures.group;
    return group ? Json(group->current ? 1 : 0) : Json(nullptr);
}
Json group_lease_left(Report const& report) {
    auto const& group = report.figures.group;
    return group ? Json(std::chrono::duration<double>(group->left).count()) : Json(nullptr);
}
/// `each` adds its value for one voter or member.
template <class Each>
Json of_group(Report const& report, Each each) {
    Json json = Json::object();
    if (report.figures.group) each(*report.figures.group, json);
    return json;
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
    });
}
Json group_links(Report const& report) {
    return of_group(report, [](OfGroup const& group, Json& json) {
        json["refused"] = group.totals.links_refused;
        json["bad frame"] = group.totals.bad_frames;
        json["flood"] = group.totals.flooded;
        json["slow reader"] = group.totals.slow_readers;
    });
}
Json group_state(Report const& report) {
    auto const& group = report.figures.group;
    return group ? Json(group->current ? "current" : "cut off") : Json(nullptr);
}
Json group_voters(Report const& report) {
    auto const& group = report.figures.group;
    return group ? group_json(*group)["voters"] : Json(nullptr);
}
Json group_members(Report const& report) {
    auto const& group = report.figures.group;
    return group ? group_json(*group)["members"] : Json(nullptr);
}
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

Json answers(Report const& report) {
    Json json = Json::object();
    for (std::size_t i = 0; i < answer_count; ++i) json[name_of(static_cast<proxy::Answer>(i))] = report.figures.answers[i];
    return json;
}

bool is_counted(http::StoreRefusal reason) { return reason != http::StoreRefusal::none; }
bool is_counted(http::Bypass reason) { return reason != http::Bypass::none; }
bool is_counted(proxy::StaleUse) { return true; }
bool is_counted(net::HandshakeFault) { return true; }
bool is_counted(net::ProxyHeaderFault) { return true; }
bool is_counted(proxy::InterceptedBegin) { return true; }
bool is_counted(proxy::Intercepted) { return true; }
bool is_counted(proxy::LoginResult) { return true; }
bool is_counted(proxy::Protocol) { return true; }
bool is_counted(h2::ConnectionFault) { return true; }
bool is_counted(http::ReuseReason reason) {   // these are served without asking the origin first
    using enum http::ReuseReason;
    return reason != fresh && reason != stale_while_revalidate && reason != max_stale_request;
}

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

/// The number of things that began and did not end. Workers count on meanwhile, so the ends are read first.
template <auto Begun, auto Ended>
Json open_of_each(Report const& report) {
    auto const ended = counts_of(report.figures, Ended);
    auto open = counts_of(report.figures, Begun);
    for (auto& [name, count] : open.items())
        count = count.template get<std::uint64_t>() - ended[name].template get<std::uint64_t>();
    return open;
}
Json open_streams(Report const& report) {
    auto const ended = report.figures.sum(&proxy::Counters::streams_ended);
    return report.figures.sum(&proxy::Counters::streams) - ended;
}

Json certificates(Report const& report) {
    Json json = Json::object();
    for (auto const& [subject, not_after] : report.figures.certificates)
        json[subject] = std::chrono::duration_cast<seconds>(not_after.time_since_epoch()).count();
    return json;
}

// ---- health ----

Json health_state(Report const& report) { return name_of(report.health.state); }
Json health_sentence(Report const& report) { return report.health.sentence; }

template <auto Table>
Json top(Report const& report) {
    return lists::top(report.top.*Table);
}

// ---- the line ----

/// One number for each direction.
template <class Get>
Json by_direction(Get get) {
    Json json = Json::object();
    for (auto const direction : share::directions) json[share::text(direction)] = get(share::index(direction));
    return json;
}

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

template <share::Direction Way>
Json cap_bytes(Report const& report) {
    Json json = Json::object();
    for (auto const& cap : report.figures.caps) json[cap.name] = cap.bytes[share::index(Way)];
    return json;
}

template <auto Member>
Json quota_totals(Report const& report) {
    Json json = Json::object();
    for (auto const& rule : report.figures.quotas.rules) json[rule.name] = rule.*Member;
    return json;
}
Json quota_subjects(Report const& report) { return report.figures.quotas.subjects; }
template <auto Member>
Json ledger(Report const& report) {
    return report.figures.quotas.ledger.*Member;
}

template <auto Member>
Json ratios(Report const& report) {
    Json json = Json::object();
    for (std::size_t i = 0; i < windows.size(); ++i) json[windows[i].name] = or_null(report.ratios[i].*Member);
    return json;
}

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

template <auto SinceStart, auto InWindow>
Json latency(Report const& report) {
    auto json = latency_of(report.figures.*SinceStart);
    for (std::size_t i = 0; i < latency_windows.size(); ++i)
        json[latency_windows[i].name] = latency_of(report.latencies[i].*InWindow);
    return json;
}

/// A value for each peer: a member, or the result of a function.
template <auto Get>
Json peer(Report const& report) {
    Json list = Json::array();
    for (auto const& peer : report.figures.peers) list.push_back(std::invoke(Get, peer));
    return list;
}

Json millis(std::optional<microseconds> const& time) {
    return time ? Json(static_cast<double>(time->count()) / 1e3) : Json(nullptr);
}
Json state_of_peer(icp::PeerStats const& peer) {
    static constexpr std::array names{"alive", "suspect", "dead"};   // in the order of icp::Health
    return names[static_cast<std::size_t>(peer.health)];
}
Json address_of_peer(icp::PeerStats const& peer) { return peer.address.empty() ? Json(nullptr) : Json(peer.address); }
Json digest_entries(icp::PeerStats const& peer) { return peer.has_digest ? Json(peer.digest_entries) : Json(nullptr); }

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
template <auto Part, auto Whole>
Json disk_quotient(Report const& report) {
    return or_null(quotient(report.figures.disk.*Part, report.figures.disk.*Whole));
}
template <auto Member>
Json write_cost(Report const& report) {
    return or_null(report.disk_costs.*Member);
}

proxy::Sampling::Report const& sampling(Report const& report) {
    static proxy::Sampling::Report const off;
    return report.figures.what_if ? *report.figures.what_if : off;
}
// clang-format off
template <auto Member> Json sampled(Report const& report) { return sampling(report).*Member; }
template <auto Member> Json estimate(Report const& report) { return sampling(report).what_if.*Member; }
// clang-format on
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

/// Those of a report without figures are 0.
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

// ---- the table ----

using Disk = store::DiskStats;
using Icp = icp::AgentFigures;
using Log = proxy::AccessLog::Stats;
using Memory = cache::Stats;
using Invalidations = cache::Invalidations::Stats;
using Peer = icp::PeerStats;
using Sampled = proxy::Sampling::Report;
using proxy::Counters;
using sim::WhatIf;

constexpr std::string_view of_hits = "Time from the request head to the last byte of the response, for hits.";
constexpr std::string_view of_others = "Time from the request head to the last byte of the response, except hits and tunnels.";
constexpr std::string_view peer_replies = "Replies received, by kind.";
constexpr std::string_view icp_replies = "Replies sent to other caches, by kind.";

constexpr Metric all_metrics[]{
    {"version", "garner_build_info{version}", "text", program_version, "Version; the sample is always 1."},
    {"via_name", "", "text", figure<&Figures::via_name>, "Name in Via and Cache-Status."},
    {"uptime_seconds", "garner_uptime_seconds", "seconds", figure<&Figures::uptime_seconds>, "Time since the start."},
    {"workers", "garner_workers", "threads", workers, "Worker threads; each has its own connections."},

    {"health.state", "", "text", health_state,
     "ok, attention (the operator should act) or trouble (clients or a part are affected)."},
    {"health.sentence", "", "text", health_sentence, "The state with the worst problem."},
    {"health.items", "", "list", lists::health_items, "All problems, the worst first: state, what, fix."},

    {"requests.total", "", "requests", figure<&Figures::requests>, "All requests.", "Requests", "all"},
    {"requests", "garner_requests_total{answer}", "requests", answers, "Requests by result.", "Requests", "*"},
    {"not_stored", "garner_not_stored_total{reason}", "responses", reasons<&Counters::not_stored>,
     "Responses considered for the cache and not stored, by reason."},
    {"passed", "garner_passed_total{reason}", "requests", reasons<&Counters::passed>,
     "Requests that bypassed the cache, by reason."},
    {"not_fresh", "garner_not_fresh_total{reason}", "requests", reasons<&Counters::not_fresh>,
     "Requests whose stored response was not used without asking the origin, by reason."},
    {"stale_served", "garner_stale_served_total{reason}", "requests", reasons<&Counters::stale_used>,
     "Requests answered with a stale response, by reason."},
    {"invalidations.held", "garner_invalidations", "invalidations", invalidations<&Invalidations::held>,
     "Invalidations that stored responses are compared with."},
    {"invalidations.accepted", "garner_invalidations_accepted_total{kind}", "invalidations", accepted_invalidations,
     "Invalidations accepted, by kind."},
    {"invalidations.watermark", "garner_invalidations_watermark", "number", invalidations<&Invalidations::watermark>,
     "Number of the newest invalidation that was forgotten because of the limit, or 0: responses stored before it are outdated."},
    {"group.state", "", "text", group_state, "current or cut off; null without a group."},
    {"group.voters", "", "list", group_voters, "The voters, as `/group` has them."},
    {"group.members", "", "list", group_members, "The members, as `/group` has them; null at a member that is no voter."},
    {"group.current", "garner_group_current", "0 or 1", group_current,
     "1 while this member of a group has leases of a majority of the voters, 0 while it is cut off."},
    {"group.lease_left_seconds", "garner_group_lease_left_seconds", "seconds", group_lease_left,
     "Time until this member is cut off, unless the leases are renewed."},
    {"group.lease_age_seconds", "garner_group_lease_age_seconds{voter}", "seconds", group_lease_ages,
     "Age of the lease of each voter."},
    {"group.lag", "garner_group_lag{member}", "invalidations", group_lags,
     "Invalidations that each member has not acknowledged, as the voter in this process knows."},
    {"group.submissions", "garner_group_submissions_total{result}", "invalidations", group_submissions,
     "Invalidations that this member has submitted, by result."},
    {"group.received", "garner_group_received_total", "invalidations", group_total<&GroupTotals::received>,
     "Invalidations received from voters in other processes; each comes from every voter."},
    {"group.watermarks", "garner_group_watermarks_total", "watermarks", group_total<&GroupTotals::watermarks>,
     "Times when all stored responses had to be validated, because invalidations may have been missed."},
    {"group.cut_off", "garner_group_cut_off_total", "times", group_total<&GroupTotals::cut_off>,
     "Times when this member was cut off."},
    {"group.links", "garner_group_links_closed_total{reason}", "connections", group_links,
     "Connections of the group that this process has refused or closed, by reason."},
    {"group.acceptance", "garner_group_acceptance_seconds", "seconds", group_times<&Figures::group_acceptance>,
     "Time until a majority of the voters has stored a submission of this member.", "", "", &Figures::group_acceptance},
    {"group.spread", "garner_group_spread_seconds", "seconds", group_times<&Figures::group_spread>,
     "Time until a submission of this member holds everywhere.", "", "", &Figures::group_spread},
    {"hit_ratio", "garner_hit_ratio{window}", "0 to 1", ratios<&Ratios::hit>, "Share of hits among the requests for objects."},
    {"byte_hit_ratio", "garner_byte_hit_ratio{window}", "0 to 1", ratios<&Ratios::byte_hit>,
     "Share of the body bytes sent that were sent on hits."},
    {"latency.hit", "garner_hit_duration_seconds", "seconds", latency<&Figures::hit_time, &Latencies::hit>, of_hits, "", "",
     &Figures::hit_time},
    {"latency.miss", "garner_miss_duration_seconds", "seconds", latency<&Figures::miss_time, &Latencies::miss>, of_others, "", "",
     &Figures::miss_time},

    {"config.generation", "garner_config_generation", "configurations", config<&Config::generation>,
     "Configurations applied since the start, that of the start included."},
    {"config.since", "garner_config_applied_seconds", "seconds", config_since,
     "Time when the configuration was applied, since 1970."},
    {"config.pending", "", "list", config<&Config::pending>, "Keys that the file has changed, and that wait for a takeover."},
    {"config.pending_keys", "garner_config_pending_keys", "keys", config_pending, "Number of these keys."},
    {"config.unconfirmed", "garner_config_unconfirmed", "0 or 1", config_unconfirmed,
     "1 while the former configuration returns unless `garner confirm` comes in time."},
    {"config.refused", "", "text", config<&Config::refused>, "First error of the last reload; empty if it was applied."},

    {"top.hosts", "", "list", top<&TopTables::hosts>, "Hosts with the most requests: name, requests, bytes, hits, reason."},
    {"top.clients", "", "list", top<&TopTables::clients>, "Clients with the most requests, with the same members."},
    {"top.misses", "", "list", top<&TopTables::misses>, "URLs with the most misses, with the same members."},
    {"refusals", "", "list", lists::refusals,
     "The last 256 refused requests, latest first: time, client, user, method, url, rule, id."},
    {"rules", "", "list", lists::rules, "Access rules in their order: rule, hits, dead, why."},
    {"", "garner_rule_hits_total{rule}", "requests", lists::rule_hits,
     "Requests that the access rule decided, since the start or the last change of the rules."},
    {"certificates", "", "list", lists::certificates,
     "Certificates that clients or peers are shown, and those of the CA of `bump`: name, not_after, days_left."},
    {"history", "", "charts", lists::history, "The recent values of some figures."},
    {"latest", "", "a second", lists::latest, "The last value of each of them, which covers 5 s; null before the first."},

    {"connections.now", "garner_client_connections", "connections", figure<&Figures::connections_now>, "Open client connections.",
     "Clients", "open"},
    {"connections.limit", "garner_client_connections_limit", "connections", figure<&Figures::connections_limit>,
     "Maximum number of open client connections.", "Clients", "maximum"},
    {"connections.total", "garner_client_connections_total", "connections", counter<&Counters::connections>,
     "Client connections accepted.", "Clients", "since the start"},
    {"connections.refused", "garner_client_connections_refused_total", "connections", counter<&Counters::connections_refused>,
     "Client connections closed at once because the client had too many.", "Clients", "refused"},
    {"connections.displaced", "garner_client_connections_displaced_total", "connections", counter<&Counters::connections_displaced>,
     "Idle client connections closed for another client."},
    {"connections.protocols", "garner_client_connections_by_protocol{protocol}", "connections",
     open_of_each<&Counters::connections_begun, &Counters::connections_ended>,
     "Open client connections by protocol. One inside a decrypted tunnel counts, too; one in its TLS handshake does not yet."},
    {"connections.protocols_total", "garner_client_connections_by_protocol_total{protocol}", "connections",
     reasons<&Counters::connections_begun>, "Client connections by protocol, since the start.", "Clients", "by protocol: *"},
    {"http2.streams.now", "garner_client_streams", "streams", open_streams, "HTTP/2 streams that are open or whose request runs."},
    {"http2.streams.total", "garner_client_streams_total", "streams", counter<&Counters::streams>, "HTTP/2 streams accepted.",
     "Clients", "HTTP/2 streams"},
    {"http2.streams.refused", "garner_client_streams_refused_total", "streams", counter<&Counters::streams_refused>,
     "HTTP/2 streams refused: more than http2.streams at once."},
    {"http2.ended", "garner_client_connections_ended_total{reason}", "connections", reasons<&Counters::faults>,
     "HTTP/2 connections that Garner ended because of the client's frames, by reason.", "Clients", "HTTP/2 ended: *"},
    {"connections.accept_pauses", "garner_accept_pauses_total", "times", counter<&Counters::accept_paused>,
     "Pauses of a worker in accepting connections, at the limit."},
    {"connections.proxy_headers", "garner_proxy_headers_total{result}", "headers", reasons<&Counters::proxy_headers>,
     "Headers of the PROXY protocol, by result."},
    {"connections.intercepted", "garner_intercepted_connections_total{result}", "connections",
     reasons<&Counters::intercepted_begun>,
     "Connections to listeners with `intercept`, by what they begin with or why they were closed.", "Clients", "intercepted: *"},
    {"tls.handshakes", "garner_tls_handshakes_total{result}", "handshakes", reasons<&Counters::handshakes>,
     "TLS handshakes with clients, by result.", "Clients", "TLS handshakes, *"},
    {"tls.resumed", "garner_tls_handshakes_resumed_total", "handshakes", counter<&Counters::handshakes_resumed>,
     "Completed TLS handshakes with clients that resumed an earlier session."},
    {"tls.certificates", "garner_tls_certificate_not_after_seconds{certificate}", "seconds", certificates,
     "End of the validity of each certificate that clients or peers are shown and of the CA of `bump`, in seconds since 1970."},
    {"bump.tunnels", "garner_bump_tunnels_total{end}", "tunnels", reasons<&Counters::intercepted>,
     "Tunnels while a rule of interception bumps or terminates, by the end that the rules gave them."},
    {"logins", "garner_logins_total{result}", "logins", reasons<&Counters::logins>,
     "Checks of credentials that were not remembered, by result."},
    {"bump.refused", "garner_bump_certificates_refused_total", "handshakes", counter<&Counters::bump_refused>,
     "Handshakes in which clients refused the minted certificate of a valid origin."},
    {"client.received_bytes", "garner_client_received_bytes_total", "bytes", counter<&Counters::client_received>,
     "Bytes received from clients.", "Clients", "received"},
    {"client.sent_bytes", "garner_client_sent_bytes_total", "bytes", counter<&Counters::client_sent>,
     "Bytes sent to clients, including heads and tunnels.", "Clients", "sent"},
    {"client.body_bytes", "garner_client_body_bytes_total", "bytes", counter<&Counters::client_body_bytes>,
     "Body bytes sent to clients, without tunnels.", "Clients", "bodies sent"},
    {"client.hit_body_bytes", "garner_client_hit_body_bytes_total", "bytes", counter<&Counters::client_hit_bytes>,
     "Body bytes sent to clients on hits.", "Clients", "bodies sent on hits"},
    {"client.aborts", "garner_client_aborts_total", "requests", counter<&Counters::client_aborts>,
     "Requests whose client disconnected before the response ended.", "Requests", "client aborts"},

    {"origin.connections", "garner_origin_connections_total", "connections", counter<&Counters::origin_connections>,
     "Connections opened to origins.", "Origins", "connections opened"},
    {"origin.reused", "garner_origin_reused_total", "requests", counter<&Counters::origin_reused>,
     "Requests sent on an open persistent connection.", "Origins", "requests on reused"},
    {"origin.retries", "garner_origin_retries_total", "requests", counter<&Counters::origin_retries>,
     "Requests sent again after a persistent connection had been closed.", "Origins", "retries"},
    {"origin.failures", "garner_origin_failures_total", "requests", counter<&Counters::origin_failures>,
     "Requests without a usable response from the origin.", "Origins", "failures"},
    {"origin.resumed", "garner_resumed_total", "bodies", counter<&Counters::resumed>,
     "Bodies truncated at a peer or on disk, continued from another source."},
    {"origin.refreshes", "garner_refreshes_total", "requests", counter<&Counters::refreshes>,
     "Background revalidations of responses served stale."},
    {"origin.received_bytes", "garner_origin_received_bytes_total", "bytes", counter<&Counters::origin_received>,
     "Bytes received from origins, not from peers, counted as they arrive.", "Origins", "received"},
    {"origin.sent_bytes", "garner_origin_sent_bytes_total", "bytes", counter<&Counters::origin_sent>, "Bytes sent to origins.",
     "Origins", "sent"},

    {"share.limit_bytes", "garner_share_limit_bytes{direction}", "bytes", line_limits,
     "Rate of the line in bytes a second (`share`); 0: not divided."},
    {"share.bytes", "garner_share_bytes_total{direction}", "bytes", line_bytes,
     "Bytes to and from origins and parents while `share` or `caps` applies."},
    {"share.waiting", "garner_share_waiting{direction}", "transfers", line_waiting, "Transfers that wait for their turn."},
    {"share.subject_count", "garner_share_subjects", "users", subject_count, "Users and networks that are known."},
    {"share.subjects", "", "list", lists::subjects,
     "The 100 users and networks with the most bytes since they became known: name, weight, down_bytes, down_bytes_per_second, "
     "up_bytes, up_bytes_per_second, waiting."},
    {"caps", "", "list", lists::caps, "Caps in their order: name, down_bytes, up_bytes."},
    {"", "garner_cap_down_bytes_total{cap}", "bytes", cap_bytes<share::Direction::down>,
     "Bytes from origins of requests that the cap applied to."},
    {"", "garner_cap_up_bytes_total{cap}", "bytes", cap_bytes<share::Direction::up>,
     "Bytes to origins of requests that the cap applied to."},

    {"quotas", "", "list", lists::quotas,
     "The 100 subjects of quotas that have used most of a limit: name, subject, used and limit of the limit that is used up most, "
     "in its unit (bytes, requests, minutes), state (within, slow, over), until (the end of the window, in seconds since 1970), "
     "per, over, slow_bytes_per_second, bytes, requests, minutes."},
    {"", "garner_quota_bytes_total{quota}", "bytes", quota_totals<&share::QuotaTotals::bytes>, "Bytes that the quota has counted."},
    {"", "garner_quota_requests_total{quota}", "requests", quota_totals<&share::QuotaTotals::requests>,
     "Requests that the quota has counted."},
    {"", "garner_quota_refused_total{quota}", "requests", quota_totals<&share::QuotaTotals::refused>,
     "Requests refused because the quota was used up."},
    {"ledger.subjects", "garner_quota_subjects", "subjects", quota_subjects, "Subjects of quotas that are known."},
    {"ledger.rows", "garner_quota_ledger_rows_total", "rows", ledger<&share::LedgerFigures::rows>,
     "Rows written to the ledger of quotas (`state.path`)."},
    {"ledger.rewrites", "garner_quota_ledger_rewrites_total", "rewrites", ledger<&share::LedgerFigures::rewrites>,
     "Times that the ledger was written anew."},
    {"ledger.failures", "garner_quota_ledger_failures_total", "writes", ledger<&share::LedgerFigures::failures>,
     "Failed writes of the ledger."},
    {"ledger.damaged", "garner_quota_ledger_damaged_total", "rows", ledger<&share::LedgerFigures::damaged>,
     "Damaged rows and torn ends that were dropped when the ledger was read."},
    {"ledger.trouble", "", "text", ledger<&share::LedgerFigures::trouble>, "Why the ledger cannot be written now; empty: it can."},

    {"peers.name", "", "text", peer<[](Peer const& peer) { return peer.options.name; }>, "Name."},
    {"peers.type", "", "text", peer<[](Peer const& peer) { return name_of(peer.options.type); }>, "parent or sibling."},
    {"peers.host", "", "text", peer<[](Peer const& peer) { return peer.options.host; }>, "Host."},
    {"peers.http", "", "port", peer<[](Peer const& peer) { return peer.options.http; }>, "HTTP port."},
    {"peers.tls", "", "true or false", peer<[](Peer const& peer) { return peer.options.tls.has_value(); }>,
     "true: the HTTP port is reached over TLS."},
    {"peers.https", "", "text", peer<[](Peer const& peer) { return name_of(https_of(peer.options)); }>,
     "How the peer gets https:// requests: ask, tunnel, no or clear."},
    {"peers.state", "", "text", peer<state_of_peer>,
     "alive: queried and waited for; suspect: the last query timed out, so it is not waited for; dead: not waited for either, and "
     "used only without another source."},
    {"", "garner_peer_alive{peer}", "0 or 1", peer<[](Peer const& peer) { return peer.health == icp::Health::alive; }>,
     "1 if the peer is alive, otherwise 0."},
    {"", "garner_peer_dead{peer}", "0 or 1", peer<[](Peer const& peer) { return peer.health == icp::Health::dead; }>,
     "1 if the peer is dead, otherwise 0."},
    {"peers.address", "", "text", peer<address_of_peer>, "Resolved address, or null."},
    {"peers.query_rtt_ms", "garner_peer_query_rtt_seconds{peer}", "seconds",
     peer<[](Peer const& peer) { return millis(peer.query_rtt); }>, "Smoothed time from a query to its reply."},
    {"peers.connect_rtt_ms", "garner_peer_connect_rtt_seconds{peer}", "seconds",
     peer<[](Peer const& peer) { return millis(peer.connect_rtt); }>, "Smoothed time to connect to the HTTP port."},
    {"peers.bytes_per_second", "garner_peer_throughput{peer}", "bytes a second",
     peer<[](Peer const& peer) { return or_null(peer.throughput); }>, "Smoothed throughput of larger bodies."},
    {"peers.connections", "garner_peer_connections{peer}", "connections", peer<&Peer::connections>,
     "Requests that the peer is answering."},
    {"peers.queries", "garner_peer_queries_total{peer}", "queries", peer<&Peer::queries>, "ICP and HTCP queries sent."},
    {"peers.answers", "", "replies", peer<&Peer::answers>, "Replies received, including late ones."},
    {"peers.hits", "garner_peer_answers_total{peer,said=\"hit\"}", "replies", peer<&Peer::hits>, peer_replies},
    {"peers.misses", "garner_peer_answers_total{peer,said=\"miss\"}", "replies", peer<&Peer::misses>, peer_replies},
    {"peers.nofetch", "garner_peer_answers_total{peer,said=\"nofetch\"}", "replies", peer<&Peer::nofetch>, peer_replies},
    {"peers.denied", "garner_peer_answers_total{peer,said=\"denied\"}", "replies", peer<&Peer::denied>, peer_replies},
    {"peers.errors", "garner_peer_answers_total{peer,said=\"error\"}", "replies", peer<&Peer::errors>, peer_replies},
    {"peers.expired", "garner_peer_expired_total{peer}", "queries", peer<&Peer::expired>, "Queries not answered in time."},
    {"peers.late", "garner_peer_late_total{peer}", "replies", peer<&Peer::late>, "Replies that arrived after the timeout."},
    {"peers.fetches", "garner_peer_fetches_total{peer}", "responses", peer<&Peer::fetches>, "HTTP responses received."},
    {"peers.false_hits", "garner_peer_false_hits_total{peer}", "responses", peer<&Peer::false_hits>,
     "HIT replies of a peer that did not have the object."},
    {"peers.connect_failures", "garner_peer_connect_failures_total{peer}", "connections", peer<&Peer::connect_failures>,
     "Connections that failed, or closed without a response."},
    {"peers.bytes", "garner_peer_received_bytes_total{peer}", "bytes", peer<&Peer::bytes>, "Bytes of HTTP responses received."},
    {"peers.bytes_saved", "garner_peer_saved_bytes_total{peer}", "bytes", peer<&Peer::saved>,
     "Bytes of hits received, which the origin did not have to send."},
    {"peers.digest_entries", "", "objects", peer<digest_entries>, "Entries of the last cache digest fetched; null without one."},
    {"", "garner_peer_digest_entries{peer}", "objects", peer<&Peer::digest_entries>,
     "Entries of the last cache digest fetched; 0 without one."},

    {"icp.questions", "garner_icp_questions_total", "requests", icp<&Icp::questions>, "Misses for which peers were queried.",
     "Mesh", "misses with queries"},
    {"icp.timed_out", "garner_icp_timed_out_total", "requests", icp<&Icp::timed_out>,
     "Misses for which a queried peer did not reply in time.", "Mesh", "query timeouts"},
    {"icp.unexpected", "garner_icp_unexpected_total", "replies", icp<&Icp::unexpected>,
     "Replies dropped: without a query, or from another address.", "Mesh", "unexpected replies"},
    {"icp.moved", "garner_icp_moved_total", "replies", icp<&Icp::moved>,
     "Replies that arrived at another worker than the querying one."},
    {"icp.queries", "garner_icp_queries_total", "queries", icp<&Icp::queries>, "ICP and HTCP queries received from other caches.",
     "Mesh", "queries received"},
    {"icp.hits", "garner_icp_answers_total{said=\"hit\"}", "replies", icp<&Icp::hits>, icp_replies, "Mesh", "replied HIT"},
    {"icp.misses", "garner_icp_answers_total{said=\"miss\"}", "replies", icp<&Icp::misses>, icp_replies, "Mesh", "replied MISS"},
    {"icp.nofetch", "garner_icp_answers_total{said=\"nofetch\"}", "replies", icp<&Icp::nofetch>, icp_replies, "Mesh",
     "replied MISS_NOFETCH"},
    {"icp.denied", "garner_icp_answers_total{said=\"denied\"}", "replies", icp<&Icp::denied>, icp_replies, "Mesh", "denied"},
    {"icp.errors", "garner_icp_answers_total{said=\"error\"}", "replies", icp<&Icp::errors>, icp_replies},
    {"icp.silenced", "garner_icp_silenced_total", "queries", icp<&Icp::silenced>,
     "Queries dropped: over 95 % of the address's queries were denied."},
    {"icp.limited", "garner_icp_limited_total", "datagrams", icp<&Icp::limited>,
     "Datagrams dropped: over the address's rate limit.", "Mesh", "over the rate limit"},
    {"icp.malformed", "garner_icp_malformed_total", "datagrams", icp<&Icp::malformed>,
     "Datagrams dropped: malformed, or ICP version 3.", "Mesh", "malformed"},
    {"icp.cleared", "garner_icp_cleared_total", "purges", icp<&Icp::cleared>, "Purges requested by other caches (HTCP CLR).",
     "Mesh", "purges received"},
    {"icp.refused_clears", "garner_icp_refused_clears_total", "purges", icp<&Icp::refused_clears>,
     "Purges refused: the cache may not request them."},

    {"cache.policy", "garner_cache_policy_info{policy}", "text", memory<&Memory::policy>,
     "Replacement policy in use; the sample is always 1.", "Memory", "policy"},
    {"cache.objects", "garner_cache_objects", "objects", memory<&Memory::objects>, "Objects in memory; each variant counts.",
     "Memory", "objects"},
    {"cache.used_bytes", "garner_cache_used_bytes", "bytes", memory<&Memory::used>,
     "Memory of objects, bodies being received, index, and bodies that clients still read.", "Memory", "used"},
    {"cache.capacity_bytes", "garner_cache_capacity_bytes", "bytes", memory<&Memory::capacity>, "Memory budget (memory.size).",
     "Memory", "budget"},
    {"cache.stored_bytes", "garner_cache_stored_bytes", "bytes", memory<&Memory::cached>,
     "Objects in the index, with heads and keys.", "Memory", "objects and keys"},
    {"cache.metadata_bytes", "garner_cache_metadata_bytes", "bytes", memory<&Memory::metadata>,
     "Index, replacement policy and negative cache entries.", "Memory", "index and policy"},
    {"cache.filling_bytes", "garner_cache_filling_bytes", "bytes", memory<&Memory::filling>, "Bodies being received.", "Memory",
     "being received"},
    {"cache.pinned_bytes", "garner_cache_pinned_bytes", "bytes", memory<&Memory::pinned>,
     "Objects no longer stored that clients still read."},
    {"cache.fills", "garner_cache_fills", "fetches", memory<&Memory::fills>, "Fetches in progress that other requests can join.",
     "Memory", "joinable fetches"},
    {"cache.followers", "garner_cache_followers", "requests", memory<&Memory::followers>,
     "Requests that wait for or read a fetch that they joined."},
    {"cache.evictions", "garner_cache_evictions_total", "objects", memory<&Memory::evictions>, "Objects evicted.", "Memory",
     "evicted"},
    {"cache.no_room", "garner_cache_no_room_total", "objects", memory<&Memory::refused_for_room>,
     "Objects and bodies rejected: the budget was used up.", "Memory", "rejected (no space)"},
    {"cache.not_admitted", "garner_cache_not_admitted_total", "objects", memory<&Memory::not_admitted>,
     "Objects rejected: valued less than their victims."},
    {"cache.failures", "garner_cache_failures", "failures", memory<&Memory::failures>, "Negative cache entries (failed fetches)."},

    {"resident_bytes", "garner_process_resident_bytes", "bytes", figure<&Figures::resident>,
     "Resident memory of the process (RSS)."},
    {"open_files.now", "garner_process_open_files", "files", figure<&Figures::open_files>,
     "Open file descriptors of the process; each connection has one."},
    {"open_files.limit", "garner_process_open_files_limit", "files", figure<&Figures::open_files_limit>,
     "Maximum number of open file descriptors (LimitNOFILE)."},
    {"memory_parts", "", "list", memory_list, "Memory by part: name, bytes, limit."},
    {"", "garner_memory_bytes{part}", "bytes", memory_by_part<&MemoryUse::bytes>, "Memory in use, by part."},
    {"", "garner_memory_limit_bytes{part}", "bytes", memory_by_part<&MemoryUse::limit>,
     "The most memory that the configuration allows, by part."},
    {"memory_sum.bytes", "", "bytes", memory_sum<&MemoryUse::bytes>, "Memory in use by all parts."},
    {"memory_sum.limit", "", "bytes", memory_sum<&MemoryUse::limit>, "Sum of the limits, without those inside other limits."},

    {"disk.state", "", "text", disk_state, "off: no disk.path; recovering: in use with an incomplete index; working; failing.",
     "Disk", "state"},
    {"", "garner_disk_state{state}", "0 or 1", disk_states, "1 for the current state, 0 for others."},
    {"disk.trouble", "", "text", disk<&Disk::trouble>, "Last error with a suggested fix, or empty.", "Disk", "last error"},
    {"disk.path", "", "text", disk<&Disk::path>, "Configured path."},
    {"disk.size_bytes", "garner_disk_size_bytes", "bytes", disk<&Disk::size>, "Size of the file.", "Disk", "size"},
    {"disk.live_bytes", "garner_disk_live_bytes", "bytes", disk<&Disk::live>, "Records in the index, accurate to a few percent.",
     "Disk", "live"},
    {"disk.records", "garner_disk_records", "records", disk<&Disk::records>, "Objects, and pieces of large bodies.", "Disk",
     "records"},
    {"disk.metadata_bytes", "garner_disk_metadata_bytes", "bytes", disk<&Disk::metadata>,
     "Memory of index, policy and segments, in addition to memory.size.", "Disk", "index and policy"},
    {"disk.metadata_bytes_per_record", "", "bytes", disk_quotient<&Disk::metadata, &Disk::records>,
     "disk.metadata_bytes / disk.records.", "Disk", "bytes per record"},
    {"disk.segments", "garner_disk_segments", "segments", disk<&Disk::segments>, "Segments of the log."},
    {"disk.segments_recovered", "garner_disk_segments_recovered", "segments", disk<&Disk::segments_recovered>,
     "Segments scanned since the start.", "Disk", "segments scanned"},
    {"disk.segments_retired", "garner_disk_segments_retired", "segments", disk<&Disk::segments_retired>,
     "Segments no longer used after I/O errors.", "Disk", "segments retired"},
    {"disk.hits", "garner_disk_hits_total", "objects", disk<&Disk::hits>, "Objects found on disk and verified.", "Disk", "hits"},
    {"disk.hits_at_once", "garner_disk_hits_at_once_total", "objects", disk<&Disk::hits_at_once>,
     "Objects found whose head was read without waiting for the disk.", "Disk", "hits without waiting"},
    {"disk.pieces", "garner_disk_pieces_total", "pieces", disk<&Disk::pieces>, "Pieces of large bodies read and verified.", "Disk",
     "pieces read"},
    {"disk.misses", "garner_disk_misses_total", "look-ups", disk<&Disk::misses>,
     "Index entries whose record had another key or was overwritten.", "Disk", "stale index entries"},
    {"disk.damaged", "garner_disk_damaged_total", "records", disk<&Disk::damaged>, "Records with a wrong checksum; never served.",
     "Disk", "damaged"},
    {"disk.too_late", "garner_disk_too_late_total", "look-ups", disk<&Disk::too_late>,
     "Look-ups that took longer than disk.timeout.", "Disk", "look-ups timed out"},
    {"disk.stored", "garner_disk_stored_total", "objects", disk<&Disk::stored>, "Objects stored on disk.", "Disk", "stored"},
    {"disk.not_stored", "garner_disk_not_stored_total{reason}", "objects", disk_not_stored,
     "Objects not stored on disk, by reason.", "Disk", "not stored: *"},
    {"disk.buffered_bytes", "garner_disk_buffered_bytes", "bytes", disk<&Disk::buffered>, "Bytes waiting to be written.", "Disk",
     "waiting to be written"},
    {"disk.stored_bytes", "garner_disk_stored_bytes_total", "bytes", disk<&Disk::stored_bytes>,
     "Heads and bodies of objects stored."},
    {"disk.written_bytes", "garner_disk_written_bytes_total", "bytes", disk<&Disk::written_bytes>, "Bytes written to the file."},
    {"disk.reinserted_bytes", "garner_disk_reinserted_bytes_total", "bytes", disk<&Disk::reinserted_bytes>,
     "Records rewritten before their segment was reclaimed."},
    {"disk.write_amplification.start", "", "ratio", write_cost<&WriteCosts::start>,
     "Bytes written per byte stored, since the start.", "Disk", "write amplification"},
    {"disk.write_amplification.first_lap", "", "ratio", write_cost<&WriteCosts::first_lap>,
     "Bytes written per byte stored, before the first wrap of the log.", "Disk", "before the first wrap"},
    {"disk.write_amplification.later", "", "ratio", write_cost<&WriteCosts::later>,
     "Bytes written per byte stored, after the first wrap of the log.", "Disk", "after the first wrap"},
    {"disk.reinserted_share", "", "0 to 1", disk_quotient<&Disk::reinserted_bytes, &Disk::written_bytes>,
     "disk.reinserted_bytes / disk.written_bytes.", "Disk", "share rewritten"},
    {"disk.laps", "garner_disk_laps_total", "times", disk<&Disk::laps>, "Times that the log wrapped.", "Disk", "log wraps"},
    {"disk.evicted", "garner_disk_evicted_total", "records", disk<&Disk::evicted>, "Records evicted.", "Disk", "evicted"},
    {"disk.read_errors", "garner_disk_read_errors_total", "errors", disk<&Disk::read_errors>, "Reads that failed.", "Disk",
     "read errors"},
    {"disk.write_errors", "garner_disk_write_errors_total", "errors", disk<&Disk::write_errors>, "Writes that failed.", "Disk",
     "write errors"},

    {"what_if.on", "", "true or false", is_sampling, "Configured memory.what_if."},
    {"what_if.policy", "", "text", sampled<&Sampled::policy>, "Policy in use."},
    {"what_if.rate", "", "0 to 1", sampling_rate, "Share of all URLs whose requests are sampled."},
    {"what_if.requests", "", "requests", estimate<&WhatIf::requests>,
     "Sampled requests behind the rows; each represents 1 / rate requests."},
    {"what_if.requests_wanted", "", "requests", requests_wanted, "Sampled requests needed for rows."},
    {"what_if.dropped", "", "requests", sampled<&Sampled::dropped>, "Samples dropped because they arrived too fast."},
    {"what_if.since_seconds", "", "seconds", estimate<&WhatIf::seconds>,
     "Time that the rows cover: since the start, the last change of memory.size or the last increase of the rate, after which the "
     "simulated caches start with the last 16,384 samples."},
    {"what_if.memory_bytes", "", "bytes", estimate<&WhatIf::metadata>, "Memory of the simulation, in addition to memory.size."},
    {"what_if.rows", "", "list", estimates, "Estimates: policy, size_bytes, object_hit_ratio, byte_hit_ratio."},
    {"what_if.auto.aim", "", "text", auto_aim, "Aim of memory.policy auto: objects or bytes; otherwise null."},
    {"what_if.auto.last_change", "", "text", sampled<&Sampled::why>,
     "Last change by memory.policy auto, with its reason, or empty."},

    {"log.written", "garner_log_lines_written_total", "lines", log<&Log::written>, "Access log lines written.", "Access log",
     "lines written"},
    {"log.dropped", "garner_log_lines_dropped_total", "lines", log<&Log::dropped>, "Access log lines dropped: the buffer was full.",
     "Access log", "dropped, buffer full"},
    {"log.dropped_most", "", "list", lists::dropped_most,
     "Up to ten clients and statuses with the most dropped lines: client, status, lines."},
    {"log.lost", "garner_log_lines_lost_total", "lines", log<&Log::lost>, "Access log lines lost: not writable.", "Access log",
     "lost, not writable"},
    {"log.write_errors", "garner_log_write_errors_total", "errors", log<&Log::write_errors>, "Failed writes of the access log."},
    {"log.written_bytes", "garner_log_written_bytes_total", "bytes", log<&Log::bytes>, "Access log bytes written."},
    {"log.messages_lost", "garner_log_messages_lost_total", "lines", figure<&Figures::messages_lost>,
     "Lines for standard error lost: not writable, or the buffer was full.", "Access log", "messages lost"},
    {"log.last_error", "", "text", log<&Log::last_error>, "Last write error, or empty.", "Access log", "last error"},

    {"admin.logins_failed", "garner_admin_logins_failed_total", "logins", logins_failed,
     "Requests to the admin address with a wrong token."},
    {"admin.sessions", "garner_admin_sessions", "sessions", sessions, "Sessions of browsers that have logged in there."},
};

}   // namespace

std::span<Metric const> metrics() { return all_metrics; }

}   // namespace garner::admin
