#include "proxy/relay.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <cerrno>

#include "net/carrier.hpp"

namespace garner::proxy {

namespace {

constexpr Bytes bytes_per_turn = 256 * KiB;   // then other connections have their turn

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

/// A wait for an error also ends when both directions are closed, and by urgent data.
bool is_reset(net::Transport& connection) {
    int error = 0;
    socklen_t size = sizeof error;
    return ::getsockopt(connection.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error != 0;
}

}   // namespace

Relay::Relay(net::Worker& worker, net::Transport& client, net::Transport& origin, RelayLimits limits,
             std::atomic<std::int64_t>& pipes, std::function<void()> moved, share::Account* account)
    : worker_(worker), client_(client), origin_(origin), limits_(limits), pipes_(pipes), moved_(std::move(moved)),
      idle_(
          worker.wheel, [](void* self) { static_cast<Relay*>(self)->abort(); }, this),
      total_(
          worker.wheel, [](void* self) { static_cast<Relay*>(self)->abort(); }, this),
      account_(account), up_{client, origin, share::Direction::up}, down_{origin, client, share::Direction::down} {}

void Relay::abort() {
    aborted_ = true;
    if (account_) account_->abort();
    client_.cancel();
    origin_.cancel();
}

void Relay::go_on(RelayedWay up, RelayedWay down) {
    up_.state = std::move(up);
    down_.state = std::move(down);
}

void Relay::leave() {
    leaves_ = true;
    if (!may_leave()) return;
    if (account_) account_->abort();
    client_.cancel();
    origin_.cancel();
}

void Relay::hold(Direction& way, bool holds) {
    way.holds = holds;
    if (!holds && leaves_) leave();   // the other direction waits
}

net::awaitable<void> Relay::run(std::string_view from_client, std::string_view from_origin) {
    idle_.arm(limits_.idle);
    total_.arm(limits_.total);
    up_.holds = !from_client.empty();
    down_.holds = !from_origin.empty();
    upstream_running_ = true;
    auto other = upstream(from_client);
    net::asio::co_spawn(worker_.io.get_executor(), std::move(other), net::asio::detached);
    co_await run_way(down_, from_origin);
    while (upstream_running_) {
        net::Waiter waiter(worker_.io.get_executor());
        joined_ = waiter.handle();
        co_await waiter.wait(net::recheck_interval);
    }
    idle_.disarm();
    total_.disarm();
    moved_();
}

void Relay::moved(Direction& way, Bytes bytes) {
    way.count += bytes;
    moved_();
}

net::awaitable<void> Relay::upstream(std::string_view first) {
    co_await run_way(up_, first);
    upstream_running_ = false;
    joined_.wake(net::Wake::ready);
}

/// A tunnel with one side that has failed ends. One that has left before it is left no more.
net::awaitable<void> Relay::run_way(Direction& way, std::string_view first) {
    way.end = co_await relay(way, first);
    if (way.end != End::left) way.state.pipe = {};
    if (way.end == End::failed) abort();
    if (!aborted_) co_return;
    for (auto* side : {&up_, &down_})
        if (side->end == End::left) side->end = End::failed;
}

/// To wait for the line is no silence.
net::awaitable<void> Relay::settle(Direction& way) {
    if (is_over()) co_return;
    co_await account_->settle(way.on_line);
    if (!aborted_) idle_.arm(limits_.idle);
}

std::size_t Relay::most_at_once(Direction const& way, std::size_t most) const {
    return account_ ? std::min<std::size_t>(most, account_->piece(way.on_line)) : most;
}

/// An orderly end is passed on.
net::awaitable<Relay::End> Relay::relay(Direction& way, std::string_view first) {
    if (way.state.ended) {
        watch_reset(way.from);
        co_return End::in_order;
    }
    bool const sent = co_await send_first(way, first);
    if (!sent) co_return End::failed;
    bool const plain = way.from.can_splice() && way.to.can_splice();
    End end;
    if (plain)
        end = co_await splice(way);
    else
        end = co_await copy(way);
    if (end == End::in_order) {
        way.state.ended = true;
        way.to.shutdown_send();
        watch_reset(way.from);
    }
    co_return end;
}

net::awaitable<bool> Relay::send_first(Direction& way, std::string_view first) {
    if (first.empty()) co_return true;
    auto const sent = co_await way.to.write(first, limits_.idle);
    moved(way, sent.bytes);
    if (sent.error) co_return false;
    hold(way, false);
    co_return true;
}

/// Nothing is read from a connection after its half-close, so its reset would show only at the next write. The wait starts only
/// then, because during it each read takes one more system call.
void Relay::watch_reset(net::Transport& half_closed) {
    auto const look = [relay = std::weak_ptr<Relay>(watched_), &half_closed] {
        if (auto const self = relay.lock(); self && (half_closed.carrier() || is_reset(half_closed))) self->abort();
    };
    if (auto* const carrier = half_closed.carrier()) return carrier->on_reset(look);
    half_closed.socket().async_wait(net::TcpSocket::wait_error, [look](net::Error const& error) {
        if (!error) look();
    });
}

net::awaitable<Relay::End> Relay::splice(Direction& way) {
    auto& pipe = way.state.pipe;
    if (!pipe.usable()) pipe = Pipe(pipes_);
    if (!pipe.usable()) co_return co_await copy(way);
    for (;;) {
        bool const is_empty = co_await empty_pipe(way);
        if (!is_empty) co_return broken();
        if (owes(way)) co_await settle(way);
        if (is_over()) co_return End::failed;
        if (aborted_ || may_leave()) co_return broken();
        auto const most = most_at_once(way, Pipe::bytes);
        auto const bytes = ::splice(way.from.descriptor(), nullptr, pipe.in(), nullptr, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        if (bytes == 0) co_return End::in_order;
        if (bytes < 0) {
            if (errno == EINTR) continue;
            if (errno == EINVAL) {   // this kernel or socket does not support it
                pipe = {};
                co_return co_await copy(way);
            }
            if (!would_block()) co_return End::failed;
            auto [error] = co_await way.from.socket().async_wait(net::TcpSocket::wait_read, net::as_values);
            if (error) co_return broken();
            continue;
        }
        idle_.arm(limits_.idle);
        way.state.in_pipe = static_cast<Bytes>(bytes);
        way.from.count_spliced(way.state.in_pipe, 0);
    }
}

/// False if the tunnel ends before.
net::awaitable<bool> Relay::empty_pipe(Direction& way) {
    auto& left = way.state.in_pipe;
    while (left > 0) {
        if (aborted_ || may_leave()) co_return false;
        auto const sent =
            ::splice(way.state.pipe.out(), nullptr, way.to.descriptor(), nullptr, left, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        if (sent > 0) {
            left -= static_cast<Bytes>(sent);
            way.to.count_spliced(0, static_cast<Bytes>(sent));
            moved(way, static_cast<Bytes>(sent));
            continue;
        }
        if (sent < 0 && errno == EINTR) continue;
        if (sent == 0 || !would_block()) co_return false;
        auto [error] = co_await way.to.socket().async_wait(net::TcpSocket::wait_write, net::as_values);
        if (error) co_return false;
        idle_.arm(limits_.idle);
    }
    co_return true;
}

net::awaitable<Relay::End> Relay::copy(Direction& way) {
    for (net::Error error = net::asio::error::would_block; !aborted_;) {
        if (may_leave()) co_return End::left;
        if (error == net::asio::error::would_block)
            error = co_await way.from.wait_input(limits_.total);
        else
            co_await net::asio::post(worker_.io.get_executor(), net::as_values);
        if (aborted_ || may_leave()) co_return broken();
        if (!error) error = co_await pass_on(way);
        if (owes(way)) co_await settle(way);
        if (is_over()) break;
        if (error == net::asio::error::eof) co_return End::in_order;
        if (error && error != net::asio::error::would_block) break;
    }
    co_return End::failed;
}

/// Passes on what has arrived, at most bytes_per_turn, and sends it in few writes. A tunnel holds a buffer only meanwhile. Returns
/// the error that ended this: would_block when nothing is left.
net::awaitable<net::Error> Relay::pass_on(Direction& way) {
    auto const buffer = worker_.buffers.take();
    std::span<char> const into(buffer.get(), most_at_once(way, net::BufferPool::size));
    net::Error end;
    hold(way, true);
    for (Bytes passed = 0; passed < most_at_once(way, bytes_per_turn) && !end;) {
        auto const read = way.from.try_read(into);
        end = read.error;
        if (end) break;
        idle_.arm(limits_.idle);
        passed += read.bytes;
        iovec part{buffer.get(), read.bytes};
        std::span<iovec> parts(&part, 1);
        auto sent = way.to.try_write(parts, true);
        moved(way, sent.bytes);
        if (sent.error == net::asio::error::would_block) {
            sent = co_await way.to.write(parts, limits_.idle);
            moved(way, sent.bytes);
        }
        if (sent.error) co_return sent.error;
    }
    std::span<iovec> const kept;
    auto const sent = co_await way.to.write(kept, limits_.idle);
    if (!sent.error) hold(way, false);
    co_return sent.error ? sent.error : end;
}

}   // namespace garner::proxy
