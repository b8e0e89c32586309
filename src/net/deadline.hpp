// Deadlines with 100 ms resolution: a timer wheel per worker, for the many waits that almost never expire.
#pragma once
#include <array>
#include <cstdint>

#include "net/asio.hpp"
#include "util/clock.hpp"
#include "util/intrusive_list.hpp"

namespace garner::net {

class DeadlineWheel;

/// One deadline. Rearming a running deadline costs a few stores: it is moved lazily, when its old slot is reached. Belongs
/// to one worker; not thread-safe. Runs `action` on that worker at most once per arm().
class Deadline : private Link {
public:
    using Action = void (*)(void* owner);
    Deadline(DeadlineWheel& wheel, Action action, void* owner) : wheel_(wheel), action_(action), owner_(owner) {}

    /// Expires after `delay`, rounded up to the next 100 ms and never early. Clears expired().
    void arm(milliseconds delay);
    void disarm() { tick_ = never; }
    /// True from the expiry until the next arm().
    bool expired() const { return expired_; }

private:
    friend class DeadlineWheel;
    template <class>
    friend class garner::List;
    static constexpr std::uint64_t never = UINT64_MAX;
    DeadlineWheel& wheel_;
    Action action_;
    void* owner_;
    std::uint64_t tick_ = never;
    std::uint64_t slot_tick_ = never;   // the tick of the slot it is linked in
    bool expired_ = false;
};

/// 1,024 slots of 100 ms. Ticks only after start(); allocates nothing.
class DeadlineWheel {
public:
    explicit DeadlineWheel(asio::io_context& io) : timer_(io) {}
    void start();
    void stop();
    /// Called every tick (100 ms) on the worker, after the deadlines; for the worker's periodic work.
    void on_tick(Deadline::Action action, void* owner) {
        tick_action_ = action;
        tick_owner_ = owner;
    }

private:
    friend class Deadline;
    static constexpr std::size_t slots = 1024;
    static constexpr milliseconds tick_length{100};
    void place(Deadline&);
    void schedule();
    void advance();
    void run_slot(std::uint64_t tick);

    Timer timer_;
    SteadyTime begun_{};
    std::uint64_t now_ = 0;   // ticks since begun_
    bool running_ = false;
    Deadline::Action tick_action_ = nullptr;
    void* tick_owner_ = nullptr;
    std::array<List<Deadline>, slots> wheel_;
};

}   // namespace garner::net
