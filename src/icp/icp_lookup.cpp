// ICP on a worker (RFC 2186): queries peers, and answers other caches' queries.
#include <algorithm>

#include "icp/icp_responder.hpp"
#include "icp/udp_lookup.hpp"
#include "util/hash.hpp"

namespace garner::icp {
namespace {

// After the start: by then the peers' names are resolved, or will not be resolved soon.
constexpr milliseconds settling{1'000};

/// `nothing` for an opcode that is no reply.
ReplyKind kind_of(Opcode opcode) {
    switch (opcode) {
    case Opcode::hit:
    case Opcode::hit_obj: return ReplyKind::hit;
    case Opcode::miss: return ReplyKind::miss;
    case Opcode::miss_nofetch: return ReplyKind::miss_nofetch;
    case Opcode::denied: return ReplyKind::denied;
    case Opcode::err: return ReplyKind::error;
    case Opcode::query:
    case Opcode::secho:
    case Opcode::decho: break;
    }
    return ReplyKind::nothing;
}

std::optional<milliseconds> source_rtt_of(IcpMessage const& message) {
    auto const rtt = message.option_data & 0xffff;
    if (!(message.options & flag_source_rtt) || rtt == 0 || rtt == 0xffff) return std::nullopt;
    return milliseconds{rtt};
}

class IcpLookup final : public UdpLookup {
public:
    explicit IcpLookup(LookupServices const& services)
        : UdpLookup(services, Protocol::icp), responder_(services.mesh.cache(), services.mesh.origins(), counters_) {}

    void start() override {
        started_ = steady_now();
        UdpLookup::start();
    }
    void ask(Query const& query, Peers peers) override {
        write_query(query.number, query.url, true, out_);
        send(out_, peers);
    }

private:
    OwnPort own_port(Options const& options) const override { return {options.address, options.port, "icp.address"}; }
    void received(std::string_view datagram, IpEndpoint const& from, Port const& at) override {
        IcpMessage message;
        if (parse_message(datagram, message)) return counters_.malformed.add();
        if (message.opcode == Opcode::query) return answer(message, from, at);
        take_reply(message, from);
    }
    /// The agent checks the number.
    void take_reply(IcpMessage const& message, IpEndpoint const& from) {
        Reply reply{.number = message.number, .peer = nullptr, .kind = kind_of(message.opcode), .protocol = Protocol::icp};
        reply.from = from;
        reply.url = fingerprint(message.url, 0);
        reply.peer = services_.mesh.peer_table()->at(from, Protocol::icp);
        reply.source_rtt = source_rtt_of(message);
        if (reply.kind == ReplyKind::nothing || !reply.peer) return counters_.unexpected.add();
        services_.agent.heard(reply);
    }
    void answer(IcpMessage const& query, IpEndpoint const& from, Port const& at) {
        if (!at.configured || is_ours(from)) return;
        auto const peer_table = services_.mesh.peer_table();
        IcpResponder::Now const now{wall_now(), steady_now()};
        auto const mode = fetching(*peer_table, now.steady);
        if (responder_.answer(query, from.address, peer_table->options, mode, now, out_)) at.udp->send(out_, from);
    }
    /// This proxy's own query. With an unspecified address only queries over loopback are recognised.
    bool is_ours(IpEndpoint const& from) const {
        auto const own = local();
        if (from.port != own.port) return false;
        return from.address == own.address || (own.address.is_unspecified() && from.address.is_loopback());
    }
    IcpResponder::Fetching fetching(PeerTable const& peer_table, SteadyTime now) const {
        using enum IcpResponder::Fetching;
        if (services_.mesh.draining()) return no_more;
        if (now - started_ > settling) return yes;
        auto const& peers = peer_table.peers;
        bool const known = std::all_of(peers.begin(), peers.end(), [](auto& peer) { return !peer->addresses().empty(); });
        return known ? yes : not_yet;
    }

    IcpResponder responder_;
    SteadyTime started_{};
    std::string out_;   // a member to reuse its memory
};

}   // namespace

std::unique_ptr<PeerLookup> make_icp_lookup(LookupServices const& services) { return std::make_unique<IcpLookup>(services); }

}   // namespace garner::icp
