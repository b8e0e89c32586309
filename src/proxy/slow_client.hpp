// Closes the connection of a client that receives a response too slowly.
#pragma once
#include "cache/cache.hpp"
#include "net/deadline.hpp"
#include "proxy/client_stream.hpp"
#include "util/least_rate.hpp"

namespace garner::proxy {

/// Measures only after the client's socket was full, and only the time spent waiting for it: the origin may be slow. A byte
/// counts as received when the client's TCP stack has acknowledged it. Costs nothing while the socket accepts everything.
/// Belongs to one worker.
class SlowClientGuard {
public:
    SlowClientGuard(ClientStream& client, net::DeadlineWheel& wheel, cache::Cache& cache)
        : client_(client), cache_(cache), check_(
                                              wheel, [](void* self) { static_cast<SlowClientGuard*>(self)->check(); }, this) {}

    /// Starts the next response.
    void begin(LeastRate const& least) {
        least_ = least;
        waited_ = {};
        full_ = false;
        object_ = nullptr;
        too_slow_ = nullptr;
    }
    /// The bytes being sent lie in a stored object, until this object ends or sends_nothing_stored() is called.
    class Sending {
    public:
        Sending(SlowClientGuard& pace, store::Object const& object) : pace_(pace) { pace.object_ = &object; }
        ~Sending() { pace_.object_ = nullptr; }
        Sending(Sending const&) = delete;

    private:
        SlowClientGuard& pace_;
    };
    void sends_nothing_stored() { object_ = nullptr; }

    /// The socket is full. Until resume() the client is waited for, and is cancelled when it is too slow.
    void wait() {
        if (!std::exchange(full_, true)) taken_before_ = client_.acknowledged();
        since_ = steady_now();
        first_look_.reset();
        check_.arm(pause);
    }
    void resume() {
        check_.disarm();
        waited_ += steady_now() - since_;
    }
    /// The client was slower than the proxy in this response.
    bool was_full() const { return full_; }
    /// Why the send was cancelled, a literal; null: the client is not too slow.
    char const* too_slow() const { return too_slow_; }

private:
    static constexpr milliseconds pause{1'000};
    /// Used while only this client pins memory that is needed. A faster client soon ends a write, and releases the memory
    /// then.
    LeastRate when_memory_is_needed() const { return {25 * least_.per_second, least_.after / 6}; }

    struct Look {
        SteadyTime at;
        Bytes taken;
    };
    void check() {
        Look const look{steady_now(), client_.acknowledged()};
        waited_ += look.at - std::exchange(since_, look.at);
        if (!first_look_) first_look_ = look;
        auto const& before = *first_look_;
        bool const holds_memory = object_ && is_too_slow(look.taken - before.taken, look.at - before.at, when_memory_is_needed());
        if (is_too_slow(look.taken - taken_before_, waited_, least_))
            too_slow_ = "the client reads more slowly than limits.rate_min";
        else if (holds_memory && cache_.memory().wants_back(*object_))
            too_slow_ = "the client reads too slowly, and the memory of the evicted object is needed";
        if (too_slow_)
            client_.cancel();
        else
            check_.arm(pause);
    }

    ClientStream& client_;
    cache::Cache& cache_;
    net::Deadline check_;
    LeastRate least_;
    store::Object const* object_ = nullptr;
    SteadyTime since_{};
    SteadyTime::duration waited_{};
    Bytes taken_before_ = 0;           // acknowledged bytes when the socket first became full in this response
    std::optional<Look> first_look_;   // during the current write
    bool full_ = false;
    char const* too_slow_ = nullptr;
};

}   // namespace garner::proxy
