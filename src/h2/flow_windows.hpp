// Sizes of the flow-control windows for what clients send: request bodies and tunnels (RFC 9113 5.2).
#pragma once
#include <cstdint>

#include "h2/memory_budget.hpp"
#include "util/bytes.hpp"

namespace garner::h2 {

/// Decides the windows of one connection. The connection's window covers those of all streams that receive, so that a stream whose
/// bytes are not taken does not stop the others. Beyond the initial one it is charged, and it shrinks when streams end. The client
/// may still use a larger window that it was promised before; a stream is refused if that needs memory that cannot be charged.
/// Pure.
class Windows {
public:
    /// The size of both windows that every client may assume (RFC 9113 6.9.2).
    static constexpr Bytes initial = 65'535;

    /// `largest`: the largest window of a stream; that of the connection is up to eight times as large. `streams`: how many
    /// streams may be open.
    Windows(Bytes largest, std::uint32_t streams, Account& account)
        : largest_(largest), most_(8 * largest), streams_(streams), charged_(account) {}

    struct Stream {
        Bytes size = 0;    // 0: it receives nothing
        Bytes taken = 0;   // since the window was raised
    };
    /// The stream begins to receive, with the initial window. False: it is to be refused. `promised`: the bytes that the client may
    /// send on the connection, and those that are not taken.
    bool open(Stream& stream, Bytes promised);
    void close(Stream& stream);
    /// The receiver took `bytes`; `waiting`: received bytes that it has not taken. Doubles the window if the receiver has
    /// taken a whole window, and keeps up.
    void consumed(Stream& stream, Bytes bytes, Bytes waiting, Bytes promised);

    Bytes connection() const { return connection_; }

private:
    Bytes most_of_streams() const;
    bool add(Bytes bytes, Bytes promised);
    Bytes wanted() const;

    Bytes const largest_;
    Bytes const most_;
    std::uint32_t const streams_;
    std::uint32_t open_ = 0;
    Bytes sum_ = 0;   // sum of the windows of open streams
    Bytes connection_ = initial;
    Share charged_;
};

}   // namespace garner::h2
