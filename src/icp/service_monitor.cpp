#include "icp/service_monitor.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "icp/mesh.hpp"
#include "icp/srv_peers.hpp"
#include "net/address.hpp"
#include "net/dns_channel.hpp"

namespace garner::icp {

namespace {

constexpr milliseconds srv_round{500};
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

net::awaitable<void> ServiceMonitor::run() {
    while (!stopped_) {
        look_around();
        co_await pause(srv_round);
    }
}

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
        auto targets = co_await without_own(reply.answer.targets);
        use(service, std::move(targets));
    }
    auto& watch = watches_[service];
    if (failed && !watch.failed && !stopped_)
        spdlog::warn("the servers of {} are unknown: {}; the known ones stay in use", service, reply.failure);
    watch.failed = failed;
    watch.asking = false;
    watch.ask_at = steady_now() + (failed ? failed_for : service_lifetime(reply.answer.ttl));
}

/// All its addresses are those of listeners of this process: a record set may name all caches.
net::awaitable<bool> ServiceMonitor::is_this_proxy(net::SrvTarget target) {
    auto const own = mesh_.own();
    if (!own) co_return false;
    auto const names = co_await worker_.resolver.resolve(target.host);
    if (names->addresses.empty()) co_return false;
    co_return std::ranges::all_of(names->addresses, [&](net::Address const& address) {
        return http::is_own_listener(net::to_ip(address), target.port, *own);
    });
}

net::awaitable<std::vector<net::SrvTarget>> ServiceMonitor::without_own(std::vector<net::SrvTarget> targets) {
    std::vector<net::SrvTarget> others;
    for (auto const& target : targets) {
        bool const is_own = co_await is_this_proxy(target);
        if (!is_own) others.push_back(target);
    }
    co_return others;
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
