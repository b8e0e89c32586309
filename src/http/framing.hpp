// Message framing (RFC 9112 6): decided by the raw field lines alone; ambiguous framing is refused.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace garner::http {

/// How the body of one message is delimited.
struct Framing {
    enum class Kind : std::uint8_t { none, length, chunked, until_close };
    Kind kind = Kind::none;
    std::uint64_t length = 0;        // kind == length
    char const* refusal = nullptr;   // not null: refuse the message and close; a literal that names the error
    std::uint16_t status = 400;      // for a refused request: 400, or 501 for an unknown transfer coding
};

/// RFC 9112 6.1-6.3 for requests. Refuses: Content-Length with Transfer-Encoding; Content-Length that is a list, repeats,
/// has a sign, space inside or overflows 2^63-1; Transfer-Encoding with HTTP/1.0; anything but exactly one "chunked".
Framing request_framing(RequestHead const&);

/// Like request_framing(), for responses; `request` is the request's method. HEAD, 1xx, 204, 304 and 2xx to CONNECT have no
/// body, whatever the fields are. A response without length and coding ends with the connection.
Framing response_framing(ResponseHead const&, Method request);

/// The framing of a response that response_framing() refuses, if RFC 9110 8.6 or RFC 9112 6.1 and 6.3 let a recipient settle it:
/// equal values of Content-Length are one, and chunked overrides Content-Length, also in HTTP/1.0. Else the refusal. Other
/// recipients may find another end: the response must not be stored, nor the connection be used again.
Framing settled_response_framing(ResponseHead const&, Method request);

/// The repairs of a message.
enum class Repair : std::uint8_t {
    none,
    clear,     // no recipient finds another end of the message
    doubtful   // some may: the response must not be stored
};

/// Decodes one body incrementally. Pure: the caller owns all I/O. Bounded: a chunk-size line has at most 4 KiB with its
/// extensions, all extensions together at most 16 KiB more than the body, trailers at most `trailer_bytes`.
class BodyDecoder {
public:
    BodyDecoder() = default;
    explicit BodyDecoder(Framing const& framing, std::size_t trailer_bytes = 16 * 1024) : trailer_limit_(trailer_bytes) {
        begin(framing);
    }
    /// For the next body.
    void begin(Framing const& framing);
    /// For responses: from now on, white space after a chunk size, a bare LF at the end of a line, and trailers with errors, which
    /// are dropped, are repaired instead of refused.
    void tolerate() { tolerant_ = true; }
    /// Also what note_repair() has told. begin() does not reset it: one connection stays doubtful.
    Repair repair() const { return repair_; }
    void note_repair(Repair repair) {
        if (repair > repair_) repair_ = repair;
    }

    struct Step {
        enum class Kind : std::uint8_t {
            data,        // `data` is body; `consumed` bytes of the input were processed
            need_more,   // all of `consumed` was processed; give more input
            done,        // the body is complete; `consumed` bytes belonged to it, the rest is the next message
            refused      // malformed; `refusal()` has the reason
        };
        Kind kind;
        std::string_view data;
        std::size_t consumed = 0;
    };
    /// Takes one step at the start of `input`, which continues where the last step's `consumed` ended.
    /// A step of kind data never implies done: call again with the rest, even when it is empty.
    Step step(std::string_view input);

    /// The peer closed its side: true when that completes the body (until_close), false when the body is truncated.
    bool closed();

    bool done() const { return state_ == State::done; }
    Framing const& framing() const { return framing_; }
    char const* refusal() const { return refusal_; }
    /// Bytes still to come, if the framing has a length; 0 otherwise.
    std::uint64_t remaining() const { return framing_.kind == Framing::Kind::length ? left_ : 0; }
    /// After done: the trailer section's raw field lines, each ended by CRLF, validated; empty when there was none.
    /// Fields that must not be trailers (framing, routing, authentication, cache control: RFC 9110 6.5.1) are dropped.
    std::string const& trailers() const { return trailers_; }

private:
    // size .. size_end are the parts of a chunk-size line, chunk_cr and chunk_lf the CRLF after a chunk's data.
    enum class State : std::uint8_t {
        data,
        size,
        padding,
        extension,
        quoted,
        escaped,
        size_end,
        chunk,
        chunk_cr,
        chunk_lf,
        trailers,
        until_close,
        done,
        refused
    };
    Step take_data(std::string_view input, std::size_t at);
    void take_size_byte(char byte);
    void take_extension_byte(char byte);
    void end_size_line(char byte);
    void take_chunk_end(char byte);
    bool repairs(Repair repair);
    std::size_t take_trailer_line(std::string_view input, std::size_t at);
    void end_trailer_line(std::string_view line);
    void fail(char const* why);

    Framing framing_;
    State state_ = State::done;
    bool tolerant_ = false;
    Repair repair_ = Repair::none;
    std::uint64_t left_ = 0;
    std::size_t trailer_limit_ = 16 * 1024;
    std::size_t section_bytes_ = 0;   // bytes so far of the chunk-size line or the trailer section
    std::uint64_t extension_allowance_ = 0;
    std::string line_;   // an unfinished trailer line
    std::string trailers_;
    char const* refusal_ = nullptr;
};

/// Writes a chunk header for `size` bytes ("1a2b\r\n") to `out`, which must hold 18 bytes; returns its length.
std::size_t write_chunk_header(std::uint64_t size, char* out);

/// The trailer lines that the head's Trailer field names, each with its CRLF. `trailers` come from a BodyDecoder. Origins
/// may merge trailers into the head, and their programs expect only the announced fields there.
std::string announced_trailers(std::string_view trailers, Fields const& head);

}   // namespace garner::http
