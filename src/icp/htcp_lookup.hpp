// Peers are asked over HTCP (RFC 2756), told of purges, and answered at the same port.
#pragma once
#include <memory>
#include <span>

#include "icp/htcp_responder.hpp"
#include "icp/peer_lookup.hpp"
#include "net/udp_port.hpp"

namespace garner::icp {

class HtcpLookup final : public PeerLookup {
public:
    explicit HtcpLookup(LookupServices const& services);

    /// The port of htcp.address. Without that, one of its own is taken when somebody is first asked or told; that
    /// answers nobody.
    bool open(std::string& fault) override;
    void start() override;
    void stop() override;
    bool reaches(Peer const&) const override;
    void ask(Query const&, std::span<std::shared_ptr<Peer> const>, ReplySink&) override;
    void clear(Query const&, std::span<std::shared_ptr<Peer> const>) override;

private:
    bool has_port();
    void send_to(std::span<std::shared_ptr<Peer> const>, std::string message);
    void arrived(std::string_view datagram, IpEndpoint const& from);
    static net::awaitable<void> answer_purge(store::DiskStore* disk, std::weak_ptr<net::UdpPort> port, std::string reply,
                                             IpEndpoint from, net::Executor executor);
    void heard(htcp::Message const&, IpEndpoint const& from);

    LookupServices services_;
    AgentCounters& counters_;
    std::unique_ptr<HtcpResponder> responder_;   // only behind htcp.address
    std::shared_ptr<net::UdpPort> port_;
    bool stopped_ = false;
};

}  // namespace garner::icp
