// Sends the objects in memory to the process that takes over.
#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>
#include <thread>
#include <vector>

#include "cache/value_walk.hpp"
#include "store/object_stream.hpp"
#include "takeover/wants.hpp"
#include "util/clock.hpp"

namespace garner::app {

/// Works on a thread of its own: sends the most valuable tenth at once, and the others after go(). Those that the other process
/// asks for come before them.
class ObjectSender {
public:
    /// Owns the socket, of type SOCK_STREAM. Each removal from `memory` from now on must be told to the other process.
    ObjectSender(cache::MemoryTier& memory, int socket);
    /// Ends early if something is left to be sent.
    ~ObjectSender();

    /// Waits at most `patience` until the first tenth is sent.
    void wait_for_first(milliseconds patience) const;
    /// The other process serves. Objects are freed when they are sent, but the most valuable tenth serves the requests of the next
    /// `keep`; then memory is emptied.
    void go(milliseconds keep);
    /// Everything is sent, or the other process does not read any more.
    bool is_over() const { return phase_ == Phase::over; }

private:
    enum class Phase : std::uint8_t { first, waits, goes, over };
    void run();
    bool wait_for_go() const;
    void send_first();
    void send_rest();
    void send_some(std::vector<cache::ValueWalk::Walked> const& some);
    void answer_wants();
    void trim();
    bool send(std::string_view bytes) const;
    void free_all();

    cache::MemoryTier& memory_;
    int const socket_;
    cache::ValueWalk walk_;
    store::ObjectWriter writer_;
    takeover::Wants wants_;
    Bytes const all_;     // at the beginning
    Bytes trimmed_ = 0;   // sent when freed memory was returned to the system
    std::atomic<Phase> phase_{Phase::first};
    std::atomic<bool> gone_{false}, stopped_{false};
    std::atomic<SteadyTime> keep_until_{SteadyTime{}};
    std::thread thread_;
};

}   // namespace garner::app
