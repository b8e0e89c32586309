#include "proxy/sources.hpp"

#include <algorithm>

#include "group/group.hpp"
#include "icp/https.hpp"
#include "net/address.hpp"
#include "proxy/replication.hpp"
#include "proxy/way.hpp"

namespace garner::proxy {

bool Sources::needs_choice() {
    if (sources_.empty() && has_no_peers() && !is_of_offer()) sources_.push_back({});
    return sources_.empty();
}

net::awaitable<void> Sources::choose() {
    if (!needs_choice()) co_return;
    bool const through_peers = co_await may_use_peers();
    if (!through_peers) {
        // A forbidden destination is refused when the connection is opened, with its rule.
        bool const may_go_direct = all_forbidden_ || question().direct != icp::Question::Direct::never;
        sources_.push_back({nullptr, may_go_direct ? Hierarchy::direct : Hierarchy::no_direct_fail});
        co_return;
    }
    if (has_no_peers()) {
        sources_.push_back({});
        co_return add_group_parents();
    }
    auto asked = question();
    request_.waiting = {};
    request_.watch_client([&request = request_] { request.waiting.wake(net::Wake::client_gone); });
    auto resolution = co_await request_.services.agent->resolve(asked, &request_.waiting);
    request_.client.unwatch();
    request_.record.peers_timed_out = resolution.timed_out;
    sources_ = std::move(resolution.sources);
    add_group_parents();
}

/// Another cache may answer this request for an object that a member of the group offers.
bool Sources::is_of_offer() const {
    return hierarchical_ && !request_.passes_caches && request_.target.uri.scheme == http::Scheme::http &&
           is_hierarchical(request_.head(), request_.control) && request_.is_offered();
}

/// They come first. The others are asked if each of them fails.
void Sources::add_group_parents() {
    request_.in_group.of_offer = is_of_offer();
    if (!request_.in_group.of_offer) return;
    std::vector<icp::Source> parents;
    for (auto const& place : request_.services.group->parents_of(request_.target.url))
        parents.push_back({request_.services.shared.replication->peer_at(place), Hierarchy::group_parent});
    sources_.insert(sources_.begin(), parents.begin(), parents.end());
}

void Sources::assign(std::span<icp::Source const> sources, std::size_t at) {
    sources_.assign(sources.begin(), sources.end());
    at_ = at;
}

void Sources::come_back(icp::Source source, bool interrupts) {
    if (!interrupts) ++at_;
    sources_.insert(sources_.begin() + static_cast<std::ptrdiff_t>(at_), std::move(source));
}

void Sources::note_current() {
    auto& record = request_.record;
    record.hierarchy = current().why;
    record.texts.source.clear();
    record.peer_reach = {};
    if (current().peer) {
        auto const& peer = current().peer->options;
        record.texts.source.append(name_of(record.hierarchy)).append("/").append(peer.name);
        record.peer_reach = icp::reach_of(peer, request_.is_https());
    }
    record.cache_status.source = record.texts.source;
}

std::string Sources::peer_name() const {
    auto const& peer = current().peer->options;
    return (peer.type == icp::PeerOptions::Type::parent ? "parent " : "sibling ") + peer.name;
}

bool Sources::is_tunnelled() const {
    auto const& peer = current().peer;
    return peer && request_.is_https() && icp::https_of(peer->options) == icp::Https::tunnel;
}

bool Sources::has_no_peers() const {
    auto const* agent = request_.services.agent;
    return !agent || request_.target.accelerated || request_.intercepted_origin || agent->alone();
}

bool Sources::may_be_in_a_loop() const {
    return request_.head().fields.has(http::Name::via) && (!has_no_peers() || request_.is_offered());
}

/// Destination rules apply although a peer connects: a request that would be refused here is not sent to peers. If the
/// rules decide by address, all addresses of the name must be allowed; otherwise only a direct connection can tell.
net::awaitable<bool> Sources::may_use_peers() {
    destination_ = {};
    all_forbidden_ = false;
    auto const& host = request_.target.uri.authority.host;
    auto const facts = request_.facts();
    bool const listed = needs_destination(request_.services.mesh->peer_table()->options.direct, facts);
    bool const local = parse_ip(host) || net::is_localhost(host);
    if (!request_.addresses.matter && !listed && !local) co_return true;
    auto names = co_await request_.services.worker.resolver.resolve(host, &request_.waiting);
    request_.waiting = {};
    if (names->addresses.empty()) co_return !request_.addresses.matter && !local;
    destination_ = net::to_ip(names->addresses.front());
    auto const allowed = std::ranges::count_if(
        names->addresses, [&](net::Address const& address) { return request_.permits(facts, net::to_ip(address)).allowed(); });
    all_forbidden_ = allowed == 0;
    co_return static_cast<std::size_t>(allowed) == names->addresses.size();
}

icp::Question Sources::question() const {
    auto const& mesh = *request_.services.mesh;
    auto const peer_table = mesh.peer_table();
    IpAddress const* destination = destination_.is_unspecified() ? nullptr : &destination_;
    icp::Question asked;
    asked.url = request_.target.url;
    asked.host = request_.target.uri.authority.host;
    asked.hierarchical = hierarchical_ && is_hierarchical(request_.head(), request_.control);
    asked.https = request_.target.uri.scheme == http::Scheme::https;
    asked.only_parents = request_.passes_caches;
    asked.direct = direct_of(peer_table->options.direct, request_.facts(), destination);
    if (size_) asked.size = *size_;
    if (peer_table->options.source_ping) {
        auto const known = request_.services.mesh->origins().find(asked.host, steady_now());
        asked.origin_rtt = known.rtt;
        asked.origin_throughput = known.throughput;
    }
    return asked;
}

}   // namespace garner::proxy
