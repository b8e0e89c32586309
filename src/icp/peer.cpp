#include "icp/peer.hpp"

#include <algorithm>

#include "http/access_rules.hpp"
#include "icp/digest.hpp"
#include "icp/peer_lookup.hpp"
#include "io/log.hpp"
#include "net/proxy_protocol.hpp"
#include "util/check.hpp"

namespace garner::icp {

namespace {

/// The name of a peer in log messages: parent "campus" (10.0.0.3:3128). Without a name it is watched for PAC files alone.
std::string title_of(PeerOptions const& options) {
    auto const type = options.type == PeerOptions::Type::parent ? "parent" : "sibling";
    auto const literal = parse_ip(options.host);
    auto const place = literal ? IpEndpoint{*literal, options.http}.text() : options.host + ":" + std::to_string(options.http);
    if (options.name.empty() && options.no_query) return "proxy " + place + " of pac.proxies";
    return std::string(type) + " \"" + options.name + "\" (" + place + (options.tls ? ", TLS)" : ")");
}

constexpr char const* lets_wait = "accepts connections and does not respond: unused until it responds";

void count(PeerFigures& figures, ReplyKind kind) {
    switch (kind) {
    case ReplyKind::nothing: return;
    case ReplyKind::hit: ++figures.hits; break;
    case ReplyKind::miss: ++figures.misses; break;
    case ReplyKind::miss_nofetch: ++figures.nofetch; break;
    case ReplyKind::denied: ++figures.denied; break;
    case ReplyKind::error: ++figures.errors; break;
    }
    ++figures.answers;
}

}   // namespace

Peer::Peer(PeerOptions given, std::shared_ptr<net::TlsContext> tls) : options(std::move(given)), tls_(std::move(tls)) {
    check(options.tls.has_value() == (tls_ != nullptr));
    if (auto const literal = parse_ip(options.host)) addresses_.push_back(*literal);
}

PeerView Peer::view(SteadyTime now) {
    PeerView view;
    view.peer = weak_from_this().lock();
    view.options = &options;
    view.full = options.max_connections > 0 && connections_.load(std::memory_order_relaxed) >= options.max_connections;
    MutexLock const lock(mutex_);
    view.health = liveness_.health(now);
    view.askable = !options.no_query && has_query_port(options) && !addresses_.empty();
    view.has_digest = digest_ != nullptr;
    view.query_rtt = query_rtt_.mean_time();
    view.connect_rtt = connect_rtt_.mean_time();
    view.throughput = throughput_.mean();
    return view;
}

PeerStats Peer::stats(SteadyTime now) const {
    PeerStats stats;
    stats.options = options;
    stats.connections = connections_.load(std::memory_order_relaxed);
    MutexLock const lock(mutex_);
    static_cast<PeerFigures&>(stats) = figures_;
    stats.health = liveness_.health(now);
    if (!addresses_.empty()) stats.address = addresses_.front().text();
    stats.query_rtt = query_rtt_.mean_time();
    stats.connect_rtt = connect_rtt_.mean_time();
    stats.throughput = throughput_.mean();
    stats.has_digest = digest_ != nullptr;
    if (digest_) stats.digest_entries = digest_->entries();
    return stats;
}

// ---- queries ----

void Peer::asked(SteadyTime now) {
    MutexLock const lock(mutex_);
    ++figures_.queries;
    liveness_.asked(now);
}

void Peer::answered(Reply const& reply, std::optional<microseconds> took, SteadyTime now, bool late) {
    bool revived = false;
    {
        MutexLock const lock(mutex_);
        count(figures_, reply.kind);
        if (late || !took) ++figures_.late;
        if (took) {
            query_rtt_.add(late ? std::min(*took, 2 * query_rtt_.mean_time().value_or(*took)) : *took);
        }
        revived = liveness_.answered(now);
    }
    if (revived) tell_alive();
}

void Peer::overdue() {
    MutexLock const lock(mutex_);
    liveness_.overdue();
}

void Peer::expired(SteadyTime now) {
    bool died = false;
    {
        MutexLock const lock(mutex_);
        ++figures_.expired;
        died = liveness_.expired(now);
    }
    if (died) tell_dead("does not reply: unused until it replies again");
}

// ---- connections ----

bool Peer::enter() {
    auto held = connections_.load(std::memory_order_relaxed);
    do {
        if (options.max_connections > 0 && held >= options.max_connections) return false;
    } while (!connections_.compare_exchange_weak(held, held + 1, std::memory_order_relaxed));
    return true;
}

void Peer::leave() { check(connections_.fetch_sub(1, std::memory_order_relaxed) > 0); }

void Peer::connected(std::optional<microseconds> rtt, SteadyTime now) {
    bool revived = false;
    {
        MutexLock const lock(mutex_);
        if (rtt) connect_rtt_.add(*rtt);
        revived = liveness_.connected(now);
    }
    if (revived) tell_alive();
}

void Peer::connect_failed(std::string_view why, SteadyTime now) {
    bool died = false;
    {
        MutexLock const lock(mutex_);
        ++figures_.connect_failures;
        died = liveness_.connect_failed(now);
    }
    if (died) tell_dead("cannot be used: " + std::string(why) + "; retrying");
}

milliseconds Peer::patience() const {
    // A response that takes four times the mean is late. Beyond the maximum a client would hardly wait.
    constexpr std::int64_t late = 4;
    constexpr milliseconds min{1'000}, max{10'000};
    if (options.first_byte > milliseconds{0}) return options.first_byte;
    MutexLock const lock(mutex_);
    auto const mean = first_byte_.mean_time().value_or(microseconds{0});
    return std::clamp(std::chrono::duration_cast<milliseconds>(late * mean), min, max);
}

void Peer::responded(microseconds took, SteadyTime now) {
    bool revived = false;
    {
        MutexLock const lock(mutex_);
        first_byte_.add(took);
        revived = liveness_.responded(now);
    }
    if (revived) tell_alive();
}

void Peer::waited(SteadyTime sent_at, SteadyTime now) {
    bool died = false;
    {
        MutexLock const lock(mutex_);
        died = liveness_.waited(sent_at, now);
    }
    if (died) tell_dead(lets_wait);
}

void Peer::received(Bytes bytes) {
    MutexLock const lock(mutex_);
    figures_.bytes += bytes;
}

void Peer::fetched(Source const& as, Bytes bytes, microseconds took) {
    MutexLock const lock(mutex_);
    ++figures_.fetches;
    if (as.promised()) figures_.saved += bytes;
    if (auto const rate = throughput_of(bytes, took)) throughput_.add(*rate);
}

void Peer::false_hit() {
    MutexLock const lock(mutex_);
    ++figures_.false_hits;
}

// ---- a takeover ----

Peer::Measured Peer::measured(SteadyTime now) const {
    MutexLock const lock(mutex_);
    return {.liveness = liveness_.state(now),
            .query_rtt = query_rtt_.mean(),
            .connect_rtt = connect_rtt_.mean(),
            .throughput = throughput_.mean(),
            .first_byte = first_byte_.mean()};
}

void Peer::adopt(Measured const& measured, SteadyTime now) {
    MutexLock const lock(mutex_);
    liveness_.adopt(measured.liveness, now);
    if (measured.query_rtt) query_rtt_.add(*measured.query_rtt);
    if (measured.connect_rtt) connect_rtt_.add(*measured.connect_rtt);
    if (measured.throughput) throughput_.add(*measured.throughput);
    if (measured.first_byte) first_byte_.add(*measured.first_byte);
}

// ---- TLS ----

std::shared_ptr<net::TlsContext> Peer::tls() const {
    if (!options.tls) return nullptr;
    MutexLock const lock(mutex_);
    return tls_;
}

void Peer::set_tls(std::shared_ptr<net::TlsContext> tls) {
    check(options.tls.has_value() == (tls != nullptr));
    MutexLock const lock(mutex_);
    tls_.swap(tls);   // the previous context is freed outside the lock, with the argument
}

net::ConnectTarget Peer::target() const {
    return {.host = options.host,
            .port = options.http,
            .tls = tls(),
            .server_name = options.tls ? options.tls->server_name : std::string(),
            .timeout = options.connect_timeout,
            .preface = net::proxy_header(options.proxy_protocol, std::nullopt, {})};
}

/// DNS must not lead requests, which may carry a login, to other services of this machine.
char const* Peer::refusal(IpAddress const& address) const {
    bool const is_free = options.srv.empty() || options.srv_local;
    return is_free ? nullptr : http::closed_destination(address);
}

// ---- addresses ----

std::vector<IpAddress> Peer::addresses() const {
    MutexLock const lock(mutex_);
    return addresses_;
}

void Peer::set_addresses(std::vector<IpAddress> addresses) {
    MutexLock const lock(mutex_);
    addresses_ = std::move(addresses);
}

bool Peer::is_at(IpEndpoint const& from, Protocol protocol) const {
    if (from.port == 0 || from.port != port_of(options, protocol)) return false;
    MutexLock const lock(mutex_);
    return std::find(addresses_.begin(), addresses_.end(), from.address) != addresses_.end();
}

std::optional<IpEndpoint> Peer::endpoint(Protocol protocol) const {
    auto const port = port_of(options, protocol);
    if (port == 0) return std::nullopt;
    MutexLock const lock(mutex_);
    if (addresses_.empty()) return std::nullopt;
    return IpEndpoint{addresses_.front(), port};
}

bool Peer::wants_probe(SteadyTime now) const {
    MutexLock const lock(mutex_);
    return liveness_.wants_probe(now);
}

void Peer::probed(SteadyTime now) {
    MutexLock const lock(mutex_);
    liveness_.probed(now);
}

bool Peer::must_respond() const {
    MutexLock const lock(mutex_);
    return liveness_.must_respond();
}

void Peer::probe_ended(bool responded, SteadyTime now) {
    bool changed = false;
    {
        MutexLock const lock(mutex_);
        changed = responded ? liveness_.probe_responded(now) : liveness_.probe_waited(now);
    }
    if (!changed) return;
    if (responded)
        tell_alive();
    else
        tell_dead(lets_wait);
}

// ---- its digest ----

std::shared_ptr<Digest const> Peer::digest() const {
    MutexLock const lock(mutex_);
    return digest_;
}

void Peer::set_digest(std::shared_ptr<Digest const> digest) {
    MutexLock const lock(mutex_);
    digest_.swap(digest);   // the previous digest is freed outside the lock, with the argument
}

// ---- log messages ----

void Peer::tell_dead(std::string_view why) const { spdlog::warn("{} {}", title_of(options), why); }

void Peer::tell_alive() const { spdlog::info("{} is available again", title_of(options)); }

}   // namespace garner::icp
