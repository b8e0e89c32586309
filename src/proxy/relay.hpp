// Relays bytes in both directions between two connections until both have ended: tunnels and switched protocols.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string_view>

#include "net/transport.hpp"
#include "net/waiter.hpp"
#include "net/worker.hpp"
#include "share/account.hpp"

namespace garner::proxy {

struct RelayLimits {
    milliseconds idle{600'000};   // without a byte in either direction
    milliseconds total{86'400'000};
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

    /// Ends the relay soon.
    void abort();

    Bytes to_client() const { return to_client_; }
    bool out_of_time() const { return idle_.expired() || total_.expired(); }

private:
    struct Direction {
        net::Transport& from;
        net::Transport& to;
        Bytes& count;
        std::string_view first;
        share::Direction on_line;
    };
    net::awaitable<void> upstream(std::string_view first);
    net::awaitable<bool> relay(Direction& way);
    void watch_reset(net::Transport& half_closed);
    bool owes(Direction const& way) const { return account_ && account_->owes(way.on_line); }
    net::awaitable<void> settle(Direction& way);
    std::size_t most_at_once(Direction const& way, std::size_t most) const;
    net::awaitable<bool> splice(Direction& way);
    net::awaitable<bool> copy(Direction& way);
    net::awaitable<net::Error> pass_on(Direction& way);
    void moved(Direction& way, Bytes bytes);
    net::awaitable<bool> pipe_to(int pipe, std::size_t bytes, Direction& way);

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
    bool aborted_ = false;
    net::WakeHandle joined_;
    std::shared_ptr<Relay> const watched_{this, [](Relay*) {}};   // pending waits for a reset outlive the relay
    Bytes to_client_ = 0;
    Bytes to_origin_ = 0;
};

}   // namespace garner::proxy
