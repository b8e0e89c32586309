// The statistics of the proxy at one moment, summed over all workers.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admin/memory_parts.hpp"
#include "admin/top_rows.hpp"
#include "auth/trouble.hpp"
#include "cache/cache.hpp"
#include "group/state.hpp"
#include "icp/agent.hpp"
#include "net/dns_health.hpp"
#include "proxy/server.hpp"
#include "store/disk_options.hpp"

namespace garner::admin {

inline constexpr std::size_t answer_count = static_cast<std::size_t>(proxy::Answer::count_);

/// The result's name in the statistics: "hit", "tunnelled".
std::string_view name_of(proxy::Answer);
/// "parent", "sibling"
std::string_view name_of(icp::PeerOptions::Type);

struct Figures {
    SteadyTime at{};
    double uptime_seconds = 0;
    std::string via_name;
    proxy::ConfigState::Figures config;
    std::shared_ptr<proxy::Options const> options;   // with the access rules and their hits; null: none
    std::size_t stuck_workers = 0;

    std::array<std::uint64_t, answer_count> answers{};
    std::uint64_t requests = 0;   // sum of `answers`
    LatencySnapshot hit_time;
    LatencySnapshot miss_time;
    std::vector<proxy::Counters const*> workers;   // one for each worker, with all other counters; owned by the server

    std::uint32_t connections_now = 0;
    std::uint32_t connections_limit = 0;
    cache::Stats cache;
    cache::Invalidations::Stats invalidations;
    std::optional<group::GroupState> group;   // empty: no group, or it does not respond
    LatencySnapshot group_acceptance, group_spread;
    store::DiskStats disk;
    proxy::AccessLog::Stats log;
    std::vector<auth::Trouble> troubles;   // reported by the sources of users
    net::DnsHealth::Figures dns;
    share::Figures share;                  // of the line
    std::vector<share::CapFigures> caps;   // in the order of the rules
    std::size_t cap_count = 0;             // clients and connections that have a cap of their own
    share::QuotasFigures quotas;
    std::uint64_t messages_lost = 0;   // lines for standard error
    std::vector<icp::PeerStats> peers;
    icp::AgentFigures icp;
    std::optional<proxy::Sampling::Report> what_if;   // empty: memory.what_if is false

    std::vector<MemoryUse> memory;   // one for each of memory_parts()
    Bytes resident = 0;              // the whole process
    std::uint64_t open_files = 0, open_files_limit = 0;

    std::map<std::string, WallTime> certificates;   // name() and end of the validity of shown_certificates()

    std::uint64_t count(proxy::Answer answer) const { return answers[static_cast<std::size_t>(answer)]; }
    /// The counter's value at the time of the call, summed over all workers.
    std::uint64_t sum(Counter proxy::Counters::*counter) const;
};

/// Called on the admin thread. Each value is exact; the values are read one after another while the workers continue.
Figures take_figures(proxy::Server&);
/// From any thread.
TopTables take_top(proxy::Server&, SteadyTime now);

}   // namespace garner::admin
