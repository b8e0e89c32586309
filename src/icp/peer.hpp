// One peer: its options and its state. Shared by all workers.
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
#include "net/connector.hpp"
#include "util/mutex.hpp"

namespace garner::icp {

class Digest;

/// Thread-safe: one mutex, held for a few stores; locked only for misses.
class Peer : public std::enable_shared_from_this<Peer> {
public:
    /// `tls`: null if the options have none.
    explicit Peer(PeerOptions options, std::shared_ptr<net::TlsContext> tls = nullptr);

    PeerOptions const options;

    /// The state for source selection at this moment.
    PeerView view(SteadyTime now);
    /// The state for statistics pages.
    PeerStats stats(SteadyTime now) const;

    // ---- queries ----
    void asked(SteadyTime now);
    /// `took`: since the query, if known. `late`: the wait had ended. A late reply counts with at most twice the mean, so
    /// that the patience grows towards the real times, but one outage does not make it endless.
    void answered(Reply const&, std::optional<microseconds> took, SteadyTime now, bool late = false);
    /// A reply did not come within the wait.
    void overdue();
    /// A query has expired.
    void expired(SteadyTime now);

    // ---- connections ----
    /// Takes one of max_connections; false when none is left. Returned by leave().
    bool enter();
    /// Takes one for a connection of a former process, beyond the limit if none is left.
    void enter_at_any_number() { connections_.fetch_add(1, std::memory_order_relaxed); }
    void leave();
    void connected(std::optional<microseconds> rtt, SteadyTime now);
    void connect_failed(std::string_view why, SteadyTime now);
    /// How long a request waits for a response head before the next source gets it, too.
    milliseconds patience() const;
    /// A response head has arrived this long after the request.
    void responded(microseconds took, SteadyTime now);
    /// A request sent at that time has no response head, although another source has answered it.
    void waited(SteadyTime sent_at, SteadyTime now);
    /// These bytes of a response have arrived.
    void received(Bytes bytes);
    /// The response is complete: all its bytes, which received() has counted, and the time for them.
    void fetched(Source const& as, Bytes bytes, microseconds took);
    /// The peer did not have the response that it had announced.
    void false_hit();

    // ---- TLS ----
    /// Null: the peer speaks plain HTTP.
    std::shared_ptr<net::TlsContext> tls() const;
    /// For later connections; null only if the options have no TLS.
    void set_tls(std::shared_ptr<net::TlsContext> tls);
    /// Its HTTP port, with TLS and its time limit, for a connection without a client.
    net::ConnectTarget target() const;
    /// Why no connection to this address of its host is made, a literal; nullptr when it may be.
    char const* refusal(IpAddress const&) const;

    // ---- addresses ----
    /// The resolved addresses; those of a literal from the start. Empty: unknown yet.
    std::vector<IpAddress> addresses() const;
    void set_addresses(std::vector<IpAddress>);
    /// True when a datagram from there is this peer's, by its address and its port for the protocol.
    bool is_at(IpEndpoint const& from, Protocol) const;
    /// The destination of queries; nothing while the name does not resolve.
    std::optional<IpEndpoint> endpoint(Protocol) const;

    bool wants_probe(SteadyTime now) const;
    void probed(SteadyTime now);
    /// Its requests wait: a connection alone is no sign of life.
    bool must_respond() const;
    /// The result of a probe by a request.
    void probe_ended(bool responded, SteadyTime now);

    // ---- a takeover ----
    /// Its measurements, for another process.
    struct Measured {
        Liveness::State liveness = {};
        std::optional<double> query_rtt = std::nullopt, connect_rtt = std::nullopt;   // µs
        std::optional<double> throughput = std::nullopt;                              // bytes per second
        std::optional<double> first_byte = std::nullopt;                              // µs
    };
    Measured measured(SteadyTime now) const;
    void adopt(Measured const& measured, SteadyTime now);

    // ---- its digest ----
    std::shared_ptr<Digest const> digest() const;
    void set_digest(std::shared_ptr<Digest const>);

private:
    void tell_dead(std::string_view why) const;
    void tell_alive() const;

    mutable Mutex mutex_;
    Liveness liveness_ GUARDED_BY(mutex_);
    Smoothed query_rtt_ GUARDED_BY(mutex_);     // µs, of queries
    Smoothed connect_rtt_ GUARDED_BY(mutex_);   // µs, of its HTTP connections
    Smoothed throughput_ GUARDED_BY(mutex_);    // bytes per second, of larger bodies
    Smoothed first_byte_ GUARDED_BY(mutex_);    // µs, from a request to the response head
    PeerFigures figures_ GUARDED_BY(mutex_);
    std::vector<IpAddress> addresses_ GUARDED_BY(mutex_);
    std::shared_ptr<Digest const> digest_ GUARDED_BY(mutex_);
    std::shared_ptr<net::TlsContext> tls_ GUARDED_BY(mutex_);
    std::atomic<std::uint32_t> connections_{0};
};

}   // namespace garner::icp
