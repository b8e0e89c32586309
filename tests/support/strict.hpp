// A strict parser for the end of a response: RFC 9112 to the letter, without code of the proxy.
#pragma once
#include <string>
#include <string_view>

namespace garner::test {

/// The result of a strict client for the bytes of one connection.
struct StrictAnswer {
    enum class End {
        whole,         // the length given by its head
        at_close,      // ends with the connection
        short_of_it,   // bytes are missing
        refused,       // no HTTP/1, or ambiguous
    };
    End end = End::short_of_it;
    int status = 0;   // status of the final response; 0: none
    std::string body = {};
    std::size_t bytes = 0;   // length including interim responses, if whole

    /// True if the response is complete once the peer has closed.
    bool complete() const { return end == End::whole || end == End::at_close; }
};

/// `bytes`: everything until the peer closed, or so far.
StrictAnswer read_strictly(std::string_view bytes, std::string_view method);

/// For responses of origins: like read_strictly(), but with the repairs that RFC 9112 lets a recipient make.
StrictAnswer read_tolerantly(std::string_view bytes, std::string_view method);

}   // namespace garner::test
