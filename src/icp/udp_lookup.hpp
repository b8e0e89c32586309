// A protocol over UDP (ICP, HTCP) on a worker: queries peers and answers other caches on one UDP port.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "icp/agent.hpp"
#include "icp/mesh.hpp"
#include "icp/peer_lookup.hpp"
#include "net/udp_port.hpp"

namespace garner::icp {

/// Queries leave from the configured port if there is one, since Squid recognises its peers by address and port. Without
/// one they leave from a port of the worker's own, which is opened for the first query and answers no other cache.
class UdpLookup : public PeerLookup {
public:
    Result<void> open() override;
    void start() override;
    void stop() override;
    bool reaches(Peer const& peer) const override { return port_of(peer.options, protocol_) != 0; }

protected:
    UdpLookup(LookupServices const& services, Protocol protocol)
        : services_(services), counters_(services.agent.counters), protocol_(protocol) {}

    struct OwnPort {
        std::string const& address;   // empty: none is configured
        std::uint16_t port;
    };
    virtual OwnPort own_port(Options const&) const = 0;
    virtual void received(std::string_view datagram, IpEndpoint const& from) = 0;

    void send(std::string_view datagram, Peers);
    /// True if the port is the configured one.
    bool has_configured_port() const { return port_ && configured_; }

    LookupServices const services_;
    AgentCounters& counters_;
    std::shared_ptr<net::UdpPort> port_;
    IpEndpoint local_;

private:
    bool open_own();
    void listen();

    Protocol const protocol_;
    bool configured_ = false;
    bool running_ = false;
};

}   // namespace garner::icp
