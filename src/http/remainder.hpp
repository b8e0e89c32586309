// What is missing of a response whose body broke off, and which answer of another source brings it (RFC 9110 13.1.5, 14).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/framing.hpp"
#include "http/message.hpp"
#include "util/clock.hpp"

namespace garner::http {

/// Where the body that broke off was. Offsets count from the beginning of the representation for a 200, and for a 206 from
/// where its Content-Range begins.
struct BrokenBody {
    std::uint64_t first = 0;                   // where it began: not 0 behind bytes that were there before
    std::uint64_t done = 0;                    // bytes that came
    std::optional<std::uint64_t> announced{};  // bytes that were to come, where that was known
    std::optional<std::uint64_t> length{};     // of the whole, where `first` is not 0
};

/// Pure; one for each time a body breaks off.
class Remainder {
public:
    /// `head`: the response's own, as this cache has stored or sent it, without its blank line.
    Remainder(std::string_view head, BrokenBody const& body);
    Remainder(Remainder const&) = delete;

    /// False when no answer could be told to bring the rest: part of the body is there, and no strong validator.
    bool is_obtainable(WallTime now) const;
    /// The lines that ask for it, each with its CRLF; none where the whole is to be asked for.
    std::string request_lines(WallTime now) const;
    /// How many bytes of the answer's body come before what is missing; behind them it brings that, and no more. Nothing:
    /// the answer is something else.
    std::optional<std::uint64_t> skipped_in(ResponseHead const& answer, Framing const&, WallTime now) const;
    /// Of such an answer: how many bytes follow them, where its framing does not tell; it may have more or fewer all the same.
    std::optional<std::uint64_t> left_in(ResponseHead const& answer, Framing const&) const;

private:
    bool is_same(ResponseHead const& answer, WallTime now) const;
    bool is_rest(ResponseHead const& answer, Framing const&) const;
    bool is_whole(ResponseHead const& answer, Framing const&) const;

    std::string text_;
    ResponseHead head_;
    std::uint64_t at_ = 0;                     // in the representation: the first byte that is missing
    std::optional<std::uint64_t> end_;         // behind the last one
    std::optional<std::uint64_t> length_;      // of the representation
    bool begun_ = false;                       // some of the body has come
    bool placed_ = true;                       // the offsets are known
};

}  // namespace garner::http
