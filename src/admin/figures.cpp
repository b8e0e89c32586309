#include "admin/figures.hpp"

#include "store/disk_store.hpp"

namespace garner::admin {

namespace {

void add(Figures& sum, proxy::Counters const& one) {
    for (std::size_t i = 0; i < answer_count; ++i) {
        auto const value = one.answers[i].value();
        sum.answers[i] += value;
        sum.requests += value;
    }
    sum.not_stored.add(one.not_stored);
    sum.passed.add(one.passed);
    sum.not_fresh.add(one.not_fresh);
    sum.stale_used.add(one.stale_used);
    sum.hit_time += one.hit_time.snapshot();
    sum.miss_time += one.miss_time.snapshot();
    sum.client_received += one.client_received.value();
    sum.client_sent += one.client_sent.value();
    sum.client_body_bytes += one.client_body_bytes.value();
    sum.client_hit_bytes += one.client_hit_bytes.value();
    sum.client_aborts += one.client_aborts.value();
    sum.connections += one.connections.value();
    sum.connections_refused += one.connections_refused.value();
    sum.connections_displaced += one.connections_displaced.value();
    sum.accept_pauses += one.accept_paused.value();
    sum.origin_received += one.origin_received.value();
    sum.origin_sent += one.origin_sent.value();
    sum.origin_connections += one.origin_connections.value();
    sum.origin_reused += one.origin_reused.value();
    sum.origin_retries += one.origin_retries.value();
    sum.origin_failures += one.origin_failures.value();
    sum.resumed += one.resumed.value();
    sum.refreshes += one.refreshes.value();
}

}  // namespace

std::string_view name_of(proxy::Answer answer) {
    static constexpr std::array<std::string_view, answer_count> names{
        "hit",      "miss",   "revalidated", "refreshed", "collapsed", "stale",
        "negative", "passed", "tunnelled",   "refused",   "failed",    "purged", "own"};
    return names[static_cast<std::size_t>(answer)];
}

Figures take_figures(proxy::Server& server) {
    Figures figures;
    figures.at = steady_now();
    figures.uptime_seconds = std::chrono::duration<double>(figures.at - server.started()).count();
    figures.via_name = server.via_name();
    for (auto const* counters : server.counters()) {
        add(figures, *counters);
        ++figures.workers;
    }
    figures.connections_now = server.connections();
    figures.connections_limit = server.connections_max();
    figures.cache = server.cache().stats();
    if (auto const* disk = server.cache().disk()) figures.disk = disk->stats();
    figures.log = server.log_stats();
    figures.peers = server.mesh().peers(figures.at);
    figures.icp = server.mesh().figures();
    if (auto* sampling = server.sampling()) figures.what_if = sampling->report(figures.at);
    return figures;
}

}  // namespace garner::admin
