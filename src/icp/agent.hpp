// One worker's part of the mesh: queries peers, waits, and passes their replies to source selection.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "icp/choice.hpp"
#include "icp/purge_result.hpp"
#include "icp/peer_lookup.hpp"
#include "icp/source.hpp"
#include "net/wake.hpp"
#include "net/worker.hpp"
#include "util/bytes.hpp"
#include "util/counter.hpp"
#include "util/result.hpp"

namespace garner::icp {

class Mesh;
struct PeerTable;

/// The result of a question.
struct Resolution {
    std::vector<Source> sources;   // best first; see choose()
    struct Word {
        std::shared_ptr<Peer> peer;
        ReplyKind reply = ReplyKind::nothing;
        Protocol protocol = Protocol::icp;
        microseconds took{0};
    };
    std::vector<Word> words;   // one for each queried peer
    bool timed_out = false;    // a peer that was waited for had not replied
    // The reason why no peer was queried about this URL:
    bool url_changed = false;   // a purge or an unsafe request that not all peers have confirmed
    bool url_too_long = false;
    microseconds took{0};
};

/// Counts of one worker, or the sum over all.
template <class Count>
struct AgentCounts {
    Count questions{};   // resolved with at least one peer to query
    Count timed_out{};
    Count unexpected{};                                      // replies without a query, or from another address
    Count moved{};                                           // replies that arrived at another worker than the querying one
    Count queries{};                                         // received from other caches
    Count hits{}, misses{}, nofetch{}, denied{}, errors{};   // replies sent to them
    Count silenced{};                                        // denied, and dropped without a reply
    Count limited{};                                         // over a rate
    Count malformed{};                                       // datagrams that do not parse, including ICP version 3
    Count cleared{};                                         // purges requested by other caches
    Count refused_clears{};
};
using AgentCounters = AgentCounts<Counter>;
using AgentFigures = AgentCounts<std::uint64_t>;

/// Used on its worker only, unless stated otherwise.
class Agent {
public:
    Agent(Mesh& mesh, net::Worker& worker);
    ~Agent();

    /// Before the workers run. The fault names the address that cannot be opened.
    Result<void> open();
    /// For a reload with these options, by the thread of reloads: see PeerLookup.
    Result<Prepared> prepare(Options const& fresh);
    void start();
    void stop();
    /// See PeerLookup.
    void pause();
    void resume();
    std::vector<net::NamedSocket> sockets() const;
    net::asio::io_context& io() { return worker_.io; }

    /// True when there is no peer, and no rule that forbids the origin: every request goes to the origin.
    bool alone() const;

    /// Takes at most icp.timeout (2 s at most); `*waiting` wakes it early. `question`'s views must live that long.
    net::awaitable<Resolution> resolve(Question question, net::WakeHandle* waiting);

    /// The peer can be queried, about this URL or about its own one.
    bool can_ask(Peer const& peer, std::string_view url) const;
    /// True if a peer that has been silent over HTTP still replies. Queries it once more, for at most 1 s. Also true when
    /// the peer cannot be queried. `*waiting` wakes it early.
    net::awaitable<bool> is_there(std::shared_ptr<Peer> peer, std::string_view url, net::WakeHandle* waiting);

    /// Sends a purge by HTCP to all peers that take purges, with two retries; returns when all have acknowledged, or after
    /// 2 s. The peers are not queried for the URL until all have acknowledged; a peer without HTCP never acknowledges.
    net::awaitable<std::vector<PurgeResult>> purge(std::string url);
    /// Like purge(), detached: an unsafe request has changed the URL.
    void tell_changed(std::string url);
    /// Like purge(), for a thread that is no worker's: it blocks.
    std::vector<PurgeResult> purge_and_wait(std::string url);

    /// Called on the worker that received a reply; passes it to the worker that queried. A late reply counts for the peer's
    /// liveness; one without a query is counted and dropped.
    void heard(Reply const&);

    /// Queries whose replies are awaited or may be late: those of all workers, and the most of one worker.
    static std::size_t rounds();
    static constexpr std::size_t rounds_max = 8'192;   // the oldest is forgotten
    static constexpr Bytes round_bytes = 512;          // approximately, with few peers

    AgentCounters counters;

private:
    net::awaitable<std::vector<PurgeResult>> clear(std::string url);
    bool concerns_peers(std::string_view url) const;
    struct Round;
    std::uint32_t fresh_number();
    Round& begin_round(std::string_view url);
    void end_round(Round& round, SteadyTime now);
    net::awaitable<net::Wake> wait(Round& round, milliseconds limit, net::WakeHandle* waiting);
    void ask_all(Round& round);
    std::optional<std::size_t> lookup_for(Peer const& peer, std::string_view url) const;
    void take(Reply const&);
    void take_purge_reply(Round&, Reply const&);
    void note_overdue(Round&);
    void run_out(Round&, SteadyTime now);
    void sweep(SteadyTime now);

    Mesh& mesh_;
    net::Worker& worker_;
    std::vector<std::unique_ptr<PeerLookup>> lookups_;   // in the order of lookups()
    std::unordered_map<std::uint32_t, std::unique_ptr<Round>> rounds_;
    std::deque<std::uint32_t> running_;      // rounds whose queries may still expire; the oldest first
    std::deque<std::uint32_t> remembered_;   // all rounds
    std::uint64_t const secret_;
    std::uint64_t drawn_;
};

}   // namespace garner::icp
