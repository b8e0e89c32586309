// This process's view of the mesh: the current peers, the measured origins, and an agent on every worker.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cache/cache.hpp"
#include "http/access_rules.hpp"
#include "icp/agent.hpp"
#include "icp/changed_urls.hpp"
#include "icp/htcp_auth.hpp"
#include "icp/options.hpp"
#include "icp/origin_times.hpp"
#include "icp/peer.hpp"
#include "icp/peer_contexts.hpp"
#include "icp/replay_guard.hpp"
#include "icp/srv_peers.hpp"
#include "net/worker.hpp"
#include "util/mutex.hpp"
#include "util/result.hpp"

namespace garner::icp {

class PeriodicTask;

/// The current peers with their options. Immutable; a peer that is unchanged in the next table keeps its state.
struct PeerTable {
    Options options;   // as configured: its peers include services, in place of their servers
    std::vector<std::shared_ptr<Peer>> peers;
    std::vector<std::shared_ptr<Peer>> purged;    // peers that receive purges: those with HTCP, and htcp.purge_to
    std::vector<std::shared_ptr<Peer>> watched;   // the peers among options.watched, and others that are used for nothing else

    /// The peer at that address; null: none.
    std::shared_ptr<Peer> at(IpEndpoint const& from, Protocol) const;
    /// The peer with that name; null: none.
    std::shared_ptr<Peer> named(std::string_view name) const;
    /// True for a watched proxy that cannot be used.
    bool is_dead(std::string_view host, std::uint16_t port, SteadyTime now) const;
};
using PeerTablePtr = std::shared_ptr<PeerTable const>;

/// Thread-safe unless stated otherwise. Outlives everything that runs on the workers.
class Mesh {
public:
    /// Takes the ports and reads the files of the peers; the fault names the address or the key. `handed`: sockets of the process
    /// whose place this one takes; may be null.
    static Result<std::unique_ptr<Mesh>> make(Options options, std::span<net::Worker* const> workers, cache::Cache& cache,
                                              std::shared_ptr<net::HandedSockets> handed = nullptr);
    ~Mesh();

    /// Before the workers run.
    void start();
    /// Call on that worker's thread. Afterwards the mesh no longer keeps the worker from ending.
    void stop(unsigned worker);
    /// Another process reads from the sockets of the own ports until resume(). Not on a worker.
    void pause();
    void resume();
    /// The sockets of the own ports. Asks the workers; a fault if one does not respond.
    Result<std::vector<net::NamedSocket>> sockets();
    /// While make() opens ports; may be null.
    std::shared_ptr<net::HandedSockets> const& handed() const { return handed_; }
    std::size_t workers() const { return workers_; }

    /// From now on other caches are told not to fetch here, and monitors are told not to send clients here.
    void drain() { draining_.store(true, std::memory_order_relaxed); }
    bool draining() const { return draining_.load(std::memory_order_relaxed); }
    /// For a reload with these options: takes other ports and reads the files of the peers. The fault names the key, and nothing
    /// has changed. Running connections keep their TLS contexts. For 2 s replies to running queries, and queries of other
    /// caches, are received at the former ports, too.
    Result<Prepared> prepare(Options fresh);
    /// The peers after such a reload, without a state. Reads the certificates.
    Result<PeerTablePtr> peers_after(Options fresh) const;
    /// DNS names these servers of a service (`peers[].srv`): later requests use them. An unchanged one keeps its state.
    void use_servers(std::string const& service, std::vector<net::SrvTarget> targets);
    /// The service's servers as last given; empty if DNS has named none.
    std::vector<net::SrvTarget> servers(std::string_view service) const;
    using OwnAddresses = std::function<std::shared_ptr<http::OwnAddresses const>()>;
    /// Before start(). A server of a service that listens at one of these addresses is this process, and no peer.
    void set_own(OwnAddresses own) { own_ = std::move(own); }
    /// May be null.
    std::shared_ptr<http::OwnAddresses const> own() const { return own_ ? own_() : nullptr; }

    PeerTablePtr peer_table() const;
    /// True when there is no peer, and no rule that forbids the origin.
    bool alone() const { return alone_.load(std::memory_order_relaxed); }
    /// False while there are neither peers nor ports for other caches: measurements would have no use.
    bool wants_to_know() const { return wants_to_know_.load(std::memory_order_relaxed); }
    /// Call on that worker's thread.
    Agent& agent(unsigned worker) { return *agents_[worker]; }
    OriginTimes& origins() { return origins_; }
    ReplayGuard& replays() { return replays_; }
    ChangedUrls& changed() { return changed_; }
    cache::Cache& cache() { return cache_; }
    std::uint32_t next_turn() { return turn_.fetch_add(1, std::memory_order_relaxed); }

    /// The sum over all workers.
    AgentFigures figures() const;
    std::vector<PeerStats> peers(SteadyTime now) const;
    bool is_worker(unsigned number) const { return number < agents_.size(); }

    /// This cache's digest in Squid's format, as last built; null before the first one.
    struct Published {
        std::shared_ptr<std::string const> digest;       // without https:// URLs, for readers in clear text
        std::shared_ptr<std::string const> with_https;   // of all URLs
        WallTime expires{};                              // when the next one is due
    };
    Published published() const;
    void publish(Published digest);
    /// Requests a new digest soon, outside the schedule.
    void rebuild_digest() { digest_wanted_.store(true); }
    bool take_digest_wanted() { return digest_wanted_.exchange(false); }

private:
    Mesh(Options options, PeerContexts contexts, cache::Cache& cache);
    void on_workers(void (Agent::*what)());
    void replace(Options options, PeerContexts contexts) REQUIRES(mutex_);
    void note_company() REQUIRES(mutex_);
    static PeerTablePtr make_peer_table(Options options, PeerContexts const& contexts, KnownServices const& services,
                                        PeerTable const* before);

    cache::Cache& cache_;
    mutable Mutex mutex_;
    PeerTablePtr peer_table_ GUARDED_BY(mutex_);
    PeerContexts contexts_ GUARDED_BY(mutex_);   // of peer_table_->options.peers
    KnownServices services_ GUARDED_BY(mutex_);
    OwnAddresses own_;
    Published published_ GUARDED_BY(mutex_);
    std::atomic<bool> digest_wanted_{false};
    std::atomic<bool> draining_{false};
    std::atomic<std::uint32_t> turn_{0};
    std::atomic<bool> wants_to_know_{false};
    std::atomic<bool> alone_{true};
    OriginTimes origins_;
    ReplayGuard replays_{4 * htcp::signature_life};   // a message is valid for at most three lifetimes
    ChangedUrls changed_;
    std::shared_ptr<net::HandedSockets> handed_;
    std::size_t workers_ = 0;
    std::vector<std::unique_ptr<Agent>> agents_;
    std::vector<std::unique_ptr<PeriodicTask>> tasks_;   // on the first worker
};

}   // namespace garner::icp
