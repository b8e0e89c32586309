#include "icp/icp_lookup.hpp"

#include <algorithm>

#include "icp/mesh.hpp"
#include "util/hash.hpp"

namespace garner::icp {

namespace {

// After the start: by then the names of peers have been looked up, or will not soon be.
constexpr milliseconds settling{1'000};

/// Of an answer; nothing for what is none.
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

}  // namespace

IcpLookup::IcpLookup(LookupServices const& services) : services_(services) {}

// ---- the port ----

bool IcpLookup::open(std::string& fault) {
    auto const peer_table = services_.mesh.peer_table();
    auto const& options = peer_table->options;
    if (!options.address.empty()) return open_shared(options, fault);
    auto const& peers = peer_table->peers;
    bool const asks = std::any_of(peers.begin(), peers.end(), [&](auto& peer) { return reaches(*peer); });
    return !asks || open_own(fault);
}

bool IcpLookup::open_shared(Options const& options, std::string& fault) {
    auto const address = parse_ip(options.address);
    if (!address) {
        fault = "icp.address: '" + options.address + "' is no IP address";
        return false;
    }
    IpEndpoint const at{*address, options.port};
    bool const first = services_.worker.number == 0;
    if (first && !net::UdpPort::is_free(at, fault)) return false;
    port_ = net::UdpPort::open(services_.worker.io, at, true, fault);
    if (!port_) return false;
    auto& counters = services_.mesh.agent(services_.worker.number).counters;
    responder_ = std::make_unique<IcpResponder>(services_.mesh.cache(), services_.mesh.origins(), counters);
    return true;
}

bool IcpLookup::open_own(std::string& fault) {
    auto& io = services_.worker.io;
    port_ = net::UdpPort::open(io, {}, false, fault);
    // A kernel without IPv6 has no "::".
    if (!port_) port_ = net::UdpPort::open(io, {IpAddress::v4(0, 0, 0, 0), 0}, false, fault);
    return port_ != nullptr;
}

void IcpLookup::start() {
    running_ = true;
    started_ = steady_now();
    if (port_) listen();
}

void IcpLookup::listen() {
    local_ = port_->local();
    port_->start(
        [](void* self, std::span<char const> datagram, IpEndpoint const& from) {
            static_cast<IcpLookup*>(self)->received({datagram.data(), datagram.size()}, from);
        },
        this);
}

void IcpLookup::stop() {
    running_ = false;
    if (port_) port_->stop();
}

// ---- asking ----

bool IcpLookup::reaches(Peer const& peer) const { return peer.options.icp != 0 && peer.options.htcp == 0; }

void IcpLookup::ask(Query const& query, std::span<std::shared_ptr<Peer> const> peers, ReplySink&) {
    if (!running_) return;
    if (!port_) {   // a reload has brought the first of them
        std::string fault;
        if (!open_own(fault)) return;
        listen();
    }
    write_query(query.number, query.url, true, out_);
    for (auto const& peer : peers)
        if (auto const to = peer->endpoint(Protocol::icp)) port_->send(out_, *to);
    port_->flush();
}

// ---- hearing ----

void IcpLookup::received(std::string_view datagram, IpEndpoint const& from) {
    MessageFault fault;
    auto const message = parse_message(datagram, fault);
    if (!message) return services_.mesh.agent(services_.worker.number).counters.malformed.add();
    if (message->opcode == Opcode::query) return answer(*message, from);
    hear(*message, kind_of(message->opcode), from);
}

/// The number is for the sink to judge.
void IcpLookup::hear(IcpMessage const& message, ReplyKind said, IpEndpoint const& from) {
    Reply answer{.number = message.number, .peer = nullptr, .said = said, .protocol = Protocol::icp, .from = from};
    answer.url = fingerprint(message.url, 0);
    answer.peer = services_.mesh.peer_table()->at(from, Protocol::icp);
    answer.source_rtt = source_rtt_of(message);
    if (answer.said == ReplyKind::nothing || !answer.peer)
        return services_.mesh.agent(services_.worker.number).counters.unexpected.add();
    services_.sink.heard(answer);
}

// ---- answering ----

void IcpLookup::answer(IcpMessage const& query, IpEndpoint const& from) {
    if (!responder_ || is_ours(from)) return;
    auto const peer_table = services_.mesh.peer_table();
    IcpResponder::Now const now{wall_now(), steady_now()};
    if (responder_->answer(query, from.address, peer_table->options, fetching(*peer_table, now.steady), now, out_))
        port_->send(out_, from);
}

/// Our own question, or one that says so. Behind an unspecified address at least those over loopback are seen.
bool IcpLookup::is_ours(IpEndpoint const& from) const {
    if (from.port != local_.port) return false;
    return from.address == local_.address || (local_.address.is_unspecified() && from.address.is_loopback());
}

IcpResponder::Fetching IcpLookup::fetching(PeerTable const& peer_table, SteadyTime now) const {
    using enum IcpResponder::Fetching;
    if (services_.mesh.draining()) return no_more;
    if (now - started_ > settling) return yes;
    auto const& peers = peer_table.peers;
    bool const known = std::all_of(peers.begin(), peers.end(), [](auto& peer) { return !peer->addresses().empty(); });
    return known ? yes : not_yet;
}

}  // namespace garner::icp
