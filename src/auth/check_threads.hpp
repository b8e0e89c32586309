// The threads that check credentials.
#pragma once
#include <cstddef>
#include <utility>

#include "auth/credentials.hpp"
#include "io/pool.hpp"

namespace garner::auth {

/// Thread-safe. Tickets have a thread of their own, so that neither passwords nor a silent directory delay them. It is one, because
/// MIT's Kerberos library has locks of the whole process: two threads would wait for each other at each ticket.
class CheckThreads {
public:
    /// At most `waiting_max` tickets are queued, and as many others. Throws std::system_error if a thread cannot be started.
    CheckThreads(unsigned threads, std::size_t waiting_max) : others_(threads, waiting_max), tickets_(1, waiting_max) {}

    /// Those for credentials other than tickets.
    std::size_t threads() const { return others_.threads(); }
    /// False, and nothing done, when the queue is full.
    bool run(Scheme scheme, io::Pool::Job job) { return (scheme == Scheme::negotiate ? tickets_ : others_).run(std::move(job)); }

    /// Ends `former` after its running checks. Those that wait there, wait here.
    void take_over(CheckThreads& former) {
        for (auto& job : former.others_.close()) others_.run(std::move(job));
        for (auto& job : former.tickets_.close()) tickets_.run(std::move(job));
    }
    /// After take_over(), of the former one: no check runs any more, and stop() does not wait.
    bool has_ended() {
        bool const others_ended = others_.has_ended();
        return tickets_.has_ended() && others_ended;
    }
    /// Waits for running checks, and drops queued ones.
    void stop() {
        others_.stop();
        tickets_.stop();
    }

private:
    io::Pool others_, tickets_;
};

}   // namespace garner::auth
