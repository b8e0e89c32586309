// Ends the connection of a client that takes a response too slowly.
#pragma once
#include "net/deadline.hpp"
#include "proxy/client_stream.hpp"
#include "util/least_rate.hpp"

namespace garner::proxy {

/// Only what the client takes once its socket was full counts, and only the time that was spent waiting for it: an origin may
/// be as slow as it likes. Costs nothing while the socket takes all. Belongs to one worker.
class SendPace {
public:
    SendPace(ClientStream& client, net::DeadlineWheel& wheel)
        : client_(client), check_(wheel, [](void* self) { static_cast<SendPace*>(self)->check(); }, this) {}

    /// The next response.
    void begin(LeastRate const& least) {
        least_ = least;
        waited_ = {};
        full_ = too_slow_ = false;
    }

    /// The socket is full. From now on until resume() the client is waited for, and cancelled when it is too slow.
    void wait() {
        if (least_.per_second == 0) return;
        if (!full_) sent_before_ = client_.transport().sent();
        full_ = true;
        since_ = steady_now();
        auto const left = least_.after - std::chrono::duration_cast<milliseconds>(waited_);
        check_.arm(std::max(left, recheck));
    }
    void resume() {
        if (least_.per_second == 0) return;
        check_.disarm();
        look();
    }
    /// It was, and nothing more can be sent to it.
    bool too_slow() const { return too_slow_; }

private:
    static constexpr milliseconds recheck{100};
    void look() {
        auto const now = steady_now();
        waited_ += now - std::exchange(since_, now);
    }
    void check() {
        look();
        too_slow_ = is_too_slow(client_.transport().sent() - sent_before_, waited_, least_);
        if (too_slow_)
            client_.cancel();
        else
            check_.arm(10 * recheck);
    }

    ClientStream& client_;
    net::Deadline check_;
    LeastRate least_;
    SteadyTime since_{};
    SteadyTime::duration waited_{};
    Bytes sent_before_ = 0;
    bool full_ = false;          // it was once, in this response
    bool too_slow_ = false;
};

}  // namespace garner::proxy
