// Events of a simulation in the order of their time, and clocks that are not exact.
#pragma once
#include <cstdint>
#include <queue>
#include <vector>

#include "group/times.hpp"

namespace garner::group::simulated {

using Moment = std::int64_t;   // microseconds of the simulation
inline constexpr Moment us = 1, ms = 1'000, second = 1'000'000;

struct Event {
    enum class Kind : std::uint8_t {
        wire,        // a connection delivers: `a` connection, `b` direction
        tick,        // of the member at a node
        client,      // a client of a node sends a request
        request,     // a request arrives at a cache: `a` its fetch
        at_origin,   // a request arrives at the origin: `a` its fetch
        response,    // `a` fetch
        publish,     // the origin has a new version, and an invalidation is submitted
        fault,       // something breaks
        restart,     // of a node
        script       // of a scene: `a` its number
    };
    Moment at = 0;
    std::uint64_t order = 0;
    Kind kind = Kind::tick;
    std::uint32_t node = 0;
    std::uint32_t life = 0;   // of the node: events of an earlier one are void
    std::uint64_t a = 0, b = 0;
};

class Events {
public:
    void add(Event event) {
        event.order = ++count_;
        queue_.push(event);
    }
    bool empty() const { return queue_.empty(); }
    Event take() {
        auto const event = queue_.top();
        queue_.pop();
        return event;
    }

private:
    struct Later {
        bool operator()(Event const& a, Event const& b) const { return a.at != b.at ? a.at > b.at : a.order > b.order; }
    };
    std::priority_queue<Event, std::vector<Event>, Later> queue_;
    std::uint64_t count_ = 0;
};

/// A clock with a rate of its own, in parts per million, that began at any time.
struct Clock {
    Moment began = 0;
    std::int64_t drift = 0;

    Time read(Moment now) const { return Time(began + now + now * drift / 1'000'000); }
    /// The first moment at which it shows this time.
    Moment when(Time time) const {
        auto moment = (time.count() - began) * 1'000'000 / (1'000'000 + drift) - 2;
        while (read(moment) < time) ++moment;
        return moment;
    }
};

}   // namespace garner::group::simulated
