#include "icp/digest_fetcher.hpp"

#include <algorithm>

#include "http/freshness.hpp"
#include "http/uri.hpp"
#include "icp/digest.hpp"
#include "icp/mesh.hpp"
#include "io/log.hpp"
#include "net/address.hpp"

namespace garner::icp {

namespace {

constexpr milliseconds piece_patience{10'000};    // without progress
constexpr milliseconds whole_patience{120'000};   // for the whole digest
constexpr milliseconds life_of_stale{300'000};    // for a digest that has already expired on arrival

}   // namespace

// ---- fetches in progress ----

/// One peer's digest.
struct DigestFetcher::Watch {
    explicit Watch(std::shared_ptr<Peer> whose) : peer(std::move(whose)) {}
    void end() {
        stop.request();
        if (exchange) exchange->cancel();
    }
    std::shared_ptr<Peer> peer;
    DigestTimes times;
    bool running = false;
    net::ConnectStop stop;
    std::optional<client::Exchange> exchange;
    // The result of the current fetch.
    std::shared_ptr<Digest const> digest;
    std::optional<milliseconds> life;
    std::string fault;
};

struct DigestFetcher::Location {
    net::ConnectTarget target;
    std::string request;
};

/// digest_url, or Squid's path at the peer.
std::optional<DigestFetcher::Location> DigestFetcher::location_of(Peer const& peer) const {
    constexpr std::string_view usual = "/squid-internal-periodic/store_digest";
    auto const& options = peer.options;
    http::Uri const own{.scheme = options.tls ? http::Scheme::https : http::Scheme::http,
                        .authority = {options.host, options.http, options.host.find(':') != std::string::npos},
                        .path_and_query = usual};
    auto uri = own;
    if (!options.digest_url.empty()) {
        auto const other = http::parse_absolute(options.digest_url);
        if (!other) return std::nullopt;
        uri = *other;
    }
    Location location;
    location.target = peer.target();
    if (!http::same_origin(uri, own)) {
        auto const tls = uri.scheme == http::Scheme::https ? worker_.origin_tls : nullptr;
        location.target = {.host = std::string(uri.authority.host), .port = uri.authority.port, .tls = tls};
    }
    location.request.append("GET ").append(uri.bare_query ? "/" : "").append(uri.path_and_query).append(" HTTP/1.1\r\nHost: ");
    http::append_host(uri, location.request);
    location.request.append("\r\nAccept: application/cache-digest, */*;q=0.1\r\nConnection: close\r\n\r\n");
    return location;
}

void DigestFetcher::stop() {
    PeriodicTask::stop();
    for (auto& [peer, watch] : watches_) watch->end();
}

void DigestFetcher::look_around() {
    auto const now = steady_now();
    auto const peer_table = mesh_.peer_table();
    std::erase_if(watches_, [&](auto const& known) {
        bool const gone = std::find(peer_table->peers.begin(), peer_table->peers.end(), known.first) == peer_table->peers.end();
        if (gone) known.second->end();
        return gone;
    });
    for (auto const& peer : peer_table->peers) {
        if (!peer->options.digest) continue;
        auto& watch = watches_[peer];
        if (!watch) watch = std::make_shared<Watch>(peer);
        if (watch->times.outlived(now) && peer->digest()) {
            spdlog::info("peer {}: its cache digest is too old and no longer used", peer->options.name);
            peer->set_digest(nullptr);
        }
        if (watch->running || !watch->times.due(now)) continue;
        watch->running = true;
        net::asio::co_spawn(worker_.io.get_executor(), renew(watch), net::asio::detached);
    }
}

// ---- one fetch ----

net::awaitable<void> DigestFetcher::renew(std::shared_ptr<Watch> watch) {
    auto const& name = watch->peer->options.name;
    watch->digest.reset();
    watch->life.reset();
    watch->fault.clear();
    auto const location = location_of(*watch->peer);
    if (location)
        co_await fetch(*watch, *location);
    else
        watch->fault = "digest_url is not a valid URL";
    watch->exchange.reset();
    watch->running = false;
    if (stopped_) co_return;
    auto const now = steady_now();
    if (!watch->digest) {
        if (!watch->times.fails()) spdlog::warn("peer {}: cannot fetch its cache digest: {}; retrying later", name, watch->fault);
        watch->times.failed(now);
        co_return;
    }
    bool const is_new = watch->times.fails() || !watch->peer->digest();
    watch->times.fetched(watch->life, now);
    auto const level = is_new ? spdlog::level::info : spdlog::level::debug;
    spdlog::log(level, "peer {}: fetched its cache digest of {} URLs", name, watch->digest->entries());
    watch->peer->set_digest(std::move(watch->digest));
}

net::awaitable<void> DigestFetcher::fetch(Watch& watch, Location const& location) {
    net::AddressFilter const filter = [&watch](net::Address const& address) { return watch.peer->refusal(net::to_ip(address)); };
    auto connected = co_await worker_.connector.connect(location.target, filter, &watch.stop);
    if (!connected.transport) {
        watch.fault = connected.reason;
        co_return;
    }
    http::HeadLimits const limits;
    watch.exchange.emplace(std::move(connected.transport), worker_.buffers.take(), false, limits);
    co_await receive(watch, location);
}

net::awaitable<void> DigestFetcher::receive(Watch& watch, Location const& location) {
    using client::Trouble;
    auto& exchange = *watch.exchange;
    auto const begun = wall_now();
    auto const give_up = steady_now() + whole_patience;
    watch.fault = "the connection failed";
    std::array<iovec, 1> parts{iovec{const_cast<char*>(location.request.data()), location.request.size()}};
    if (co_await exchange.send(parts, piece_patience) != Trouble::none) co_return;
    if (co_await exchange.read_head(http::Method::get, piece_patience) != Trouble::none) co_return;
    auto const& head = exchange.head();
    if (head.status != 200) {
        watch.fault = "status " + std::to_string(head.status);
        co_return;
    }
    auto const control = http::parse_response_cache_control(head.fields);
    auto const terms = http::terms_of(head, control, begun, wall_now(), {});
    auto const left = std::int64_t{terms.lifetime} - http::current_age(terms, wall_now());
    if (terms.explicit_lifetime) watch.life = left > 0 ? seconds{left} : life_of_stale;
    std::string bytes;
    while (!exchange.body_done()) {
        auto const piece = co_await exchange.read_body(piece_patience);
        if (piece.trouble != Trouble::none) co_return;
        if (bytes.size() + piece.data.size() > Digest::bytes_max || steady_now() > give_up) {
            watch.fault = "the digest is too large or arrives too slowly";
            co_return;
        }
        bytes.append(piece.data);
    }
    auto digest = Digest::read(std::move(bytes));
    if (digest)
        watch.digest = *std::move(digest);
    else
        watch.fault = "the response is not a valid cache digest: " + digest.fault().text();
}

}   // namespace garner::icp
