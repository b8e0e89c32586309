#include "icp/service_monitor.hpp"

#include <algorithm>

#include "http/access_rules.hpp"
#include "icp/mesh.hpp"
#include "icp/srv_peers.hpp"
#include "io/log.hpp"
#include "net/address.hpp"
#include "net/dns_channel.hpp"

namespace garner::icp {

namespace {

constexpr milliseconds failed_for{5'000};

std::string place_text(net::SrvTarget const& target) { return target.host + ":" + std::to_string(target.port); }

bool is_same_server(net::SrvTarget const& a, net::SrvTarget const& b) { return a.host == b.host && a.port == b.port; }

/// Those of `all` that `others` does not have.
std::string only_in(std::vector<net::SrvTarget> const& all, std::vector<net::SrvTarget> const& others) {
    std::string list;
    for (auto const& one : all)
        if (std::ranges::none_of(others, [&](auto const& other) { return is_same_server(one, other); }))
            list += (list.empty() ? "" : ", ") + place_text(one);
    return list;
}

}   // namespace

void ServiceMonitor::look_around() {
    auto const now = steady_now();
    auto const peer_table = mesh_.peer_table();
    for (auto const& peer : peer_table->options.peers) {
        if (peer.srv.empty()) continue;
        auto& watch = watches_[peer.srv];
        if (watch.asking || now < watch.ask_at) continue;
        watch.asking = true;
        net::asio::co_spawn(worker_.io, ask(peer.srv), net::asio::detached);
    }
}

net::awaitable<void> ServiceMonitor::ask(std::string service) {
    auto const reply = co_await worker_.resolver.resolve_srv(service);
    bool const failed = !reply.failure.empty();
    if (!failed) {
        auto targets = co_await usable(service, reply.answer.targets);
        use(service, std::move(targets));
    }
    auto& watch = watches_[service];
    if (failed && !watch.failed && !stopped_)
        spdlog::warn("the servers of {} are unknown: {}; the known ones stay in use", service, reply.failure);
    watch.failed = failed;
    watch.asking = false;
    watch.ask_at = steady_now() + (failed ? failed_for : service_lifetime(reply.answer.ttl));
}

/// Those that may be peers. A record set may name all caches, and so this one. Other servers of this machine may be services that
/// no DNS record may open.
net::awaitable<std::vector<net::SrvTarget>> ServiceMonitor::usable(std::string service, std::vector<net::SrvTarget> targets) {
    auto const own = mesh_.own() ? *mesh_.own() : http::OwnAddresses();
    bool const permits_local = this->permits_local(service);
    auto const is_local = [&](IpAddress const& address) { return http::closed_destination(address, own.interfaces) != nullptr; };
    std::vector<net::SrvTarget> usable, local;
    for (auto const& target : targets) {
        auto const names = co_await worker_.resolver.resolve(target.host);
        auto const addresses = net::to_ips(names->addresses);
        if (http::are_own_listeners(addresses, target.port, own)) continue;
        bool const is_refused = !permits_local && std::ranges::any_of(addresses, is_local);
        (is_refused ? local : usable).push_back(target);
    }
    auto const refused = only_in(local, {});
    if (auto& known = watches_[service].refused; known != refused) {
        known = refused;
        if (!refused.empty())
            spdlog::warn(
                "{}: DNS names {} at a local address, which is not used; if this is intended, set peers[].srv_local to true",
                service, refused);
    }
    co_return usable;
}

bool ServiceMonitor::permits_local(std::string_view service) const {
    auto const peer_table = mesh_.peer_table();
    return std::ranges::any_of(peer_table->options.peers,
                               [&](PeerOptions const& peer) { return peer.srv == service && peer.srv_local; });
}

void ServiceMonitor::use(std::string const& service, std::vector<net::SrvTarget> targets) {
    auto const before = mesh_.servers(service);
    if (targets == before) return;
    auto const joined = only_in(targets, before), left = only_in(before, targets);
    if (!joined.empty()) spdlog::info("{}: DNS now names {}", service, joined);
    if (!left.empty()) spdlog::info("{}: DNS no longer names {}; requests in progress there end", service, left);
    mesh_.use_servers(service, std::move(targets));
}

}   // namespace garner::icp
