#include "proxy/internal.hpp"

#include <algorithm>

#include "http/dates.hpp"
#include "icp/peer.hpp"
#include "net/address.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

using http::Method;

namespace {

constexpr std::string_view digest_path = "/squid-internal-periodic/store_digest";
constexpr seconds next_soon{10};   // the next digest is late, and being made

}  // namespace

bool is_internal(Target const& target, http::OwnAddresses const& own) {
    auto const& uri = target.uri;
    if (!is_internal_path(uri.path_and_query) || target.accelerated) return false;
    if (target.to_us) return true;
    auto const address = parse_ip(uri.authority.host);
    return address && uri.scheme == http::Scheme::http && http::is_own_listener(*address, uri.authority.port, own);
}

/// The destination, for rules that want it, is where the client has reached us.
Transaction::Verdict Transaction::check_internal() {
    net::Error ignored;
    auto const here = client_.transport().socket().local_endpoint(ignored);
    auto const decision = options_->access.decide(rule_request(), net::to_ip(here.address()));
    return decision.allowed() ? Verdict::internal : denied(decision);
}

/// The digest tells what clients have asked for: it is for caches that are named as such, and for this machine.
bool Transaction::is_other_cache(IpAddress const& client) const {
    auto const roster = services_.mesh->roster();
    auto const is_peer = [&](auto const& peer) {
        auto const addresses = peer->addresses();
        return std::find(addresses.begin(), addresses.end(), client) != addresses.end();
    };
    auto const& icp = roster->options;
    return client.is_loopback() || is_among(client, icp.allow) || is_among(client, icp.htcp.allow) ||
           std::ranges::any_of(roster->peers, is_peer);
}

net::awaitable<void> Transaction::answer_internally() {
    auto const method = client_.head().method;
    bool const wants_digest = target_.path == digest_path && (method == Method::get || method == Method::head);
    if (!wants_digest || !services_.mesh)
        co_return co_await error(404, "This cache has nothing for other caches here.", "internal");
    if (!is_other_cache(client_.peer().address)) {
        tag_ = ResultTag::tcp_denied;
        co_return co_await error(403, "The cache digest is for the peers of this cache.", "icp.allow");
    }
    auto const published = services_.mesh->published();
    if (!published.digest) {
        services_.mesh->rebuild_digest();
        co_return co_await error(404, "This cache has no digest, or is making its first one.", "internal");
    }
    auto const expires = std::max<WallTime>(published.expires, now_ + next_soon);
    auto const extra = "Expires: " + http::format_http_date(unix_seconds(expires)) + "\r\n";
    co_await own_answer(200, "application/cache-digest", *published.digest, extra);
}

}  // namespace garner::proxy
