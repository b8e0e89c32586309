// ICP on a worker: peers are asked, their answers are heard, and other caches' questions are answered, all on one port.
#pragma once
#include <memory>
#include <string>

#include "icp/icp_responder.hpp"
#include "icp/icp_message.hpp"
#include "icp/peer_lookup.hpp"
#include "net/udp_port.hpp"
#include "util/clock.hpp"

namespace garner::icp {

struct PeerTable;

/// Questions leave from the port that they are answered on, since Squid knows its peers by address and port. Without
/// icp.address from a port of the worker's own, which is opened when a peer has ICP, and answers nobody.
class IcpLookup final : public PeerLookup {
public:
    explicit IcpLookup(LookupServices const& services);

    bool open(std::string& fault) override;
    void start() override;
    void stop() override;
    bool reaches(Peer const&) const override;
    void ask(Query const&, std::span<std::shared_ptr<Peer> const>, ReplySink&) override;

private:
    bool open_shared(Options const&, std::string& fault);
    bool open_own(std::string& fault);
    void listen();
    void received(std::string_view datagram, IpEndpoint const& from);
    void answer(IcpMessage const& query, IpEndpoint const& from);
    void hear(IcpMessage const& message, ReplyKind said, IpEndpoint const& from);
    bool is_ours(IpEndpoint const& from) const;
    IcpResponder::Fetching fetching(PeerTable const&, SteadyTime now) const;

    LookupServices const services_;
    std::unique_ptr<net::UdpPort> port_;
    std::unique_ptr<IcpResponder> responder_;   // only behind icp.address
    bool running_ = false;
    IpEndpoint local_;
    SteadyTime started_{};
    std::string out_;                           // kept for its memory
};

}  // namespace garner::icp
