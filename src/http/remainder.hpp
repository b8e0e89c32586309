// The missing bytes of a truncated response, and which other response has them (RFC 9110 13.1.5, 14).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/framing.hpp"
#include "http/message.hpp"
#include "util/clock.hpp"

namespace garner::http {

/// The position of the truncated body. Offsets count from the beginning of the representation for a 200, and for a 206 from
/// the start of its Content-Range.
struct BrokenBody {
    std::uint64_t first = 0;                    // where it began; above 0 when stored bytes precede it
    std::uint64_t done = 0;                     // received bytes
    std::optional<std::uint64_t> announced{};   // expected bytes, if known
    std::optional<std::uint64_t> length{};      // length of the whole, if `first` is not 0
};

/// Pure; one for each truncated body.
class Remainder {
public:
    /// `head`: the response's own, in the form stored or sent, without its blank line.
    Remainder(std::string_view head, BrokenBody const& body);
    Remainder(Remainder const&) = delete;

    /// False when no response could be verified to have the rest: some of the body was received, and there is no strong
    /// validator.
    bool is_obtainable(WallTime now) const;
    /// The lines that request the rest, each with its CRLF; empty when the whole must be requested.
    std::string request_lines(WallTime now) const;
    /// How many bytes of this response's body precede the missing ones; after them it has exactly the missing ones.
    /// Nothing: the response does not fit.
    std::optional<std::uint64_t> skipped_in(ResponseHead const& answer, Framing const&, WallTime now) const;
    /// How many bytes follow the skipped ones in such a response, if its framing does not tell; the real number may differ.
    std::optional<std::uint64_t> left_in(ResponseHead const& answer, Framing const&) const;

private:
    bool is_same(ResponseHead const& answer, WallTime now) const;
    bool is_rest(ResponseHead const& answer, Framing const&) const;
    bool is_whole(ResponseHead const& answer, Framing const&) const;

    std::string text_;
    ResponseHead head_;
    std::uint64_t at_ = 0;                  // offset in the representation of the first missing byte
    std::optional<std::uint64_t> end_;      // offset after the last one
    std::optional<std::uint64_t> length_;   // of the representation
    bool begun_ = false;                    // some of the body was received
    bool placed_ = true;                    // the offsets are known
};

}   // namespace garner::http
