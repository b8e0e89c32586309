#include "icp/agent.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <future>

#include "icp/htcp.hpp"
#include "icp/https.hpp"
#include "icp/mesh.hpp"
#include "icp/icp_message.hpp"
#include "icp/srv_peers.hpp"
#include "net/waiter.hpp"
#include "util/awaited.hpp"
#include "util/counted.hpp"
#include "util/one_of.hpp"
#include "util/random_bits.hpp"

namespace garner::icp {

namespace {

// A request number has the querying worker's number in its upper bits and random lower bits. With SO_REUSEPORT a reply may
// arrive at another worker's socket; its number then names the right worker.
constexpr unsigned number_bits = 22;
constexpr unsigned worker_of(std::uint32_t number) { return number >> number_bits; }

constexpr milliseconds remembered_for{10'000};   // so that late replies still count for the peer's liveness
constexpr milliseconds query_life{2'000};        // a query without a reply expires after this time
constexpr milliseconds sign_of_life{1'000};
constexpr milliseconds clear_again{600};
constexpr unsigned clear_tries = 3;
constexpr Bytes longest_url = std::min<Bytes>(url_max, htcp::url_max);

microseconds since(SteadyTime then, SteadyTime now) { return std::chrono::duration_cast<microseconds>(now - then); }

}   // namespace

/// One query and its replies. Outlives the wait for the replies, so that late ones are still matched.
struct Agent::Round : Counted<Agent::Round> {
    struct Asked {
        std::shared_ptr<Peer> peer;
        Protocol protocol = Protocol::icp;
        std::size_t view = 0;   // its index among the views
        ReplyKind reply = ReplyKind::nothing;
        microseconds took{0};
        char const* why = "";   // Reply::why
        bool overdue = false;   // no reply came within the wait
        bool expired = false;
    };
    std::uint32_t number = 0;
    SteadyTime asked_at{};
    std::uint64_t url = 0;   // fingerprint of the URL
    std::vector<Asked> asked;
    std::vector<Told> told;
    net::WakeHandle waiting;
    bool over = false;   // the wait has ended; the following pointers are null then
    bool of_purge = false;
    Question const* question = nullptr;
    Plan* plan = nullptr;
    std::vector<PeerView> const* views = nullptr;
    microseconds patience{0};

    microseconds worth() const { return worth_waiting(*question, *plan, *views, told, patience); }
    bool all_answered() const {
        return std::ranges::none_of(asked, [](Asked const& one) { return one.reply == ReplyKind::nothing; });
    }
    bool is_awaited(Asked const& one) const {
        return one.reply == ReplyKind::nothing && std::ranges::find(plan->wait_for, one.view) != plan->wait_for.end();
    }
};

Agent::Agent(Mesh& mesh, net::Worker& worker) : mesh_(mesh), worker_(worker), secret_(random_bits()), drawn_(random_bits()) {}

Agent::~Agent() = default;

std::size_t Agent::rounds() { return Round::alive(); }

Result<void> Agent::open() {
    LookupServices const services{mesh_, worker_, *this};
    for (auto const& row : icp::lookups()) {
        lookups_.push_back(row.make(services));
        if (auto const opened = lookups_.back()->open(); !opened) return opened;
    }
    return {};
}

Result<Prepared> Agent::prepare(Options const& fresh) {
    std::vector<Prepared> all;
    for (auto const& lookup : lookups_) {
        auto prepared = lookup->prepare(fresh);
        if (!prepared) return prepared.fault();
        all.push_back(*std::move(prepared));
    }
    return Prepared([all = std::move(all)] {
        for (auto const& apply : all) apply();
    });
}

void Agent::pause() {
    for (auto& lookup : lookups_) lookup->pause();
}

void Agent::resume() {
    for (auto& lookup : lookups_) lookup->resume();
}

std::vector<net::NamedSocket> Agent::sockets() const {
    std::vector<net::NamedSocket> named;
    for (auto const& lookup : lookups_) lookup->add_sockets(named);
    return named;
}

void Agent::start() {
    for (auto& lookup : lookups_) lookup->start();
}

void Agent::stop() {
    for (auto& lookup : lookups_) lookup->stop();
}

bool Agent::alone() const { return mesh_.alone(); }

net::awaitable<Resolution> Agent::resolve(Question question, net::WakeHandle* waiting) {
    Resolution resolution;
    // A URL too long for a datagram would make the peers seem dead.
    resolution.url_too_long = question.url.size() > longest_url;
    resolution.url_changed = !resolution.url_too_long && mesh_.changed().has(question.url, steady_now());
    if (resolution.url_too_long || resolution.url_changed) question.hierarchical = false;
    auto const peer_table = mesh_.peer_table();
    auto const begun = steady_now();
    std::vector<PeerView> views;
    for (auto const& peer : peer_table->peers)
        if (takes_part(question, peer->options)) views.push_back(peer->view(begun));
    mark_standby(views);
    question.turn = mesh_.next_turn();
    auto whom = plan(question, views);
    if (whom.ask.empty()) {
        resolution.sources = choose(question, views, {});
        co_return resolution;
    }
    auto& round = begin_round(question.url);
    round.question = &question;
    round.plan = &whom;
    round.views = &views;
    round.patience = patience(whom, views, peer_table->options.timeout_min, peer_table->options.timeout);
    counters.questions.add();
    ask_all(round);
    for (;;) {
        auto const left = std::chrono::ceil<milliseconds>(round.worth() - since(round.asked_at, steady_now()));
        if (left <= milliseconds{0}) break;
        auto const woken = co_await wait(round, left, waiting);
        if (woken == net::Wake::shutdown || woken == net::Wake::client_gone) break;
    }
    auto const now = steady_now();
    resolution.took = since(round.asked_at, now);
    for (auto const& asked : round.asked) resolution.words.push_back({asked.peer, asked.reply, asked.protocol, asked.took});
    // A HIT may end the wait before the other peers had their full time: they have not failed.
    bool const had_their_time = resolution.took >= round.patience;
    resolution.timed_out = had_their_time && std::ranges::any_of(round.asked, [&](auto& one) { return round.is_awaited(one); });
    if (resolution.timed_out) {
        counters.timed_out.add();
        note_overdue(round);
    }
    for (auto& view : views) view = view.peer->view(now);   // by now a peer without a reply is suspect, and one with a reply alive
    resolution.sources = choose(question, views, round.told);
    end_round(round, now);
    co_return resolution;
}

net::awaitable<net::Wake> Agent::wait(Round& round, milliseconds limit, net::WakeHandle* waiting) {
    net::Waiter waiter(worker_.io.get_executor());
    round.waiting = waiter.handle();
    if (waiting) *waiting = round.waiting;
    auto const woken = co_await waiter.wait(limit);
    if (waiting) *waiting = {};
    co_return woken;
}

/// Lookups that reply at once come first: their HIT spares the other peers the query. They send nothing, so they take URLs
/// that must not be named in clear text, too. Peers that are not queried are not waited for.
void Agent::ask_all(Round& round) {
    auto const url = round.question->url;
    Query const query{round.number, url};
    auto left = round.plan->ask;
    for (std::size_t i = 0; i < lookups_.size(); ++i) {
        auto const& row = icp::lookups()[i];
        std::vector<std::shared_ptr<Peer>> reached;
        std::erase_if(left, [&](std::size_t index) {
            auto const& peer = (*round.views)[index].peer;
            bool const nameable = row.at_once || may_name(url, peer->options);
            if (!nameable || !lookups_[i]->reaches(*peer)) return false;
            reached.push_back(peer);
            round.asked.push_back({peer, row.protocol, index});
            if (!row.at_once) peer->asked(round.asked_at);
            return true;
        });
        if (!reached.empty()) lookups_[i]->ask(query, reached);
        bool const found = std::ranges::any_of(round.told, [](auto& told) { return told.reply == ReplyKind::hit; });
        if (row.at_once && found) break;
    }
    for (auto const index : left) std::erase(round.plan->wait_for, index);
}

/// The first lookup that can query the peer.
std::optional<std::size_t> Agent::lookup_for(Peer const& peer, std::string_view url) const {
    auto const rows = icp::lookups();
    std::size_t by = 0;
    while (by < rows.size() && (rows[by].at_once || !lookups_[by]->reaches(peer))) ++by;
    bool const askable = by < rows.size() && !peer.options.no_query && peer.endpoint(rows[by].protocol);
    if (!askable || url.size() > longest_url) return std::nullopt;
    return by;
}

bool Agent::can_ask(Peer const& peer, std::string_view url) const { return lookup_for(peer, url).has_value(); }

net::awaitable<bool> Agent::is_there(std::shared_ptr<Peer> peer, std::string_view url, net::WakeHandle* waiting) {
    auto const by = lookup_for(*peer, url);
    if (!by) co_return true;
    bool const is_nameable = !url.empty() && may_name(url, peer->options);
    auto const named = is_nameable ? std::string(url) : own_url(peer->options);
    auto& round = begin_round(named);
    round.asked.push_back({peer, icp::lookups()[*by].protocol});
    peer->asked(round.asked_at);
    Query const query{round.number, named};
    lookups_[*by]->ask(query, std::span(&peer, 1));
    if (!round.all_answered()) co_await wait(round, sign_of_life, waiting);
    bool const answered = round.all_answered();
    if (!answered) note_overdue(round);
    end_round(round, steady_now());
    co_return answered;
}

net::awaitable<std::vector<PurgeResult>> Agent::clear(std::string url) {
    std::vector<PurgeResult> results;
    auto const peer_table = mesh_.peer_table();
    if (peer_table->purged.empty()) co_return results;
    auto& round = begin_round(url);
    round.of_purge = true;
    for (auto const& peer : peer_table->purged) {
        bool const told = url.size() <= htcp::url_max && may_name(url, peer->options);
        if (told && peer->endpoint(Protocol::htcp)) round.asked.push_back({peer, Protocol::htcp});
    }
    Query const query{round.number, url};
    for (unsigned tries = 0; tries < clear_tries && !round.all_answered(); ++tries) {
        std::vector<std::shared_ptr<Peer>> silent;
        for (auto const& asked : round.asked)
            if (asked.reply == ReplyKind::nothing) silent.push_back(asked.peer);
        for (auto& lookup : lookups_) lookup->clear(query, silent);
        if (co_await wait(round, clear_again, nullptr) == net::Wake::shutdown) break;
    }
    for (auto const& peer : peer_table->purged) {
        if (!may_keep(url, peer->options)) continue;
        auto const asked = std::ranges::find(round.asked, peer, &Round::Asked::peer);
        bool const was_asked = asked != round.asked.end();
        auto const reply = was_asked ? asked->reply : ReplyKind::nothing;
        results.push_back({peer->options.name, reply, was_asked ? asked->why : "", may_name(url, peer->options)});
    }
    end_round(round, steady_now());
    co_return results;
}

bool Agent::concerns_peers(std::string_view url) const {
    auto const peer_table = mesh_.peer_table();
    auto const concerned = [&](std::shared_ptr<Peer> const& peer) { return may_keep(url, peer->options); };
    return std::ranges::any_of(peer_table->peers, concerned) || std::ranges::any_of(peer_table->purged, concerned);
}

net::awaitable<std::vector<PurgeResult>> Agent::purge(std::string url) {
    std::vector<PurgeResult> told;
    if (!concerns_peers(url)) co_return told;
    auto const mark = mesh_.changed().mark(url, steady_now());
    told = co_await clear(url);
    auto const acknowledged = [&](std::shared_ptr<Peer> const& peer) {
        return std::ranges::any_of(told, [&](PurgeResult const& one) {
            return one.name == peer->options.name && is_one_of<ReplyKind::hit, ReplyKind::miss>(one.reply);
        });
    };
    auto const peer_table = mesh_.peer_table();
    auto const is_done = [&](std::shared_ptr<Peer> const& peer) { return !may_keep(url, peer->options) || acknowledged(peer); };
    if (std::ranges::all_of(peer_table->peers, is_done)) mesh_.changed().unmark(url, mark);
    co_return told;
}

void Agent::tell_changed(std::string url) {
    if (!concerns_peers(url)) return;
    auto purging = purge(std::move(url));
    net::asio::co_spawn(worker_.io.get_executor(), std::move(purging), net::asio::detached);
}

std::vector<PurgeResult> Agent::purge_and_wait(std::string url) {
    constexpr seconds longest{5};   // for a busy worker, in addition to the retries
    auto purging = purge(url);
    auto result = net::asio::co_spawn(worker_.io.get_executor(), std::move(purging), net::asio::use_future);
    if (auto told = awaited(result, longest)) return *std::move(told);
    std::vector<PurgeResult> unknown;
    for (auto const& peer : mesh_.peer_table()->purged)
        if (may_keep(url, peer->options)) unknown.push_back({.name = peer->options.name});
    return unknown;
}

void Agent::heard(Reply const& reply) {
    auto const worker = worker_of(reply.number);
    if (worker == worker_.number) return take(reply);
    if (!mesh_.is_worker(worker)) return counters.unexpected.add();
    counters.moved.add();
    auto& other = mesh_.agent(worker);
    net::asio::post(other.worker_.io, [&other, reply] { other.take(reply); });
}

void Agent::take(Reply const& reply) {
    auto const found = rounds_.find(reply.number);
    if (found == rounds_.end()) return counters.unexpected.add();
    auto& round = *found->second;
    if (reply.url.value_or(round.url) != round.url) return counters.unexpected.add();
    auto const now = steady_now();
    if (round.of_purge) return take_purge_reply(round, reply);
    auto const asked = std::ranges::find_if(round.asked, [&](Round::Asked const& one) {
        // Two peers may share one address and port: so peers match by address, and not only by the first found there.
        bool const there = one.peer == reply.peer || (one.peer && one.peer->is_at(reply.from, reply.protocol));
        return there && one.protocol == reply.protocol && one.reply == ReplyKind::nothing;
    });
    if (asked == round.asked.end()) return counters.unexpected.add();
    asked->reply = reply.kind;
    asked->took = since(round.asked_at, now);
    bool const at_once = replies_at_once(reply.protocol);
    bool const late = asked->overdue || asked->expired;
    if (!at_once) asked->peer->answered(reply, asked->took, now, late);
    if (round.over) return;
    if (!round.question) return round.waiting.wake(net::Wake::ready);   // only a sign of life was wanted
    round.told.push_back({asked->view, reply.kind, reply.protocol, asked->took, reply.source_rtt, reply.size});
    // While waiting the full time is still worthwhile, the coroutine is not woken.
    if (round.worth() != round.patience) round.waiting.wake(net::Wake::ready);
}

/// Matches by source address: a peer may also be listed in htcp.purge_to.
void Agent::take_purge_reply(Round& round, Reply const& reply) {
    for (auto& asked : round.asked)
        if (asked.reply == ReplyKind::nothing && asked.peer->is_at(reply.from, reply.protocol)) {
            asked.reply = reply.kind;
            asked.why = reply.why;
        }
    if (round.all_answered()) round.waiting.wake(net::Wake::ready);
}

// ---- rounds ----

/// Derived with a secret key, and never 0 (RFC 2186 2; 0 crashes Squid 5).
std::uint32_t Agent::fresh_number() {
    for (;;) {
        ++drawn_;
        std::string_view const bytes(reinterpret_cast<char const*>(&drawn_), sizeof drawn_);
        auto const low = static_cast<std::uint32_t>(fingerprint(bytes, secret_)) & ((1u << number_bits) - 1);
        auto const number = (worker_.number << number_bits) | low;
        if (low != 0 && !rounds_.contains(number)) return number;
    }
}

Agent::Round& Agent::begin_round(std::string_view url) {
    auto made = std::make_unique<Round>();
    made->asked_at = steady_now();
    sweep(made->asked_at);
    auto const number = made->number = fresh_number();
    made->url = fingerprint(url, 0);
    running_.push_back(number);
    remembered_.push_back(number);
    return *rounds_.emplace(number, std::move(made)).first->second;
}

void Agent::end_round(Round& round, SteadyTime now) {
    round.over = true;
    round.waiting = {};
    round.question = nullptr;
    round.plan = nullptr;
    round.views = nullptr;
    sweep(now);
}

void Agent::note_overdue(Round& round) {
    for (auto& asked : round.asked) {
        if (asked.reply != ReplyKind::nothing || replies_at_once(asked.protocol)) continue;
        asked.overdue = true;
        asked.peer->overdue();
    }
}

/// Expires the queries that have no reply by now.
void Agent::run_out(Round& round, SteadyTime now) {
    if (round.of_purge) return;
    for (auto& asked : round.asked) {
        if (asked.reply != ReplyKind::nothing || asked.expired || replies_at_once(asked.protocol)) continue;
        asked.expired = true;
        asked.peer->expired(now);
    }
}

/// Queries expire even after the wait has ended; rounds too old for a reply are forgotten. Each round passes here twice.
void Agent::sweep(SteadyTime now) {
    while (!running_.empty()) {
        auto& round = *rounds_.at(running_.front());
        bool const crowded = running_.size() >= rounds_max;
        if (!round.over || (now - round.asked_at < query_life && !crowded)) break;
        run_out(round, now);
        running_.pop_front();
    }
    while (remembered_.size() > running_.size()) {
        auto const oldest = rounds_.find(remembered_.front());
        bool const young = now - oldest->second->asked_at < remembered_for;
        if (young && remembered_.size() < rounds_max) break;
        rounds_.erase(oldest);
        remembered_.pop_front();
    }
}

}   // namespace garner::icp
