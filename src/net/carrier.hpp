// A byte stream that is not a socket, below a Transport.
#pragma once
#include <sys/uio.h>

#include <functional>
#include <span>

#include "net/asio.hpp"

namespace garner::net {

struct IoResult;

/// An HTTP/2 stream that carries a tunnel. Belongs to one worker.
class Carrier {
public:
    virtual ~Carrier() = default;
    /// The bytes that are there; error would_block when there are none, eof at the orderly end.
    virtual IoResult try_receive(std::span<char> into) = 0;
    /// Takes as many bytes as possible and advances `parts`; error would_block when some are left. `more`: another call follows
    /// soon, until which bytes may be kept.
    virtual IoResult try_send(std::span<iovec>& parts, bool more) = 0;
    enum class Direction : bool { receive, send };
    /// Waits until try_receive() or try_send() may succeed; operation_aborted after cancel().
    virtual awaitable<Error> ready(Direction direction) = 0;
    /// Calls `changed` once when try_receive() may succeed, perhaps at once; cancel() forgets it.
    virtual void on_arrival(std::function<void()> changed) = 0;
    /// Calls `reset` once when the other side resets the stream or its connection ends; null: no longer. It replaces an earlier
    /// one.
    virtual void on_reset(std::function<void()> reset) = 0;
    virtual void cancel() = 0;
    virtual void shutdown_send() = 0;
    virtual void close_with_reset() = 0;
};

}   // namespace garner::net
