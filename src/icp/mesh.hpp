// The mesh as this process sees it: the peers in force, what is known of origins, and an agent on every worker.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cache/cache.hpp"
#include "icp/agent.hpp"
#include "icp/changed_urls.hpp"
#include "icp/htcp_auth.hpp"
#include "icp/options.hpp"
#include "icp/origin_times.hpp"
#include "icp/peer.hpp"
#include "icp/replay_guard.hpp"
#include "net/worker.hpp"
#include "util/mutex.hpp"

namespace garner::icp {

class Chore;

/// The peers in force with the options they came with. Immutable; a peer that is the same in the next one keeps what is
/// known of it.
struct PeerTable {
    Options options;
    std::vector<std::shared_ptr<Peer>> peers;
    std::vector<std::shared_ptr<Peer>> purged;   // who hears of purges: those with HTCP, and htcp.purge_to

    /// Whose datagrams come from there; null: nobody's.
    std::shared_ptr<Peer> at(IpEndpoint const& from, Protocol) const;
};
using PeerTablePtr = std::shared_ptr<PeerTable const>;

/// Thread-safe unless said otherwise. Outlives everything that runs on the workers.
class Mesh {
public:
    /// Takes the ports; nullptr with `fault` naming the address when one cannot be had.
    static std::unique_ptr<Mesh> make(Options options, std::span<net::Worker* const> workers, cache::Cache& cache,
                                      std::string& fault);
    ~Mesh();

    /// Before the workers run.
    void start();
    /// On that worker's thread: nothing of it keeps the worker from ending any more.
    void stop(unsigned worker);
    /// From now on other caches are told to fetch elsewhere: no more clients are let in.
    void drain() { draining_.store(true, std::memory_order_relaxed); }
    bool draining() const { return draining_.load(std::memory_order_relaxed); }
    /// Addresses and ports stay as they are until a restart.
    void reconfigure(Options options);

    PeerTablePtr peer_table() const;
    /// True when there is no peer, and no rule that forbids the origin.
    bool alone() const { return alone_.load(std::memory_order_relaxed); }
    /// False while there are neither peers nor caches that ask us: what is measured would tell nobody anything.
    bool wants_to_know() const { return wants_to_know_.load(std::memory_order_relaxed); }
    /// On that worker's thread.
    Agent& agent(unsigned worker) { return *agents_[worker]; }
    OriginTimes& origins() { return origins_; }
    ReplayGuard& replays() { return replays_; }
    ChangedUrls& changed() { return changed_; }
    cache::Cache& cache() { return cache_; }
    std::uint32_t next_turn() { return turn_.fetch_add(1, std::memory_order_relaxed); }

    /// All workers together.
    AgentFigures figures() const;
    std::vector<PeerStats> peers(SteadyTime now) const;
    bool is_worker(unsigned number) const { return number < agents_.size(); }

    /// Our cache digest in Squid's form, as last built; null before that.
    struct Published {
        std::shared_ptr<std::string const> digest;
        WallTime expires{};   // when the next one is due
    };
    Published published() const;
    void publish(Published digest);
    /// Asks for a new one soon, out of turn.
    void rebuild_digest() { digest_wanted_.store(true); }
    bool take_digest_wanted() { return digest_wanted_.exchange(false); }

private:
    Mesh(Options options, cache::Cache& cache);
    void note_company() REQUIRES(mutex_);
    static PeerTablePtr make_peer_table(Options options, PeerTable const* before);

    cache::Cache& cache_;
    mutable Mutex mutex_;
    PeerTablePtr peer_table_ GUARDED_BY(mutex_);
    Published published_ GUARDED_BY(mutex_);
    std::atomic<bool> digest_wanted_{false};
    std::atomic<bool> draining_{false};
    std::atomic<std::uint32_t> turn_{0};
    std::atomic<bool> wants_to_know_{false};
    std::atomic<bool> alone_{true};
    OriginTimes origins_;
    ReplayGuard replays_{4 * htcp::signature_life};   // a message is believed for three of them at most
    ChangedUrls changed_;
    std::vector<std::unique_ptr<Agent>> agents_;
    std::vector<std::unique_ptr<Chore>> chores_;   // of the first worker
};

}  // namespace garner::icp
