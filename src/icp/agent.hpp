// One worker's part in the mesh: it asks peers, waits, and hands their replies to the choice.
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
#include "util/counter.hpp"

namespace garner::icp {

class Mesh;
struct PeerTable;

/// How a question was settled.
struct Resolution {
    std::vector<Source> sources;      // best first; see choose()
    struct Word {
        std::shared_ptr<Peer> peer;
        ReplyKind reply = ReplyKind::nothing;
        Protocol protocol = Protocol::icp;
        microseconds took{0};
    };
    std::vector<Word> words;          // of all peers that were asked
    bool timed_out = false;           // a peer that was waited for had not replied
    microseconds took{0};
};

/// Counted by one worker, or of all together.
template <class Count>
struct AgentCounts {
    Count questions{};                // resolved with somebody to ask
    Count timed_out{};
    Count unexpected{};               // answers that nobody asked for, or not from there
    Count moved{};                    // answers that came to another worker than the one that asked
    Count queries{};                  // of other caches
    Count hits{}, misses{}, nofetch{}, denied{}, errors{};   // what they were told
    Count silenced{};                 // denied, and not told
    Count limited{};                  // over a rate
    Count malformed{};                // datagrams that do not parse, and those of ICP version 3
    Count cleared{};                  // purges that others asked for
    Count refused_clears{};
};
using AgentCounters = AgentCounts<Counter>;
using AgentFigures = AgentCounts<std::uint64_t>;

/// Belongs to its worker, but for what says otherwise.
class Agent {
public:
    Agent(Mesh& mesh, net::Worker& worker);
    ~Agent();

    /// Before the workers run. False with `fault` when a port cannot be had.
    bool open(std::string& fault);
    void start();
    void stop();

    /// True when there is no peer, and no rule that forbids the origin: every request goes there.
    bool alone() const;

    /// Never longer than icp.timeout (2 s at the most); `*waiting` wakes it early. `question`'s views must live so long.
    net::awaitable<Resolution> resolve(Question question, net::WakeHandle* waiting);

    /// Whether a peer that has been silent over HTTP still answers: asks it once more, for 1 s at the most. True when it
    /// cannot be asked. `*waiting` wakes it early.
    net::awaitable<bool> is_there(std::shared_ptr<Peer> peer, std::string_view url, net::WakeHandle* waiting);

    /// Tells all who are to hear of a purge by HTCP; asks again twice; back when all have acknowledged, or after 2 s. No peer is
    /// asked for the URL until all have acknowledged it; one without HTCP never does.
    net::awaitable<std::vector<PurgeResult>> purge(std::string url);
    /// The same, detached: an unsafe request has changed it.
    void tell_changed(std::string url);
    /// The same from a thread that is no worker's: it waits.
    std::vector<PurgeResult> purge_and_wait(std::string url);

    /// On any worker of the mesh that a reply arrives at: it is passed to the one that asked. A reply that comes too late
    /// counts for the peer's health; one without a query is counted and dropped.
    void heard(Reply const&);

    AgentCounters counters;

private:
    net::awaitable<std::vector<PurgeResult>> clear(std::string url);
    bool concerns_peers(std::string_view url) const;
    struct Round;
    bool may_ask_about(std::string_view url) const;
    std::uint32_t fresh_number();
    Round& begin_round(std::string_view url);
    void end_round(Round& round, SteadyTime now);
    net::awaitable<net::Wake> wait(Round& round, milliseconds limit, net::WakeHandle* waiting);
    void ask_all(Round& round, Peers peers);
    void take(Reply const&);
    void take_purge_reply(Round&, Reply const&);
    void note_overdue(Round&);
    void run_out(Round&, SteadyTime now);
    void sweep(SteadyTime now);

    Mesh& mesh_;
    net::Worker& worker_;
    std::vector<std::unique_ptr<PeerLookup>> lookups_;   // as lookups()
    std::unordered_map<std::uint32_t, std::unique_ptr<Round>> rounds_;
    std::deque<std::uint32_t> running_;      // not yet old enough to have run out; the oldest first
    std::deque<std::uint32_t> remembered_;   // all
    std::uint64_t const secret_;
    std::uint64_t drawn_;
};

}  // namespace garner::icp
