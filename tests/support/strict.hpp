// Where an answer ends, read with no mercy: RFC 9112 by its letter, and no code in common with the proxy.
#pragma once
#include <string>
#include <string_view>

namespace garner::test {

/// What a client that never guesses makes of the bytes of one connection.
struct StrictAnswer {
    enum class End {
        whole,         // as long as its head says
        at_close,      // for want of a length, all that there is
        short_of_it,   // bytes are missing
        refused,       // no HTTP/1, or readable in two ways
    };
    End end = End::short_of_it;
    int status = 0;   // of the final answer; 0 when there is none
    std::string body = {};
    std::size_t bytes = 0;   // of the answer with its interim ones, when it is whole

    /// The peer closes behind it: is that all of it?
    bool complete() const { return end == End::whole || end == End::at_close; }
};

/// `bytes`: all that came before the peer closed its side, or so far.
StrictAnswer read_strictly(std::string_view bytes, std::string_view method);

}   // namespace garner::test
