// The connections between members and voters: ordered, with delays, lost segments, cuts, and bytes that arrive after the other end
// has given up.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "group/events.hpp"
#include "group/group_message.hpp"
#include "group/random.hpp"

namespace garner::group::simulated {

struct Place {
    std::int64_t x = 0, y = 0;   // 10 units are a millisecond
};

inline std::int64_t root(std::int64_t square) {
    std::int64_t value = 0;
    for (auto bit = std::int64_t{1} << 24; bit > 0; bit >>= 1)
        if ((value + bit) * (value + bit) <= square) value += bit;
    return value;
}

/// One way, without jitter.
inline Moment distance(Place a, Place b) {
    auto const x = a.x - b.x, y = a.y - b.y;
    return 500 * us + root((x * x + y * y) * 10'000);
}

/// One direction of a connection carries these, in order.
struct Wire {
    enum class Kind : std::uint8_t { begin, established, message, end };
    Kind kind = Kind::message;
    Message message = {};
};

enum Direction : std::uint8_t { to_voter, to_member };

struct Connection {
    std::uint32_t member = 0, voter = 0;             // nodes
    std::uint32_t member_life = 0, voter_life = 0;   // of those processes; 0: not accepted yet
    std::uint8_t seat = 0;                           // number of the voter
    bool member_has = true, voter_has = false;       // this end is open
    std::array<std::deque<Wire>, 2> wires{};         // by direction
    std::array<Moment, 2> last{};                    // arrival of the last one
};

struct NetworkOptions {
    std::int64_t loss_ppm = 10'000;
    std::int64_t jitter_percent = 10;
    bool backoff = true;   // after a cut bytes wait for the next attempt to send them
};

class Network {
public:
    Network(NetworkOptions options, std::vector<Place> places, Random& random, Events& events)
        : options_(options), places_(std::move(places)), random_(random), events_(events), cuts_(places_.size()) {}

    std::uint64_t open(std::uint32_t member, std::uint32_t life, std::uint32_t voter, std::uint8_t seat) {
        connections_.push_back({.member = member, .voter = voter, .member_life = life, .seat = seat});
        return connections_.size() - 1;
    }
    Connection& operator[](std::uint64_t number) { return connections_[number]; }
    std::size_t size() const { return connections_.size(); }

    /// Adds to the end of a direction. Returns the delay.
    Moment put(std::uint64_t number, Direction direction, Wire wire, Moment now) {
        auto& connection = connections_[number];
        auto const from = direction == to_voter ? connection.member : connection.voter;
        auto const to = direction == to_voter ? connection.voter : connection.member;
        auto& last = connection.last[direction];
        last = std::max(last, arrival(from, to, now));
        connection.wires[direction].push_back(std::move(wire));
        ++messages;
        events_.add({.at = last, .kind = Event::Kind::wire, .node = to, .a = number, .b = direction});
        return last - now;
    }
    /// Without a cut and losses.
    Moment delay(std::uint32_t from, std::uint32_t to) {
        if (from == to) return 0;
        auto const base = distance(places_[from], places_[to]);
        return base + (options_.jitter_percent ? random_.below(base * options_.jitter_percent / 100 + 1) : 0);
    }
    void cut(std::uint32_t from, std::uint32_t to, Moment until) {
        if (from == to) return;
        auto& known = cuts_[from][to];
        known = std::max(known, until);
    }
    Place place(std::uint32_t node) const { return places_[node]; }

    std::uint64_t messages = 0;

private:
    /// TCP sends again, with a growing pause: after a cut the bytes come late.
    Moment arrival(std::uint32_t from, std::uint32_t to, Moment now) {
        auto at = now + delay(from, to);
        if (from == to) return at;
        constexpr Moment retransmission = 200 * ms;
        while (random_.below(1'000'000) < options_.loss_ppm)
            at += retransmission + random_.below(2 * distance(places_[from], places_[to]) + 1);
        auto const cut = cuts_[from].find(to);
        if (cut == cuts_[from].end() || cut->second <= now) return at;
        auto const again = cut->second + delay(from, to);
        auto const pause = options_.backoff ? random_.below((cut->second - now) / 2 + 1) : 0;
        return std::max(at, again + pause);
    }

    NetworkOptions const options_;
    std::vector<Place> const places_;
    Random& random_;
    Events& events_;
    std::deque<Connection> connections_;
    std::vector<std::unordered_map<std::uint32_t, Moment>> cuts_;   // by sender and receiver: until when
};

}   // namespace garner::group::simulated
