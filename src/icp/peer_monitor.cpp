#include "icp/peer_monitor.hpp"

#include <algorithm>

#include "icp/mesh.hpp"
#include "net/address.hpp"
#include "util/one_of.hpp"

namespace garner::icp {

namespace {

constexpr milliseconds found_for{60'000};
constexpr milliseconds lost_for{5'000};
// A watched proxy that dies is known to be dead after 4 s at most.
constexpr milliseconds watch_every{1'500};   // so every second round
constexpr milliseconds watch_limit{1'500};
constexpr milliseconds response_limit{2'000};

/// No request for a resource: every server answers it itself, with any status (RFC 9110 9.3.7).
std::string sign_of_life_of(PeerOptions const& peer) {
    auto const literal = parse_ip(peer.host);
    auto const place = literal ? IpEndpoint{*literal, peer.http}.text() : peer.host + ":" + std::to_string(peer.http);
    return "OPTIONS * HTTP/1.1\r\nHost: " + place + "\r\nMax-Forwards: 0\r\nConnection: close\r\n\r\n";
}

}   // namespace

void PeerMonitor::stop() {
    PeriodicTask::stop();
    for (auto const& [peer, watch] : watches_) {
        if (watch.probing) watch.probing->request();
        if (watch.asking) watch.asking->cancel();
    }
}

void PeerMonitor::look_around() {
    auto const now = steady_now();
    auto const peer_table = mesh_.peer_table();
    for (auto const* list : {&peer_table->peers, &peer_table->purged})
        for (auto const& peer : *list) watches_[peer].wanted_at = now;
    for (auto& [peer, watch] : watches_) watch.is_watched = false;
    for (auto const& peer : peer_table->watched) {
        auto& watch = watches_[peer];
        watch.wanted_at = now;
        watch.is_watched = true;
    }
    // A removed peer is kept while an operation is running for it.
    std::erase_if(watches_, [&](auto const& entry) {
        auto const& watch = entry.second;
        return watch.wanted_at != now && !watch.finding && !watch.probing;
    });
    for (auto const& [peer, watch] : watches_) {
        bool const named = !parse_ip(peer->options.host);
        if (named && !watch.finding && now >= watch.find_at) net::asio::co_spawn(worker_.io, find(peer), net::asio::detached);
        if (wants_probe(*peer, watch, now)) net::asio::co_spawn(worker_.io, probe(peer), net::asio::detached);
    }
}

bool PeerMonitor::wants_probe(Peer const& peer, Watch const& watch, SteadyTime now) const {
    return !watch.probing && (watch.is_watched ? now >= watch.probe_at : peer.wants_probe(now));
}

net::awaitable<void> PeerMonitor::find(std::shared_ptr<Peer> peer) {
    watches_[peer].finding = true;
    worker_.resolver.forget_failure(peer->options.host);
    auto const names = co_await worker_.resolver.resolve(peer->options.host);
    auto addresses = net::to_ips(names->addresses);
    // A DNS outage does not change a peer's addresses.
    bool const found = !addresses.empty();
    if (found) peer->set_addresses(std::move(addresses));
    auto& watch = watches_[peer];
    watch.finding = false;
    watch.find_at = steady_now() + (found ? found_for : lost_for);
}

net::awaitable<void> PeerMonitor::probe(std::shared_ptr<Peer> peer) {
    net::ConnectStop stop;
    auto const now = steady_now();
    watches_[peer].probing = &stop;
    watches_[peer].probe_at = now + watch_every;
    peer->probed(now);
    bool const may_die = watches_[peer].is_watched && peer->view(now).health != Health::dead;
    auto target = peer->target();
    if (watches_[peer].is_watched) target.timeout = std::min(target.timeout.value_or(watch_limit), watch_limit);
    net::AddressFilter const filter = [&peer](net::Address const& address) { return peer->refusal(net::to_ip(address)); };
    auto connected = co_await worker_.connector.connect(target, filter, &stop);
    using enum net::ConnectFailure;   // a failure of DNS here says nothing about clients
    bool const is_theirs = is_one_of<refused, unreachable, timed_out, tls>(connected.failure);
    bool const must_respond = peer->must_respond();
    if (connected.transport)
        peer->connected(std::nullopt, steady_now());
    else if (may_die && !stopped_ && is_theirs)
        peer->connect_failed(connected.reason, steady_now());
    bool has_responded = false;
    if (must_respond && connected.transport) has_responded = co_await responds(peer, std::move(connected.transport));
    bool const has_ended = has_responded || connected.failure == none || is_theirs;
    if (must_respond && has_ended && !stopped_) peer->probe_ended(has_responded, steady_now());
    watches_[peer].probing = nullptr;
}

/// True if the peer sends any byte of a response.
net::awaitable<bool> PeerMonitor::responds(std::shared_ptr<Peer> peer, std::unique_ptr<net::Transport> transport) {
    client::Exchange exchange(std::move(transport), worker_.buffers.take(), false, http::HeadLimits{});
    watches_[peer].asking = &exchange;
    auto text = sign_of_life_of(peer->options);
    iovec part{text.data(), text.size()};
    std::span<iovec> const parts(&part, 1);
    auto trouble = co_await exchange.send(parts, response_limit);
    if (trouble == client::Trouble::none) trouble = co_await exchange.read_head(http::Method::options, response_limit);
    watches_[peer].asking = nullptr;
    co_return exchange.answered();
}

}   // namespace garner::icp
