// HTCP on a worker (RFC 2756): queries peers and sends them purges, and answers other caches.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <map>

#include "icp/htcp_responder.hpp"
#include "icp/udp_lookup.hpp"
#include "io/log.hpp"

namespace garner::icp {
namespace {

/// A reply about the message, not about the URL: the peer is alive but of no use.
ReplyKind kind_of(htcp::Message const& response) {
    if (response.flag) return ReplyKind::denied;
    if (response.code == htcp::response::done) return ReplyKind::hit;
    bool const keeps = response.opcode == htcp::Opcode::clr && response.code == htcp::response::kept;
    return keeps ? ReplyKind::denied : ReplyKind::miss;
}

/// The reason of a reply about the message; empty: not known.
char const* why_refused(htcp::Message const& response) {
    if (!response.flag) return "";
    switch (static_cast<htcp::Refusal>(response.code)) {
    case htcp::Refusal::unsigned_message: return "it accepts signed messages only: set htcp.secret to its value";
    case htcp::Refusal::bad_signature: return "its htcp.secret differs, or the clocks differ by more than 30 s";
    case htcp::Refusal::not_allowed: return "this proxy is not in its htcp.allow or htcp.clear_allow";
    case htcp::Refusal::unknown_opcode:
    case htcp::Refusal::major_version:
    case htcp::Refusal::minor_version: return "it does not support the message";
    }
    return "";
}

/// Sends the reply when neither a restart nor a power loss can restore the purged objects. No reply is sent if the disk cannot
/// guarantee that.
net::awaitable<void> answer_purge(cache::Cache& cache, std::weak_ptr<net::UdpPort> port, std::string reply, IpEndpoint from,
                                  net::Executor executor) {
    bool const outlives = co_await cache.disk().settled(store::Survives::power, executor);
    auto const there = port.lock();
    if (!outlives || !there) co_return;
    there->send(reply, from);
    there->flush();
}

class HtcpLookup final : public UdpLookup {
public:
    explicit HtcpLookup(LookupServices const& services)
        : UdpLookup(services, Protocol::htcp),
          responder_(services.mesh.cache(), services.mesh.origins(), services.mesh.replays(), counters_) {}

    void ask(Query const& query, Peers peers) override { send_sealed(htcp::tst_request(query.number, query.url), peers); }
    void clear(Query const& query, Peers peers) override { send_sealed(htcp::clr_request(query.number, query.url), peers); }

private:
    OwnPort own_port(Options const& options) const override { return {options.htcp.address, options.htcp.port, "htcp.address"}; }
    /// An empty message could not be written, and is not sent.
    void send_sealed(std::string message, Peers peers) {
        if (message.empty()) return;
        htcp::seal(message, services_.mesh.peer_table()->options.htcp.secret, wall_now());
        send(message, peers);
    }
    void received(std::string_view datagram, IpEndpoint const& from, Port const& at) override {
        htcp::Message message;
        if (htcp::parse(datagram, message)) return counters_.malformed.add();
        if (message.is_response) return take_reply(message, from);
        if (!at.configured) return;
        auto const peer_table = services_.mesh.peer_table();
        auto const reply = responder_.answer(message, from.address, peer_table->options, wall_now());
        if (reply.empty()) return;
        auto& cache = services_.mesh.cache();
        if (!cache.disk() || message.opcode != htcp::Opcode::clr) return at.udp->send(reply, from);
        auto const executor = services_.worker.io.get_executor();
        auto answering = answer_purge(cache, at.udp, reply, from, executor);
        net::asio::co_spawn(executor, std::move(answering), net::asio::detached);
    }
    /// Accepts replies only from a configured peer's address, and signed if there is a secret.
    void take_reply(htcp::Message const& response, IpEndpoint const& from) {
        auto const peer_table = services_.mesh.peer_table();
        auto const peer = peer_table->at(from, Protocol::htcp);
        bool const asked = response.opcode == htcp::Opcode::tst || response.opcode == htcp::Opcode::clr;
        if (!peer || !asked) return counters_.unexpected.add();
        // A refusal because of a missing signature is itself unsigned.
        auto const verdict = htcp::judge(response, peer_table->options.htcp.secret, wall_now());
        if (verdict != htcp::Verdict::good && !response.flag) return counters_.unexpected.add();
        Reply reply{.number = response.number, .peer = peer, .kind = kind_of(response), .protocol = Protocol::htcp};
        reply.from = from;
        reply.why = why_refused(response);
        if (*reply.why) tell_refusal(peer->options.name, reply.why);
        auto const news = htcp::news_of(response.detail);
        reply.size = news.size;
        reply.source_rtt = news.source_rtt;
        services_.agent.heard(reply);
    }

    /// Once a minute for each peer.
    void tell_refusal(std::string const& peer, char const* why) {
        auto const now = steady_now();
        auto& told_at = refusals_[peer];
        if (told_at != SteadyTime{} && now - told_at < seconds{60}) return;
        told_at = now;
        spdlog::warn("peer {} rejects the HTCP messages of this proxy: {}", peer, why);
    }

    HtcpResponder responder_;
    std::map<std::string, SteadyTime> refusals_;   // by the names of peers
};

}   // namespace

std::unique_ptr<PeerLookup> make_htcp_lookup(LookupServices const& services) { return std::make_unique<HtcpLookup>(services); }

}   // namespace garner::icp
