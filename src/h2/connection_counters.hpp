// Counters of the HTTP/2 connections of one worker: written by that worker only, readable from any thread.
#pragma once
#include "util/counter.hpp"

namespace garner::h2 {

/// Why a connection ended with an error.
enum class ConnectionFault : std::uint8_t {
    glitches,   // more than Glitches allows
    flood,      // frames that cause more answers than the client reads, or a head without an end
    large_head,
    protocol,   // invalid frames (RFC 9113 5.4.1)
    count_
};
char const* text(ConnectionFault);

struct Counters {
    Counter streams;           // begun; those that were refused at once are not
    Counter streams_ended;     // the difference is open or has a request that runs
    Counter streams_refused;   // by REFUSED_STREAM
    CounterOf<ConnectionFault> faults;
};

}   // namespace garner::h2
