// One direction of the line, which is divided among flows, for all workers.
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "net/wake.hpp"
#include "share/fair_queue.hpp"
#include "share/token_bucket.hpp"
#include "util/clock.hpp"
#include "util/mutex.hpp"

namespace garner::share {

/// The use of one subject in one direction. Guarded by the mutex of its line.
class LineFlow : public Flow {
private:
    friend class Line;
    std::uint32_t owed_ = 0;           // charged by requests that ended before it was paid
    float recent_ = 0;                 // bytes of the last seconds, the latest count most
    std::uint32_t recent_at_ms_ = 0;   // on the steady clock
    Bytes total_ = 0;
};

/// A flow at one moment.
struct FlowFigures {
    Bytes bytes = 0;
    double bytes_per_second = 0;
    std::uint64_t waiting = 0;   // tickets
    float weight = 1;

    FlowFigures& operator+=(FlowFigures const& other) {
        bytes += other.bytes;
        bytes_per_second += other.bytes_per_second;
        waiting += other.waiting;
        return *this;
    }
};

/// Bytes are charged after they have moved. Unpaid bytes are owed: the next read waits for its turn in the queue.
/// Thread-safe.
class Line {
public:
    /// A place in the queue. Its owner calls leave() before it ends.
    struct Place : Ticket {
        net::WakeHandle handle;
        Bytes old_debt = 0;   // the part of `bytes` that earlier requests left
        bool is_served = false;
    };

    /// `burst`: the bytes that may pass at once after a pause, as time. Without a rate no flow waits.
    struct Settings {
        Bytes rate = 0;   // bytes a second
        milliseconds burst{10};
        Bytes credit = 0;
    };
    void configure(Settings const& settings, SteadyTime now);
    /// The most that is read at once. A slow line needs small pieces: a long one would hold up all others.
    Bytes piece() const { return piece_.load(std::memory_order_relaxed); }
    Bytes rate() const { return rate_.load(std::memory_order_relaxed); }
    void set_weight(LineFlow& flow, float weight);

    /// Counts bytes of the flow. True: they are paid. False: the caller owes them.
    bool charge(LineFlow& flow, Bytes bytes, SteadyTime now);
    /// The bytes are paid by the next one that enters for this flow.
    void leave_debt(LineFlow& flow, Bytes bytes);
    /// Takes a place for bytes that are owed. False if there is nothing to wait for: no bytes are owed, and the flow has
    /// no other place.
    bool enter(LineFlow& flow, Place& place, Bytes bytes);
    /// For a further wait with the same place. Wakes the handle at once if the place was served.
    void renew(Place& place, net::WakeHandle handle);
    bool is_served(Place const& place) const;
    /// True if it was served: the bytes are paid.
    bool leave(LineFlow& flow, Place& place);
    /// Serves and wakes the places whose turn has come.
    void serve(SteadyTime now);

    /// True if this line, with no other flow, is as a new one: nothing is owed, and a whole burst may pass.
    bool is_idle(LineFlow const& flow, SteadyTime now);
    /// The less, the sooner it is served.
    double tag(LineFlow const& flow) const;
    /// Calls compare(tag), where tag(flow) is the tag of a flow, under one lock.
    void compare_tags(auto&& compare) const {
        MutexLock const lock(mutex_);
        compare([this](LineFlow const& flow) {
            mutex_.assert_held();
            return queue_.tag(flow);
        });
    }
    FlowFigures figures(LineFlow const& flow, SteadyTime now) const;
    /// The sum of all flows.
    FlowFigures figures() const;

private:
    bool may_pass(LineFlow const& flow, Bytes bytes) const REQUIRES(mutex_);
    void note(LineFlow& flow, Bytes bytes, SteadyTime now) REQUIRES(mutex_);
    void add_debt(LineFlow& flow, Bytes bytes) REQUIRES(mutex_);
    void serve_all(net::WakeHandles& woken) REQUIRES(mutex_);

    std::atomic<Bytes> rate_{0};
    std::atomic<Bytes> piece_{64 * KiB};
    mutable Mutex mutex_;
    FairQueue queue_ GUARDED_BY(mutex_);
    TokenBucket bucket_ GUARDED_BY(mutex_);
    Bytes overdraft_ GUARDED_BY(mutex_) = 0;
    Bytes total_ GUARDED_BY(mutex_) = 0;
};

}   // namespace garner::share
