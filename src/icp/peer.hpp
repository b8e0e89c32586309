// One peer: what it is, and what is known of it. Shared by all workers.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "icp/reply.hpp"
#include "icp/choice.hpp"
#include "icp/liveness.hpp"
#include "icp/options.hpp"
#include "icp/smoothed.hpp"
#include "util/mutex.hpp"

namespace garner::icp {

class Digest;

/// Thread-safe: one mutex, held for a few stores; taken at misses only.
class Peer : public std::enable_shared_from_this<Peer> {
public:
    explicit Peer(PeerOptions options);

    PeerOptions const options;

    /// For the choice at this moment.
    PeerView view(SteadyTime now);
    /// For people.
    PeerStats stats(SteadyTime now) const;

    // ---- asking ----
    void asked(Protocol, SteadyTime now);
    /// `took`: since the query, where that is known. `late`: nobody waited any more; it counts for the mean with no more
    /// than twice that, so that patience grows to where the answers are, and one outage does not make it endless.
    void answered(Reply const&, std::optional<microseconds> took, SteadyTime now, bool late = false);
    /// An answer was waited for in vain.
    void overdue();
    /// A query ran out for good.
    void expired(SteadyTime now);

    // ---- using ----
    /// Takes one of max_connections; false when there is none. Given back by leave().
    bool enter();
    void leave();
    void connected(std::optional<microseconds> rtt, SteadyTime now);
    void connect_failed(std::string_view why, SteadyTime now);
    /// A response came from it: the bytes of its body and the time that they took.
    void fetched(Source const& as, Bytes bytes, microseconds took);
    /// It did not have what it had promised.
    void false_hit();

    // ---- where it is ----
    /// Of its name; those of a literal from the start. Empty: not known yet.
    std::vector<IpAddress> addresses() const;
    void set_addresses(std::vector<IpAddress>);
    /// True when a datagram from there is this peer's, by its address and its port for the protocol.
    bool is_at(IpEndpoint const& from, Protocol) const;
    /// Where queries go; nothing while its name leads nowhere.
    std::optional<IpEndpoint> endpoint(Protocol) const;

    bool wants_probe(SteadyTime now) const;
    void probed(SteadyTime now);

    // ---- its digest ----
    std::shared_ptr<Digest const> digest() const;
    void set_digest(std::shared_ptr<Digest const>);

private:
    void tell_dead(std::string_view why) const;
    void tell_alive() const;

    mutable Mutex mutex_;
    Liveness liveness_ GUARDED_BY(mutex_);
    Smoothed query_rtt_ GUARDED_BY(mutex_);        // µs, of queries
    Smoothed connect_rtt_ GUARDED_BY(mutex_);      // µs, of its HTTP connections
    Smoothed throughput_ GUARDED_BY(mutex_);       // bytes a second, of larger bodies
    PeerFigures figures_ GUARDED_BY(mutex_);
    std::vector<IpAddress> addresses_ GUARDED_BY(mutex_);
    std::shared_ptr<Digest const> digest_ GUARDED_BY(mutex_);
    std::atomic<std::uint32_t> connections_{0};
};

}  // namespace garner::icp
