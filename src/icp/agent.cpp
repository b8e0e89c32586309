#include "icp/agent.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <random>

#include "icp/htcp.hpp"
#include "icp/mesh.hpp"
#include "icp/icp_message.hpp"
#include "net/waiter.hpp"

namespace garner::icp {

namespace {

// A request number is the asking worker's, then what nobody can guess: an answer that arrives at another worker's socket
// (with SO_REUSEPORT all of one peer's do) finds its way.
constexpr unsigned random_bits = 22;
constexpr unsigned worker_of(std::uint32_t number) { return number >> random_bits; }

constexpr std::size_t rounds_max = 8'192;        // remembered by one worker; the oldest is forgotten
constexpr milliseconds remembered_for{10'000};   // so late answers still tell that a peer lives
constexpr milliseconds query_life{2'000};        // what has not been answered by then has run out
constexpr milliseconds sign_of_life{1'000};
constexpr milliseconds clear_again{600};
constexpr unsigned clear_tries = 3;

microseconds since(SteadyTime then, SteadyTime now) {
    return std::chrono::duration_cast<microseconds>(now - then);
}

}  // namespace

/// One question on its way. It outlives the wait for it, so that late answers find it.
struct Agent::Round {
    struct Asked {
        std::shared_ptr<Peer> peer;
        Protocol protocol = Protocol::icp;
        std::size_t view = 0;         // its place among the views
        ReplyKind said = ReplyKind::nothing;
        microseconds took{0};
        bool overdue = false;         // it was waited for in vain
        bool expired = false;
    };
    PeerTablePtr peer_table;
    SteadyTime asked_at{};
    std::vector<Asked> asked;
    std::vector<Told> told;
    net::WakeHandle waiting;
    bool over = false;                // nobody waits any more; what follows is no longer there then
    bool of_purge = false;
    std::uint64_t url = 0;            // fingerprint of what is asked for
    Question const* question = nullptr;
    Plan* plan = nullptr;
    std::vector<PeerView> const* views = nullptr;
    microseconds patience{0};

    microseconds worth() const { return worth_waiting(*question, *plan, *views, told, patience); }
    bool all_answered() const {
        return std::all_of(asked.begin(), asked.end(), [](Asked const& one) { return one.said != ReplyKind::nothing; });
    }
};

Agent::Agent(Mesh& mesh, net::Worker& worker) : mesh_(mesh), worker_(worker) {
    std::random_device device;
    secret_ = (std::uint64_t{device()} << 32) | device();
    drawn_ = (std::uint64_t{device()} << 32) | device();
}

Agent::~Agent() = default;

bool Agent::open(std::string& fault) {
    LookupServices const services{mesh_, worker_, *this};
    for (auto const& row : icp::lookups()) {
        lookups_.push_back(row.make(services));
        if (!lookups_.back()->open(fault)) return false;
    }
    return true;
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
    // No datagram holds it: who was asked and heard nothing would pass for dead.
    bool const too_long = question.url.size() > std::min(url_max, htcp::url_max);
    // Peers are asked in clear: an https URL is for the origin alone.
    bool const secret = question.url.starts_with("https:");
    if (too_long || secret || mesh_.changed().has(question.url, steady_now())) question.hierarchical = false;
    auto peer_table = mesh_.peer_table();
    auto const begun = steady_now();
    std::vector<PeerView> views;
    for (auto const& peer : peer_table->peers) views.push_back(peer->view(begun));
    question.turn = mesh_.next_turn();
    auto whom = plan(question, views);
    if (whom.ask.empty()) {
        resolution.sources = choose(question, views, {});
        co_return resolution;
    }
    auto made = std::make_unique<Round>();
    auto& round = *made;
    round.peer_table = peer_table;
    round.asked_at = begun;
    round.url = fingerprint(question.url, 0);
    round.question = &question;
    round.plan = &whom;
    round.views = &views;
    round.patience = patience(whom, views, peer_table->options.timeout_min, peer_table->options.timeout);
    auto const number = begin_round(std::move(made));
    counters.questions.add();
    ask_all(round, number);
    for (;;) {
        auto const left = round.worth() - since(begun, steady_now());
        if (left <= microseconds{0}) break;
        net::Waiter waiter(worker_.io.get_executor());
        round.waiting = waiter.handle();
        if (waiting) *waiting = round.waiting;
        auto const woken = co_await waiter.wait(std::chrono::ceil<milliseconds>(left));
        if (woken == net::Wake::shutdown || woken == net::Wake::client_gone) break;
    }
    if (waiting) *waiting = {};
    auto const now = steady_now();
    resolution.took = since(begun, now);
    // A HIT may end the wait before the others have had their time: they have not failed.
    bool const had_their_time = resolution.took >= round.patience;
    for (auto const& asked : round.asked) {
        resolution.words.push_back({asked.peer, asked.said, asked.protocol, asked.took});
        auto const& awaited = whom.wait_for;
        bool const counted_on = std::find(awaited.begin(), awaited.end(), asked.view) != awaited.end();
        if (had_their_time && counted_on && asked.said == ReplyKind::nothing) resolution.timed_out = true;
    }
    if (resolution.timed_out) {
        counters.timed_out.add();
        note_overdue(round);
    }
    for (auto& view : views) view = view.peer->view(now);   // who has not answered is suspect, who has is alive
    resolution.sources = choose(question, views, round.told);
    end_round(round, now);
    co_return resolution;
}

/// Those who know at once are asked first: a HIT of theirs spares the others the question. Who has not been asked is
/// not waited for.
void Agent::ask_all(Round& round, std::uint32_t number) {
    auto const& question = *round.question;
    Query const query{.number = number, .url = question.url, .host = question.host};
    auto left = round.plan->ask;
    for (std::size_t i = 0; i < lookups_.size(); ++i) {
        auto const& row = icp::lookups()[i];
        std::vector<std::shared_ptr<Peer>> reached;
        std::erase_if(left, [&](std::size_t place) {
            auto const& peer = round.peer_table->peers[place];
            if (!lookups_[i]->reaches(*peer)) return false;
            reached.push_back(peer);
            round.asked.push_back({peer, row.protocol, place});
            if (!row.at_once) peer->asked(row.protocol, round.asked_at);
            return true;
        });
        if (!reached.empty()) lookups_[i]->ask(query, reached, *this);
        bool const found = std::any_of(round.told.begin(), round.told.end(), [](auto& told) { return told.said == ReplyKind::hit; });
        if (row.at_once && found) break;
    }
    for (auto const place : left) std::erase(round.plan->wait_for, place);
}

net::awaitable<bool> Agent::is_there(std::shared_ptr<Peer> peer, std::string_view url, net::WakeHandle* waiting) {
    auto const rows = icp::lookups();
    std::size_t by = 0;
    while (by < rows.size() && (rows[by].at_once || !lookups_[by]->reaches(*peer))) ++by;
    bool const askable = !peer->options.no_query && by < rows.size() && peer->endpoint(rows[by].protocol) && url.size() <= std::min(url_max, htcp::url_max);
    if (!askable) co_return true;
    auto made = std::make_unique<Round>();
    auto& round = *made;
    round.asked_at = steady_now();
    round.url = fingerprint(url, 0);
    round.asked.push_back({peer, rows[by].protocol});
    peer->asked(rows[by].protocol, round.asked_at);
    Query const query{.number = begin_round(std::move(made)), .url = url};
    lookups_[by]->ask(query, std::span(&peer, 1), *this);
    if (!round.all_answered()) {
        net::Waiter waiter(worker_.io.get_executor());
        *waiting = round.waiting = waiter.handle();
        co_await waiter.wait(sign_of_life);
        *waiting = {};
    }
    bool const answered = round.all_answered();
    if (!answered) note_overdue(round);
    end_round(round, steady_now());
    co_return answered;
}

net::awaitable<std::vector<PurgeResult>> Agent::clear(std::string url) {
    std::vector<PurgeResult> results;
    auto peer_table = mesh_.peer_table();
    if (peer_table->purged.empty()) co_return results;
    auto made = std::make_unique<Round>();
    auto& round = *made;
    round.peer_table = peer_table;
    round.asked_at = steady_now();
    round.of_purge = true;
    round.url = fingerprint(url, 0);
    bool const tellable = url.size() <= htcp::url_max;
    for (auto const& peer : peer_table->purged)
        if (tellable && peer->endpoint(Protocol::htcp)) round.asked.push_back({peer, Protocol::htcp});
    Query const query{.number = begin_round(std::move(made)), .url = url};
    for (unsigned tries = 0; tries < clear_tries && !round.all_answered(); ++tries) {
        std::vector<std::shared_ptr<Peer>> silent;
        for (auto const& asked : round.asked)
            if (asked.said == ReplyKind::nothing) silent.push_back(asked.peer);
        for (auto& lookup : lookups_) lookup->clear(query, silent);
        net::Waiter waiter(worker_.io.get_executor());
        round.waiting = waiter.handle();
        if (co_await waiter.wait(clear_again) == net::Wake::shutdown) break;
    }
    for (auto const& peer : peer_table->purged) {
        auto const asked = std::find_if(round.asked.begin(), round.asked.end(), [&](auto& one) { return one.peer == peer; });
        results.push_back({peer->options.name, asked == round.asked.end() ? ReplyKind::nothing : asked->said});
    }
    end_round(round, steady_now());
    co_return results;
}

/// Nobody hears of an https URL: HTCP would tell it in clear.
bool Agent::concerns_peers(std::string_view url) const {
    auto const peer_table = mesh_.peer_table();
    return !(peer_table->peers.empty() && peer_table->purged.empty()) && !url.starts_with("https:");
}

net::awaitable<std::vector<PurgeResult>> Agent::purge(std::string url) {
    std::vector<PurgeResult> told;
    if (!concerns_peers(url)) co_return told;
    auto const mark = mesh_.changed().mark(url, steady_now());
    told = co_await clear(url);
    auto const acknowledged = [&](std::shared_ptr<Peer> const& peer) {
        return std::any_of(told.begin(), told.end(), [&](PurgeResult const& one) {
            return one.name == peer->options.name && (one.said == ReplyKind::hit || one.said == ReplyKind::miss);
        });
    };
    auto const peer_table = mesh_.peer_table();
    if (std::all_of(peer_table->peers.begin(), peer_table->peers.end(), acknowledged)) mesh_.changed().unmark(url, mark);
    co_return told;
}

void Agent::tell_changed(std::string url) {
    if (!concerns_peers(url)) return;
    auto purging = purge(std::move(url));
    net::asio::co_spawn(worker_.io.get_executor(), std::move(purging), net::asio::detached);
}

std::vector<PurgeResult> Agent::purge_and_wait(std::string url) {
    constexpr seconds longest{5};   // a worker that is busy, beside the tries
    auto purging = purge(std::move(url));
    auto result = net::asio::co_spawn(worker_.io.get_executor(), std::move(purging), net::asio::use_future);
    if (result.wait_for(longest) != std::future_status::ready) return {};
    return result.get();
}

void Agent::heard(Reply const& answer) {
    auto const worker = worker_of(answer.number);
    if (worker == worker_.number) return take(answer);
    if (!mesh_.is_worker(worker)) return counters.unexpected.add();
    counters.moved.add();
    auto& other = mesh_.agent(worker);
    net::asio::post(other.worker_.io, [&other, answer] { other.take(answer); });
}

void Agent::take(Reply const& answer) {
    auto const found = rounds_.find(answer.number);
    if (found == rounds_.end()) return counters.unexpected.add();
    auto& round = *found->second;
    if (answer.url.value_or(round.url) != round.url) return counters.unexpected.add();
    auto const now = steady_now();
    if (round.of_purge) return take_purge_reply(round, answer);
    auto const asked = std::find_if(round.asked.begin(), round.asked.end(), [&](Round::Asked const& one) {
        // Two peers may have one address and port: by that, not by who was found there first.
        bool const there = one.peer == answer.peer || (one.peer && one.peer->is_at(answer.from, answer.protocol));
        return there && one.protocol == answer.protocol && one.said == ReplyKind::nothing;
    });
    if (asked == round.asked.end()) return counters.unexpected.add();
    asked->said = answer.said;
    asked->took = since(round.asked_at, now);
    bool const at_once = answer.protocol == Protocol::digest;
    bool const late = asked->overdue || asked->expired;
    if (!at_once) asked->peer->answered(answer, asked->took, now, late);
    if (round.over) return;
    if (!round.question) return round.waiting.wake(net::Wake::ready);   // a sign of life was all that was wanted
    round.told.push_back({asked->view, answer.said, answer.protocol, asked->took, answer.source_rtt, answer.size});
    // As long as all of the time is still worth waiting, nobody needs to be woken.
    if (round.worth() != round.patience) round.waiting.wake(net::Wake::ready);
}

/// By the place that it comes from: a peer may stand among htcp.purge_to, too.
void Agent::take_purge_reply(Round& round, Reply const& answer) {
    for (auto& asked : round.asked)
        if (asked.said == ReplyKind::nothing && asked.peer->is_at(answer.from, answer.protocol)) asked.said = answer.said;
    if (round.all_answered()) round.waiting.wake(net::Wake::ready);
}

// ---- rounds ----

/// Drawn with a key that nobody has, and never 0 (RFC 2186 2; Squid 5 takes harm from it).
std::uint32_t Agent::fresh_number() {
    for (;;) {
        ++drawn_;
        std::string_view const bytes(reinterpret_cast<char const*>(&drawn_), sizeof drawn_);
        auto const low = static_cast<std::uint32_t>(fingerprint(bytes, secret_)) & ((1u << random_bits) - 1);
        auto const number = (worker_.number << random_bits) | low;
        if (low != 0 && !rounds_.contains(number)) return number;
    }
}

std::uint32_t Agent::begin_round(std::unique_ptr<Round> round) {
    sweep(round->asked_at);
    auto const number = fresh_number();
    rounds_.emplace(number, std::move(round));
    running_.push_back(number);
    remembered_.push_back(number);
    return number;
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
        if (asked.said != ReplyKind::nothing || asked.protocol == Protocol::digest) continue;
        asked.overdue = true;
        asked.peer->overdue();
    }
}

/// What has not been answered by now will not be.
void Agent::run_out(Round& round, SteadyTime now) {
    if (round.of_purge) return;
    for (auto& asked : round.asked) {
        if (asked.said != ReplyKind::nothing || asked.expired || asked.protocol == Protocol::digest) continue;
        asked.expired = true;
        asked.peer->expired(now);
    }
}

/// Queries that nobody waits for run out, too; and what is too old for any answer is forgotten. Each round passes here
/// twice in its life.
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

}  // namespace garner::icp
