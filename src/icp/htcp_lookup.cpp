#include "icp/htcp_lookup.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <spdlog/spdlog.h>

#include "icp/mesh.hpp"

namespace garner::icp {

namespace {

IpEndpoint configured_place(HtcpOptions const& options) {
    return {parse_ip(options.address).value_or(IpAddress{}), options.port};
}

/// What an answer says. One that is about the message, not the URL, comes from a peer that lives but is of no use.
ReplyKind kind_of(htcp::Message const& response) {
    if (response.flag) return ReplyKind::denied;
    if (response.code == htcp::response::done) return ReplyKind::hit;
    bool const keeps = response.opcode == htcp::Opcode::clr && response.code == htcp::response::kept;
    return keeps ? ReplyKind::denied : ReplyKind::miss;
}

}  // namespace

HtcpLookup::HtcpLookup(LookupServices const& services)
    : services_(services), counters_(services.mesh.agent(services.worker.number).counters) {}

bool HtcpLookup::open(std::string& fault) {
    auto const peer_table = services_.mesh.peer_table();
    auto const& options = peer_table->options.htcp;
    if (options.address.empty()) return true;
    auto const place = configured_place(options);
    bool const first = services_.worker.number == 0;
    if (first && place.port != 0 && !net::UdpPort::is_free(place, fault)) return false;
    port_ = net::UdpPort::open(services_.worker.io, place, true, fault);
    auto& mesh = services_.mesh;
    if (port_) responder_ = std::make_unique<HtcpResponder>(mesh.cache(), mesh.origins(), mesh.replays(), counters_);
    return port_ != nullptr;
}

void HtcpLookup::start() {
    if (!port_) return;
    auto const arrive = [](void* self, std::span<char const> datagram, IpEndpoint const& from) {
        static_cast<HtcpLookup*>(self)->arrived({datagram.data(), datagram.size()}, from);
    };
    port_->start(arrive, this);
}

void HtcpLookup::stop() {
    stopped_ = true;
    if (port_) port_->stop();
}

/// A reload may bring the first peer with HTCP.
bool HtcpLookup::has_port() {
    if (port_ || stopped_) return port_ != nullptr && !stopped_;
    std::string fault;
    port_ = net::UdpPort::open(services_.worker.io, IpEndpoint{}, false, fault);
    // A machine without IPv6.
    if (!port_) port_ = net::UdpPort::open(services_.worker.io, IpEndpoint{IpAddress::v4(0, 0, 0, 0), 0}, false, fault);
    if (port_)
        start();
    else
        spdlog::warn("nobody is asked over HTCP: {}", fault);
    return port_ != nullptr;
}

bool HtcpLookup::reaches(Peer const& peer) const { return peer.options.htcp != 0; }

void HtcpLookup::ask(Query const& query, std::span<std::shared_ptr<Peer> const> peers, ReplySink&) {
    send_to(peers, htcp::tst_request(query.number, query.url));
}

void HtcpLookup::clear(Query const& query, std::span<std::shared_ptr<Peer> const> peers) {
    send_to(peers, htcp::clr_request(query.number, query.url));
}

/// An empty message is one that could not be written.
void HtcpLookup::send_to(std::span<std::shared_ptr<Peer> const> peers, std::string message) {
    if (message.empty() || !has_port()) return;
    htcp::seal(message, services_.mesh.peer_table()->options.htcp.secret, wall_now());
    for (auto const& peer : peers)
        if (auto const place = peer->endpoint(Protocol::htcp)) port_->send(message, *place);
    port_->flush();
}

void HtcpLookup::arrived(std::string_view datagram, IpEndpoint const& from) {
    htcp::Message message;
    if (htcp::parse(datagram, message)) return counters_.malformed.add();
    if (message.is_response) return heard(message, from);
    if (!responder_) return;
    auto const peer_table = services_.mesh.peer_table();
    auto const reply = responder_->answer(message, from.address, peer_table->options, wall_now());
    if (reply.empty()) return;
    auto* disk = services_.mesh.cache().disk();
    if (!disk || message.opcode != htcp::Opcode::clr) return port_->send(reply, from);
    auto const executor = services_.worker.io.get_executor();
    auto answering = answer_purge(disk, port_, reply, from, executor);
    net::asio::co_spawn(executor, std::move(answering), net::asio::detached);
}

/// When no restart can bring back what it removed. Where the disk cannot say so, the asker is left to think that nobody
/// heard.
net::awaitable<void> HtcpLookup::answer_purge(store::DiskStore* disk, std::weak_ptr<net::UdpPort> port, std::string reply,
                                              IpEndpoint from, net::Executor executor) {
    bool const outlives = co_await disk->settled(store::DiskStore::Survives::process, executor);
    auto const there = port.lock();
    if (!outlives || !there) co_return;
    there->send(reply, from);
    there->flush();
}

/// Only of those who may have been asked, from where they were asked, and signed where there is a secret.
void HtcpLookup::heard(htcp::Message const& response, IpEndpoint const& from) {
    auto const peer_table = services_.mesh.peer_table();
    auto const peer = peer_table->at(from, Protocol::htcp);
    bool const asked = response.opcode == htcp::Opcode::tst || response.opcode == htcp::Opcode::clr;
    if (!peer || !asked) return counters_.unexpected.add();
    // What is refused for want of our signature comes without one.
    auto const verdict = htcp::judge(response, peer_table->options.htcp.secret, wall_now());
    if (verdict != htcp::Verdict::good && !response.flag) return counters_.unexpected.add();
    Reply answer{.number = response.number, .peer = peer, .said = kind_of(response), .protocol = Protocol::htcp};
    answer.from = from;
    auto const news = htcp::news_of(response.detail);
    answer.size = news.size;
    answer.source_rtt = news.source_rtt;
    services_.sink.heard(answer);
}

}  // namespace garner::icp
