#include "icp/mesh.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <future>
#include <iterator>

#include "icp/peer_monitor.hpp"
#include "icp/digest_fetcher.hpp"
#include "icp/digest_publisher.hpp"
#include "icp/service_monitor.hpp"
#include "util/awaited.hpp"
#include "util/check.hpp"

namespace garner::icp {

namespace {

/// A cache that only receives purges.
PeerOptions listener_of_purges(IpEndpoint const& place) {
    PeerOptions options;
    options.name = place.text();
    options.host = place.address.text();
    options.icp = 0;
    options.htcp = place.port;
    options.no_query = true;
    return options;
}

/// One, or the servers of a service.
std::vector<PeerOptions> peers_of(PeerOptions const& configured, KnownServices const& services) {
    if (configured.srv.empty()) return {configured};
    std::vector<PeerOptions> all;
    auto const known = services.find(configured.srv);
    if (known == services.end()) return all;
    for (auto const& target : known->second) all.push_back(server_of(configured, target));
    return all;
}

/// A proxy that is no peer: it has no name.
PeerOptions watched_only(WatchedProxy const& place) {
    PeerOptions options;
    options.host = place.host;
    options.http = place.port;
    options.icp = 0;
    options.no_query = true;
    return options;
}

bool serves_at(Peer const& peer, std::string_view host, std::uint16_t port) {
    return peer.options.http == port && peer.options.host == host;
}

/// The equal peer from `before` with its state, or a new one. Both use `tls` from now on.
std::shared_ptr<Peer> peer_like(PeerOptions const& options, std::shared_ptr<net::TlsContext> tls,
                                std::span<std::shared_ptr<Peer> const> before) {
    for (auto const& peer : before) {
        if (peer->options != options) continue;
        peer->set_tls(std::move(tls));
        return peer;
    }
    return std::make_shared<Peer>(options, std::move(tls));
}

template <class From, class To>
void add(From const& from, To& to) {
    to.questions += from.questions.value();
    to.timed_out += from.timed_out.value();
    to.unexpected += from.unexpected.value();
    to.moved += from.moved.value();
    to.queries += from.queries.value();
    to.hits += from.hits.value();
    to.misses += from.misses.value();
    to.nofetch += from.nofetch.value();
    to.denied += from.denied.value();
    to.errors += from.errors.value();
    to.silenced += from.silenced.value();
    to.limited += from.limited.value();
    to.malformed += from.malformed.value();
    to.cleared += from.cleared.value();
    to.refused_clears += from.refused_clears.value();
}

}   // namespace

std::shared_ptr<Peer> PeerTable::at(IpEndpoint const& from, Protocol protocol) const {
    for (auto const* list : {&peers, &purged})
        for (auto const& peer : *list)
            if (peer->is_at(from, protocol)) return peer;
    return nullptr;
}

std::shared_ptr<Peer> PeerTable::named(std::string_view name) const {
    auto const found = std::ranges::find_if(peers, [name](auto const& peer) { return peer->options.name == name; });
    return found == peers.end() ? nullptr : *found;
}

bool PeerTable::is_dead(std::string_view host, std::uint16_t port, SteadyTime now) const {
    auto const found = std::ranges::find_if(watched, [&](auto const& peer) { return serves_at(*peer, host, port); });
    return found != watched.end() && (*found)->view(now).health == Health::dead;
}

Mesh::Mesh(Options options, PeerContexts contexts, cache::Cache& cache)
    : cache_(cache), peer_table_(make_peer_table(std::move(options), contexts, {}, nullptr)), contexts_(std::move(contexts)) {
    note_company();
}
Mesh::~Mesh() = default;

Result<std::unique_ptr<Mesh>> Mesh::make(Options options, std::span<net::Worker* const> workers, cache::Cache& cache,
                                         std::shared_ptr<net::HandedSockets> handed) {
    auto contexts = make_peer_contexts(options.peers);
    if (!contexts) return contexts.fault();
    std::unique_ptr<Mesh> mesh(new Mesh(std::move(options), *std::move(contexts), cache));
    mesh->handed_ = std::move(handed);
    mesh->workers_ = workers.size();
    for (auto* worker : workers) {
        mesh->agents_.push_back(std::make_unique<Agent>(*mesh, *worker));
        if (auto const opened = mesh->agents_.back()->open(); !opened) return opened.fault();
    }
    mesh->handed_ = nullptr;
    mesh->tasks_.push_back(std::make_unique<PeerMonitor>(*mesh, *workers.front()));
    mesh->tasks_.push_back(std::make_unique<ServiceMonitor>(*mesh, *workers.front()));
    mesh->tasks_.push_back(std::make_unique<DigestFetcher>(*mesh, *workers.front()));
    mesh->tasks_.push_back(std::make_unique<DigestPublisher>(*mesh, *workers.front()));
    return mesh;
}

PeerTablePtr Mesh::make_peer_table(Options options, PeerContexts const& contexts, KnownServices const& services,
                                   PeerTable const* before) {
    check(contexts.size() == options.peers.size());
    auto peer_table = std::make_shared<PeerTable>();
    std::span<std::shared_ptr<Peer> const> known, purged, watched;
    if (before) {
        known = before->peers;
        purged = before->purged;
        watched = before->watched;
    }
    for (std::size_t i = 0; i < options.peers.size(); ++i)
        for (auto const& peer : peers_of(options.peers[i], services)) {
            peer_table->peers.push_back(peer_like(peer, contexts[i], known));
            if (peer.htcp != 0) peer_table->purged.push_back(peer_table->peers.back());
        }
    for (auto const& place : options.htcp.purge_to)
        peer_table->purged.push_back(peer_like(listener_of_purges(place), nullptr, purged));
    for (auto const& place : options.watched) {
        auto const& peers = peer_table->peers;
        auto const peer = std::ranges::find_if(peers, [&](auto const& one) { return serves_at(*one, place.host, place.port); });
        peer_table->watched.push_back(peer != peers.end() ? *peer : peer_like(watched_only(place), nullptr, watched));
    }
    peer_table->options = std::move(options);
    return peer_table;
}

void Mesh::start() {
    for (auto& agent : agents_) agent->start();
    for (auto& task : tasks_) task->start();
}

void Mesh::stop(unsigned worker) {
    agents_[worker]->stop();
    if (worker != 0) return;
    for (auto& task : tasks_) task->stop();
}

void Mesh::pause() { on_workers(&Agent::pause); }
void Mesh::resume() { on_workers(&Agent::resume); }

void Mesh::on_workers(void (Agent::*what)()) {
    for (auto& agent : agents_) net::asio::post(agent->io(), [agent = agent.get(), what] { (agent->*what)(); });
}

Result<std::vector<net::NamedSocket>> Mesh::sockets() {
    constexpr seconds patience{2};
    using Sockets = std::vector<net::NamedSocket>;
    Sockets all;
    for (auto& agent : agents_) {
        auto answer = std::make_shared<std::promise<Sockets>>();
        auto future = answer->get_future();
        net::asio::post(agent->io(), [agent = agent.get(), answer = std::move(answer)] { answer->set_value(agent->sockets()); });
        auto sockets = awaited(future, patience);
        if (!sockets) return Fault{"a worker does not respond"};
        std::ranges::move(*sockets, std::back_inserter(all));
    }
    return all;
}

Result<Prepared> Mesh::prepare(Options fresh) {
    auto contexts = make_peer_contexts(fresh.peers);
    if (!contexts) return contexts.fault();
    std::vector<Prepared> moves;
    for (auto const& agent : agents_) {
        auto move = agent->prepare(fresh);
        if (!move) return move.fault();
        moves.push_back(*std::move(move));
    }
    return Prepared([this, fresh = std::move(fresh), contexts = *std::move(contexts), moves = std::move(moves)] {
        {
            MutexLock const lock(mutex_);
            replace(fresh, contexts);
        }
        for (auto const& move : moves) move();
    });
}

Result<PeerTablePtr> Mesh::peers_after(Options fresh) const {
    auto const contexts = make_peer_contexts(fresh.peers);
    if (!contexts) return contexts.fault();
    MutexLock const lock(mutex_);
    return make_peer_table(std::move(fresh), *contexts, services_, nullptr);
}

void Mesh::replace(Options options, PeerContexts contexts) {
    contexts_ = std::move(contexts);
    peer_table_ = make_peer_table(std::move(options), contexts_, services_, peer_table_.get());
    note_company();
}

void Mesh::use_servers(std::string const& service, std::vector<net::SrvTarget> targets) {
    MutexLock const lock(mutex_);
    services_[service] = std::move(targets);
    peer_table_ = make_peer_table(peer_table_->options, contexts_, services_, peer_table_.get());
    note_company();
}

std::vector<net::SrvTarget> Mesh::servers(std::string_view service) const {
    MutexLock const lock(mutex_);
    auto const known = services_.find(service);
    return known == services_.end() ? std::vector<net::SrvTarget>() : known->second;
}

/// Sets the flags that requests of a proxy without peers read instead of the peer table.
void Mesh::note_company() {
    auto const& options = peer_table_->options;
    bool const has_peers = !peer_table_->peers.empty();
    wants_to_know_ = has_peers || options.has_own_ports();
    alone_ = !has_peers && options.direct.never.empty();
}

PeerTablePtr Mesh::peer_table() const {
    MutexLock const lock(mutex_);
    return peer_table_;
}

AgentFigures Mesh::figures() const {
    AgentFigures all;
    for (auto const& agent : agents_) add(agent->counters, all);
    return all;
}

std::vector<PeerStats> Mesh::peers(SteadyTime now) const {
    std::vector<PeerStats> all;
    auto const now_in_force = peer_table();
    for (auto const& peer : now_in_force->peers) all.push_back(peer->stats(now));
    return all;
}

Mesh::Published Mesh::published() const {
    MutexLock const lock(mutex_);
    return published_;
}

void Mesh::publish(Published digest) {
    MutexLock const lock(mutex_);
    published_ = std::move(digest);
}

}   // namespace garner::icp
