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

/// Result of an asynchronous read, known before its handler runs.
struct Reading {
    HeadBuffer* late = nullptr;   // takes memory when there is something to read, instead of the buffer
    bool done = false;
    bool drained = false;   // see Received
};
/// The buffer of an asynchronous read. Asio then reads by receive(), and after a read that drained the socket the next one waits
/// for an event before it tries. Asio's own reads cannot know this, and try once more.
struct DrainingBuffer : asio::mutable_buffer {
    DrainingBuffer(std::span<char> into, Reading& reading) : asio::mutable_buffer(into.data(), into.size()), reading(&reading) {}
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
    auto* const into = late ? late->data() : static_cast<char*>(read.buffers_.data());
    auto const received = garner::net::receive(read.socket_, {into, late ? late->size() : read.buffers_.size()});
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
