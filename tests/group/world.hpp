// A simulated group: members with caches, voters, an origin, clients, and what breaks. One thread; time is a number.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "group/events.hpp"
#include "group/judge.hpp"
#include "group/member.hpp"
#include "group/network.hpp"
#include "group/random.hpp"
#include "group/stored_responses.hpp"
#include "group/voter.hpp"

namespace garner::group::simulated {

struct Options {
    std::uint64_t seed = 1;
    unsigned members = 64;
    unsigned voters = 0;   // 1, 3 or 5; 0: by the seed
    unsigned urls = 24;
    Moment length = 60 * second;
    Moment lease = 2 * second;
    Moment fault_every = 3 * second;   // 0: nothing breaks
    Moment publish_every = 700 * ms;   // 0: none
    unsigned offer_one_in = 0;         // of the responses that arrive; 0: none is offered
    Moment client_every = 400 * ms;    // of each member; 0: none
    NetworkOptions network = {};
    bool central_voters = false;   // in the middle of the others
    bool one_place = false;        // all are half a millisecond apart
    bool trees = true;             // most members have a parent
    bool slow_requests = true;     // some take seconds
    bool all_have_disks = false;   // otherwise half of the restarts begin with an empty cache
    Moment fresh_least = 500 * ms, fresh_most = 40 * second;
    std::function<void(std::string const&)> trace = {};
};

struct Figures {
    std::uint64_t events = 0, messages = 0;
    std::uint64_t answers = 0, hits = 0;
    std::uint64_t submitted = 0, accepted = 0;
    std::uint64_t offered = 0, offers_taken = 0;            // submitted; and heard, its own submissions by a member, too
    std::set<std::pair<unsigned, unsigned>> offered_once;   // URL and version
    std::uint64_t watermarks = 0;
    std::uint64_t cut_off = 0;   // answers of members that were cut off
    std::uint64_t hash = 0;
    Moment one_way_p99 = 0;                                // between two nodes; only if nothing breaks
    std::vector<Moment> applied, acceptance, everywhere;   // durations
};

class World {
public:
    explicit World(Options options);
    World(World const&) = delete;
    ~World();

    /// Empty, or the first violation of the promise.
    std::string run();
    Figures const& figures() const { return figures_; }

    // For scenes. Nodes have the numbers of their places; voters are nodes, too.
    /// Calls this at the moment.
    void at(Moment moment, std::function<void()> action);
    void set_parent(std::uint32_t node, std::optional<std::uint32_t> parent);
    void cut(std::uint32_t a, std::uint32_t b, Moment duration);
    void cut_one_way(std::uint32_t from, std::uint32_t to, Moment duration);
    void pause(std::uint32_t node, Moment duration);
    void crash(std::uint32_t node, Moment duration, bool with_reset = true);
    void break_origin(Moment duration);
    /// The next requests from this node take so long to the next cache or the origin, or their answers back.
    void slow_request(std::uint32_t node, Moment duration);
    void slow_answer(std::uint32_t node, Moment duration);
    void client(std::uint32_t node, unsigned url);
    /// A new version of all that is covered, and the invalidation.
    void publish(std::uint32_t node, cache::Invalidation const& what);
    std::uint32_t voter(std::size_t seat) const { return voters_[seat]; }
    bool is_current(std::uint32_t node) const;
    Member const& member(std::uint32_t node) const;
    Moment now() const { return now_; }

private:
    struct Waiter {
        std::uint64_t fetch = 0;   // of a child; 0: a client
        bool was_current = false;
        Moment began = 0;
    };
    struct Fetch {
        std::uint32_t node = 0, life = 0;
        unsigned url = 0;
        StoredResponses::Number number = 0;
        Time sent = never;
        bool passes = false;
        bool to_origin = false;
        bool over = false;
        bool failed = false, stale = false;   // of the response
        unsigned version = 0;
        std::vector<Waiter> waiters;
    };
    struct Node;

    void build();
    void start(std::uint32_t number);
    void say(std::uint32_t node, std::string const& what) const;
    Moment one_way_p99();
    void handle(Event const&);
    void deliver(Event const&);
    void deliver_to_voter(Node&, std::uint64_t connection, Wire const&);
    void deliver_to_member(Node&, std::uint64_t connection, Wire const&);
    void pump(Node&);
    void close_from_voter(Node&, std::uint64_t connection);
    void wake(Node&);

    void ask(Node&, unsigned url, bool passes, Waiter);
    void fetch(Node&, unsigned url, bool passes, Waiter);
    void send_fetch(std::uint64_t number);
    void answer(Waiter const&, std::uint32_t node, unsigned url, unsigned version, bool stale, bool failed);
    void arrive_at_origin(Event const&);
    void finish(Event const&);
    bool may_join(Node&, Fetch const&) const;

    void offer(Node&, unsigned url, unsigned version);
    void random_client(std::uint32_t node);
    void random_publish();
    void random_fault();

    Options const options_;
    Random random_;
    Events events_;
    Settings settings_;
    std::vector<std::uint32_t> voters_;
    std::vector<std::unique_ptr<Node>> nodes_;
    std::unique_ptr<Network> network_;
    Judge judge_;
    std::deque<Fetch> fetches_;   // by number
    std::vector<std::function<void()>> script_;
    Moment now_ = 0;
    Moment origin_broken_until_ = 0;
    unsigned last_published_ = 0;
    std::string violation_;
    Figures figures_;
};

}   // namespace garner::group::simulated
