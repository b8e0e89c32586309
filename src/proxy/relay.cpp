#include "proxy/relay.hpp"

#include <fcntl.h>
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

constexpr std::size_t pipe_bytes = 256 * KiB;
constexpr Bytes bytes_per_turn = 256 * KiB;   // then other connections have their turn

/// Both ends of a pipe.
struct Pipe {
    int ends[2] = {-1, -1};
    std::atomic<std::int64_t>& left;
    explicit Pipe(std::atomic<std::int64_t>& pipes) : left(pipes) {
        if (left.fetch_sub(1, std::memory_order_relaxed) <= 0) return;
        if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) ends[0] = ends[1] = -1;
        // A larger pipe needs fewer calls; if the system refuses, the default size is used.
        else
            ::fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(pipe_bytes));
    }
    Pipe(Pipe const&) = delete;
    ~Pipe() {
        for (int end : ends)
            if (end >= 0) ::close(end);
        left.fetch_add(1, std::memory_order_relaxed);
    }
    bool usable() const { return ends[0] >= 0; }
};

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
      account_(account) {}

void Relay::abort() {
    aborted_ = true;
    if (account_) account_->abort();
    client_.cancel();
    origin_.cancel();
}

net::awaitable<void> Relay::run(std::string_view from_client, std::string_view from_origin) {
    idle_.arm(limits_.idle);
    total_.arm(limits_.total);
    upstream_running_ = true;
    auto other = upstream(from_client);
    net::asio::co_spawn(worker_.io.get_executor(), std::move(other), net::asio::detached);
    Direction down{origin_, client_, to_client_, from_origin, share::Direction::down};
    bool orderly = co_await relay(down);
    if (!orderly) abort();
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
    Direction up{client_, origin_, to_origin_, first, share::Direction::up};
    bool orderly = co_await relay(up);
    if (!orderly) abort();
    upstream_running_ = false;
    joined_.wake(net::Wake::ready);
}

/// To wait for the line is no silence.
net::awaitable<void> Relay::settle(Direction& way) {
    co_await account_->settle(way.on_line);
    if (!aborted_) idle_.arm(limits_.idle);
}

std::size_t Relay::most_at_once(Direction const& way, std::size_t most) const {
    return account_ ? std::min<std::size_t>(most, account_->piece(way.on_line)) : most;
}

/// True at an orderly end, which is passed on.
net::awaitable<bool> Relay::relay(Direction& way) {
    if (!way.first.empty()) {
        auto sent = co_await way.to.write(way.first, limits_.idle);
        moved(way, sent.bytes);
        if (sent.error) co_return false;
    }
    bool plain = way.from.can_splice() && way.to.can_splice();
    bool orderly;
    if (plain)
        orderly = co_await splice(way);
    else
        orderly = co_await copy(way);
    if (orderly) {
        way.to.shutdown_send();
        watch_reset(way.from);
    }
    co_return orderly;
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

net::awaitable<bool> Relay::splice(Direction& way) {
    Pipe pipe(pipes_);
    if (!pipe.usable()) co_return co_await copy(way);
    for (;;) {
        if (aborted_) co_return false;
        auto const most = most_at_once(way, pipe_bytes);
        auto bytes = ::splice(way.from.descriptor(), nullptr, pipe.ends[1], nullptr, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        if (bytes == 0) co_return true;
        if (bytes < 0) {
            if (errno == EINTR) continue;
            if (errno == EINVAL) co_return co_await copy(way);   // this kernel or socket does not support it
            if (!would_block()) co_return false;
            auto [error] = co_await way.from.socket().async_wait(net::TcpSocket::wait_read, net::as_values);
            if (error) co_return false;
            continue;
        }
        idle_.arm(limits_.idle);
        auto amount = static_cast<std::size_t>(bytes);
        if (!co_await pipe_to(pipe.ends[0], amount, way)) co_return false;
        way.from.count_spliced(amount, 0);
        way.to.count_spliced(0, amount);
        moved(way, amount);
        if (owes(way)) co_await settle(way);
    }
}

net::awaitable<bool> Relay::pipe_to(int pipe, std::size_t bytes, Direction& way) {
    while (bytes > 0) {
        if (aborted_) co_return false;
        auto moved = ::splice(pipe, nullptr, way.to.descriptor(), nullptr, bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        if (moved > 0) {
            bytes -= static_cast<std::size_t>(moved);
            continue;
        }
        if (moved < 0 && errno == EINTR) continue;
        if (moved == 0 || !would_block()) co_return false;
        auto [error] = co_await way.to.socket().async_wait(net::TcpSocket::wait_write, net::as_values);
        if (error) co_return false;
        idle_.arm(limits_.idle);
    }
    co_return true;
}

net::awaitable<bool> Relay::copy(Direction& way) {
    for (net::Error error = net::asio::error::would_block; !aborted_;) {
        if (error == net::asio::error::would_block)
            error = co_await way.from.wait_input(limits_.total);
        else
            co_await net::asio::post(worker_.io.get_executor(), net::as_values);
        if (aborted_) break;
        if (!error) error = co_await pass_on(way);
        if (owes(way)) co_await settle(way);
        if (error == net::asio::error::eof) co_return true;
        if (error && error != net::asio::error::would_block) break;
    }
    co_return false;
}

/// Passes on what has arrived, at most bytes_per_turn, and sends it in few writes. A tunnel holds a buffer only meanwhile. Returns
/// the error that ended this: would_block when nothing is left.
net::awaitable<net::Error> Relay::pass_on(Direction& way) {
    auto const buffer = worker_.buffers.take();
    std::span<char> const into(buffer.get(), most_at_once(way, net::BufferPool::size));
    net::Error end;
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
    co_return sent.error ? sent.error : end;
}

}   // namespace garner::proxy
