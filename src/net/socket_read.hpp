// Reads from a TCP socket without the system call that finds nothing.
#pragma once
#include <span>

#include "net/asio.hpp"

namespace garner::net {

/// Tells with each read how many bytes are left (TCP_INQ, tcp(7)). The option is inherited by accepted sockets. Without it a read
/// works, but tries once before it waits.
void report_unread(int descriptor);

/// One read. True in `drained`: nothing is left, and the end of the stream has not been received. A reset may have been.
struct Received {
    Error error;   // would_block: there is nothing
    std::size_t bytes = 0;
    bool drained = false;
};
Received receive(int descriptor, std::span<char> into);

/// Waits for at least one byte. After a read that left the socket drained, it waits for the next event before it reads.
awaitable<Received> read_some(TcpSocket& socket, std::span<char> into);

}   // namespace garner::net
