// A protocol over UDP (ICP, HTCP) on a worker: queries peers and answers other caches on one UDP port.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "icp/agent.hpp"
#include "icp/mesh.hpp"
#include "icp/peer_lookup.hpp"
#include "net/udp_port.hpp"

namespace garner::icp {

/// Queries leave from the configured port if there is one, since Squid recognises its peers by address and port. Without
/// one they leave from a port of the worker's own, which is opened for the first query and answers no other cache. A former
/// port is used until the queries sent from it have expired.
class UdpLookup : public PeerLookup {
public:
    Result<void> open() override;
    Result<Prepared> prepare(Options const& fresh) override;
    void start() override;
    void stop() override;
    void pause() override;
    void resume() override;
    void add_sockets(std::vector<net::NamedSocket>& named) const override;
    bool reaches(Peer const& peer) const override { return port_of(peer.options, protocol_) != 0; }

protected:
    UdpLookup(LookupServices const& services, Protocol protocol)
        : services_(services), counters_(services.agent.counters), protocol_(protocol), expiry_(services.worker.io) {}

    struct OwnPort {
        std::string const& address;   // empty: none is configured
        std::uint16_t port;
        char const* key;   // of the address
    };
    virtual OwnPort own_port(Options const&) const = 0;

    struct Port {
        UdpLookup& lookup;
        std::shared_ptr<net::UdpPort> udp;
        bool configured;   // answers other caches
        IpEndpoint local{};
    };
    /// Replies leave from the port at which the datagram arrived.
    virtual void received(std::string_view datagram, IpEndpoint const& from, Port const& at) = 0;

    void send(std::string_view datagram, Peers);
    /// The address that queries leave from.
    IpEndpoint local() const { return port_ ? port_->local : IpEndpoint{}; }

    LookupServices const services_;
    AgentCounters& counters_;

private:
    using UdpPtr = std::shared_ptr<net::UdpPort>;
    Result<UdpPtr> open_at(std::string const& address, std::uint16_t port, bool is_new) const;
    Result<bool> adopt(OwnPort const& own);
    std::unique_ptr<Port> make_port(UdpPtr udp, bool configured);
    void use(UdpPtr udp);
    bool open_own();
    void listen(Port& port);

    Protocol const protocol_;
    std::unique_ptr<Port> port_;                // null: opened for the first query
    std::vector<std::unique_ptr<Port>> more_;   // of a process with more workers: sockets of the same port
    std::unique_ptr<Port> paused_;              // the configured port: meanwhile queries leave from a port of the worker's own
    std::unique_ptr<Port> former_;              // until the queries that left from it have expired
    net::Timer expiry_;
    bool running_ = false;
};

}   // namespace garner::icp
