// The services of a worker for the transactions that run on it.
#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "cache/cache.hpp"
#include "h2/memory_budget.hpp"
#include "http/access_rules.hpp"
#include "icp/mesh.hpp"
#include "net/name_history.hpp"
#include "net/worker.hpp"
#include "proxy/access_log.hpp"
#include "proxy/config_state.hpp"
#include "proxy/connection_count.hpp"
#include "proxy/counters.hpp"
#include "proxy/first_byte_times.hpp"
#include "proxy/handshake_failures.hpp"
#include "proxy/head_budget.hpp"
#include "proxy/interception.hpp"
#include "proxy/options.hpp"
#include "proxy/own_ends.hpp"
#include "proxy/recent_requests.hpp"
#include "proxy/refusals.hpp"
#include "proxy/sampling.hpp"
#include "proxy/top_lists.hpp"
#include "share/cap.hpp"
#include "share/line_clock.hpp"
#include "share/quotas.hpp"
#include "share/shares.hpp"
#include "util/intrusive_list.hpp"

namespace garner::auth {
class Authenticator;
}

namespace garner::group {
class Group;
}

namespace garner::proxy {

class Connection;
class Departures;
class FillPump;
class GroupFetch;
class Refresh;
class Replication;
class RequestPlaces;
struct Services;

/// Shared by all workers; process-wide limits.
struct Shared {
    ConnectionCount connections;
    std::atomic<std::int64_t> pipes{0};   // that tunnels may still open
    std::uint32_t refreshes_max = 0;      // on one worker at a time; each takes a descriptor
    ClientCounts clients;                 // seats by client address
    std::uint32_t attempts_max = 0;       // see Capacity; for one client a quarter of them
    std::atomic<std::uint32_t> attempts{0};
    ClientCounts attempting;   // attempts by client address, see CountedAttempts
    HandshakeFailures handshake_failures;
    net::NameHistory name_history;   // of hosts that intercepted requests name
    OwnEnds own_ends;
    Refusals refusals;
    Refusals failures;   // the last other error pages, for latest() and find() only; `rule` has status and reason
    ConfigState config;
    share::Shares shares;   // of the line
    share::Caps caps;
    share::Quotas quotas;
    h2::Memory http2_memory{16 * MiB, 48 * MiB};   // for heads, and windows; in addition to the fixed part of each connection
    Replication* replication = nullptr;            // null: this proxy is in no group
    std::vector<Services*> workers;                // all of them, by number; complete before the first one runs
};

/// The end of one worker's connections.
struct Draining {
    bool begun = false;                         // the proxy stops, and its listening sockets are closed
    std::shared_ptr<Departures> departures{};   // takes plain connections for another process; null: there is none
    std::uint32_t departing = 0;                // connections that it has taken, and that process has not acknowledged
};

/// One for each worker; used on its thread only. `options` is swapped by post: a transaction keeps the snapshot it began
/// with.
struct Services {
    net::Worker& worker;
    cache::Cache& cache;
    Shared& shared;
    AccessLog* log = nullptr;   // null: the server has opened none
    Counters& counters;
    RequestPlaces& places;
    std::shared_ptr<Options const> options;
    std::shared_ptr<http::OwnAddresses const> own{};      // swapped by post, too
    std::shared_ptr<Interception const> interception{};   // swapped by post, too; null until it was opened
    auth::Authenticator* logins = nullptr;                // null: no logins
    Sampler* sampler = nullptr;                           // null: nothing is sampled
    group::Group* group = nullptr;                        // null: this proxy shares no invalidations
    icp::Mesh* mesh = nullptr;
    icp::Agent* agent = nullptr;   // this worker's, in the mesh
    std::uint32_t accepting = 0;   // listening addresses
    Draining drain{};
    List<Connection> connections{};   // those that wait for a request, longest waiting first
    HeadBudget heads{};               // this worker's share of limits.heads_max
    struct {
        List<FillPump> pumps{};
        List<Refresh> refreshes{};
        List<GroupFetch> group_fetches{};
        std::uint32_t refreshing = 0;   // the refreshes, and pumps that only fill the store
    } background{};
    FirstByteTimes first_bytes{};
    TopLists* top = nullptr;            // null: none are kept
    RecentRequests* recent = nullptr;   // null: none are kept
    share::Clock clock{worker.io};

    /// Whether lines of this worker are written anywhere.
    bool logs() const { return log && log->writes(worker.number); }
};

}   // namespace garner::proxy
