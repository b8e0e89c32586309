// One read from a TCP socket, which tells whether another one would find nothing.
#pragma once
#include <cstddef>
#include <span>

#include "net/asio.hpp"
#include "net/head_buffer.hpp"

namespace garner::net {

/// From now on receive() knows whether the socket is drained. Sockets that a listening socket accepts inherit this.
void report_drained(int descriptor);

struct Received {
    Error error;   // asio::error::eof at an orderly end, would_block when there is nothing
    std::size_t bytes = 0;
    bool drained = false;   // neither bytes nor an orderly end are left; a reset may be
};
/// Never waits.
Received receive(int descriptor, std::span<char> into);
/// True if receive() would find bytes, the end or an error. Takes nothing from the socket.
bool is_readable(int descriptor);

/// Result of an asynchronous read, known before its handler runs.
struct Reading {
    HeadBuffer* late = nullptr;   // takes memory when there is something to read, instead of `into`
    std::span<char> into = {};    // empty without `late`: the read has no reader yet, and is done when the socket is readable
    bool done = false;
    bool drained = false;   // see Received
};
/// The buffer of an asynchronous read. Asio then reads by receive(), and after a read that drained the socket the next one waits
/// for an event before it tries. Asio's own reads cannot know this, and try once more.
struct DrainingBuffer : asio::mutable_buffer {
    /// Asio would complete a read into an empty buffer at once.
    explicit DrainingBuffer(Reading& reading) : asio::mutable_buffer(&reading, 1), reading(&reading) {}
    Reading* reading;
};

}   // namespace garner::net

template <>
inline boost::asio::detail::reactor_op::status
boost::asio::detail::reactive_socket_recv_op_base<garner::net::DrainingBuffer>::do_perform(reactor_op* base) {
    auto& read = *static_cast<reactive_socket_recv_op_base*>(base);
    auto& reading = *read.buffers_.reading;
    auto* const late = reading.late;
    if (late) late->take();
    auto const into = late ? std::span(late->data(), late->size()) : reading.into;
    if (into.empty()) {
        reading.done = garner::net::is_readable(read.socket_);
        return reading.done ? done : not_done;
    }
    auto const received = garner::net::receive(read.socket_, into);
    if (received.error == boost::asio::error::would_block) {
        if (late) late->release();
        return not_done;
    }
    read.ec_ = received.error;
    read.bytes_transferred_ = received.bytes;
    reading.done = true;
    reading.drained = received.drained;
    return received.drained ? done_and_exhausted : done;
}
