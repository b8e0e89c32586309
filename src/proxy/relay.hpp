// Relays bytes in both directions between two connections until both have ended: tunnels and switched protocols.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string_view>

#include "net/transport.hpp"
#include "net/waiter.hpp"
#include "net/worker.hpp"
#include "proxy/pipe.hpp"
#include "share/account.hpp"

namespace garner::proxy {

struct RelayLimits {
    milliseconds idle{600'000};   // without a byte in either direction
    milliseconds total{86'400'000};
};

/// One direction of a tunnel, between two processes.
struct RelayedWay {
    Pipe pipe = {};       // has the bytes; unusable if there are none
    Bytes in_pipe = 0;    // bytes that were received and not sent
    bool ended = false;   // in order: the receiver knows
};

/// Plain connections are spliced through a pipe, so that the bytes stay in the kernel; others are copied. A half-close is
/// passed on, and the other direction continues until it ends or the connection is reset. Belongs to one worker.
class Relay {
public:
    /// `pipes`: how many more pipes the process may open. A tunnel takes two; without them it copies. `moved` is called
    /// whenever bytes were received or sent, and at the end. It charges `account`, which makes the relay wait for the line; null:
    /// nothing does.
    Relay(net::Worker& worker, net::Transport& client, net::Transport& origin, RelayLimits limits, std::atomic<std::int64_t>& pipes,
          std::function<void()> moved, share::Account* account);

    /// First sends the bytes that were read already, then relays. Returns when both directions have ended or a limit was
    /// reached.
    net::awaitable<void> run(std::string_view from_client, std::string_view from_origin);
    /// Before run(): goes on where a relay of another process has left.
    void go_on(RelayedWay up, RelayedWay down);

    /// Ends the relay soon.
    void abort();
    /// Plain connections: run() returns as soon as no bytes are left outside of pipes, with both connections open, unless the tunnel
    /// ends before.
    void leave();
    /// After run(): leave() has ended it. Another relay goes on with these ways.
    bool has_left() const { return up_.end == End::left || down_.end == End::left; }
    RelayedWay take_up() { return std::move(up_.state); }
    RelayedWay take_down() { return std::move(down_.state); }

    Bytes to_client() const { return down_.count; }
    bool out_of_time() const { return idle_.expired() || total_.expired(); }

private:
    enum class End : std::uint8_t { none, in_order, failed, left };
    struct Direction {
        net::Transport& from;
        net::Transport& to;
        share::Direction on_line;
        Bytes count = 0;
        RelayedWay state = {};
        bool holds = false;   // bytes that are in no pipe
        End end = End::none;
    };
    net::awaitable<void> upstream(std::string_view first);
    net::awaitable<void> run_way(Direction& way, std::string_view first);
    net::awaitable<End> relay(Direction& way, std::string_view first);
    net::awaitable<bool> send_first(Direction& way, std::string_view first);
    /// No bytes are outside of pipes, and it is to leave.
    bool may_leave() const { return leaves_ && !up_.holds && !down_.holds; }
    End broken() const { return may_leave() && !aborted_ ? End::left : End::failed; }
    void hold(Direction& way, bool holds);
    void watch_reset(net::Transport& half_closed);
    bool owes(Direction const& way) const { return account_ && account_->owes(way.on_line); }
    bool is_over() const { return account_ && account_->is_over(); }
    net::awaitable<void> settle(Direction& way);
    std::size_t most_at_once(Direction const& way, std::size_t most) const;
    net::awaitable<End> splice(Direction& way);
    net::awaitable<End> copy(Direction& way);
    net::awaitable<net::Error> pass_on(Direction& way);
    void moved(Direction& way, Bytes bytes);
    net::awaitable<bool> empty_pipe(Direction& way);

    net::Worker& worker_;
    net::Transport& client_;
    net::Transport& origin_;
    RelayLimits limits_;
    std::atomic<std::int64_t>& pipes_;
    std::function<void()> moved_;
    net::Deadline idle_;
    net::Deadline total_;
    share::Account* const account_;
    bool upstream_running_ = false;
    bool aborted_ = false, leaves_ = false;
    net::WakeHandle joined_;
    std::shared_ptr<Relay> const watched_{this, [](Relay*) {}};   // pending waits for a reset outlive the relay
    Direction up_, down_;
};

}   // namespace garner::proxy
