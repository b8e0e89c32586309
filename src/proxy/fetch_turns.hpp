// How many fetches one client connection may run to one origin at a time.
#pragma once
#include <list>
#include <unordered_map>
#include <utility>

#include "net/waiter.hpp"
#include "util/clock.hpp"
#include "util/hash.hpp"

namespace garner::proxy {

/// A hundred streams of an HTTP/2 connection must not open a hundred connections to an origin, as a browser never does. Fetches
/// that take longer than a second do not count: they may wait for an event. Belongs to one connection.
class FetchTurns {
public:
    static constexpr std::size_t most = 16;
    static constexpr milliseconds young{1'000};

    /// Ends a fetch when it is destroyed. Must not outlive the FetchTurns. Move-only; an empty one does nothing.
    class Turn {
    public:
        Turn() = default;
        Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)), origin_(other.origin_), begun_(other.begun_) {}
        Turn& operator=(Turn&& other) noexcept {
            end();
            turns_ = std::exchange(other.turns_, nullptr);
            origin_ = other.origin_;
            begun_ = other.begun_;
            return *this;
        }
        ~Turn() { end(); }
        void end() {
            if (auto* turns = std::exchange(turns_, nullptr)) turns->end(origin_, begun_);
        }

    private:
        friend class FetchTurns;
        Turn(FetchTurns& turns, Fingerprint origin, std::list<SteadyTime>::iterator begun)
            : turns_(&turns), origin_(origin), begun_(begun) {}
        FetchTurns* turns_ = nullptr;
        Fingerprint origin_ = 0;
        std::list<SteadyTime>::iterator begun_{};
    };

    /// Waits until fewer than `most` young fetches to this origin run.
    net::awaitable<Turn> take(Fingerprint origin, net::Executor executor);

private:
    struct Origin {
        std::list<SteadyTime> running;   // the times at which they began
        std::list<net::WakeHandle> waiting;
    };
    /// How long until one more may begin, if none ends; zero: now.
    static milliseconds delay(Origin const& origin, SteadyTime now);
    void end(Fingerprint origin, std::list<SteadyTime>::iterator begun);

    std::unordered_map<Fingerprint, Origin> origins_;
};

}   // namespace garner::proxy
