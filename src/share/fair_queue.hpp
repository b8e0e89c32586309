// Start-time fair queueing (Goyal, Vin, Cheng 1996) with bounded credit: which of the waiting flows is served next. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <utility>

#include "util/bytes.hpp"
#include "util/intrusive_list.hpp"

namespace garner::share {

/// A number of bytes that wait for their turn. Leaves the queue by FairQueue::remove().
struct Ticket : Link {
    Bytes bytes = 0;
};

class Flow;

/// The tickets of one flow, first come, first served.
struct Backlog {
    List<Ticket> tickets;
    std::uint32_t count = 0;
};

/// One of the parties that share a line; in one queue only.
class Flow {
public:
    float weight() const { return weight_; }

private:
    friend class FairQueue;
    double tag_ = 0;   // virtual time: bytes divided by the weight
    Backlog* backlog_ = nullptr;
    float weight_ = 1;
};

/// The waiting flow with the least tag is served. Each byte served moves its flow's tag on by 1 / weight, so that all waiting flows
/// get equal shares by weight, whatever their number of tickets. A flow that took less than its share begins at most `credit`
/// bytes behind the others, and is served first until it has caught up. Not thread-safe.
class FairQueue {
public:
    void set_credit(Bytes credit) { credit_ = static_cast<double>(credit); }
    /// Must be positive.
    void set_weight(Flow& flow, float weight) { flow.weight_ = weight; }

    bool empty() const { return waiting_.empty(); }
    bool waits(Flow const& flow) const { return flow.backlog_ != nullptr; }
    std::uint32_t tickets(Flow const& flow) const { return flow.backlog_ ? flow.backlog_->count : 0; }
    std::uint64_t tickets() const { return tickets_; }

    /// Serves bytes without a ticket. The flow must not be waiting.
    void charge(Flow& flow, Bytes bytes) { move_on(flow, bytes); }
    /// True if the flow has had less than the flows that were served last, even with these bytes.
    bool is_behind(Flow const& flow, Bytes bytes) const { return tag_after(flow, bytes) <= now_; }
    /// The less, the sooner it is served.
    double tag(Flow const& flow) const { return start(flow); }

    void add(Flow& flow, Ticket& ticket);
    /// A ticket that was not served.
    void remove(Flow& flow, Ticket& ticket);
    /// The next ticket, which leaves the queue. The queue must not be empty.
    Ticket& serve();

private:
    using Key = std::pair<double, Flow*>;
    using Waiting = std::map<Key, Backlog>;
    double start(Flow const& flow) const;
    double tag_after(Flow const& flow, Bytes bytes) const { return start(flow) + static_cast<double>(bytes) / flow.weight_; }
    void move_on(Flow& flow, Bytes bytes);
    void end_backlog(Flow& flow);

    Waiting waiting_;   // by tag
    std::uint64_t tickets_ = 0;
    double now_ = 0;   // virtual time: the greatest tag that was served
    double credit_ = 0;
};

}   // namespace garner::share
