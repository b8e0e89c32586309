// Sizes of the flow-control windows for what clients send: request bodies and tunnels (RFC 9113 5.2).
#pragma once
#include <cstdint>

#include "h2/memory_budget.hpp"
#include "util/bytes.hpp"

namespace garner::h2 {

/// Decides the windows of one connection. A window is a promise to hold that many bytes, and cannot be taken back. So the
/// connection's window beyond the initial one is charged to the budget until the connection ends. It covers the windows of
/// all streams that receive, so that a stream whose bytes are not taken does not stop the others. Pure.
class Windows {
public:
    /// The size of both windows that every client may assume (RFC 9113 6.9.2).
    static constexpr Bytes initial = 65'535;

    /// `largest`: the largest window of a stream; that of the connection is up to eight times as large. `streams`: how many
    /// streams may be open.
    Windows(Bytes largest, std::uint32_t streams, Budget& budget)
        : largest_(largest), most_(8 * largest), streams_(streams), charged_(budget) {}

    struct Stream {
        Bytes size = 0;    // 0: it receives nothing
        Bytes taken = 0;   // since the window was raised
    };
    /// The stream begins to receive, with the initial window.
    void open(Stream& stream);
    void close(Stream& stream);
    /// The receiver took `bytes`; `waiting`: received bytes that it has not taken. Doubles the window if the receiver has
    /// taken a whole window, and keeps up.
    void consumed(Stream& stream, Bytes bytes, Bytes waiting);

    Bytes connection() const { return connection_; }

private:
    Bytes most_of_streams() const;
    void grow_connection();

    Bytes const largest_;
    Bytes const most_;
    std::uint32_t const streams_;
    std::uint32_t open_ = 0;
    Bytes sum_ = 0;   // sum of the windows of open streams
    Bytes connection_ = initial;
    Share charged_;
};

}   // namespace garner::h2
