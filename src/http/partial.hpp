// Partial responses kept to be combined (RFC 9111 3.3, 3.4): which 206 may be, and what its representation's head is.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/message.hpp"
#include "http/range.hpp"
#include "util/clock.hpp"

namespace garner::http {

/// Where the body of a 206 lies in its representation.
struct Part {
    ByteRange range;
    std::uint64_t length = 0;   // of the whole representation

    friend bool operator==(Part const&, Part const&) = default;
};

/// The part that a 206 brings, when it may be stored: one range, of a known length, that agrees with `body_length`, which
/// is what the framing says; nothing when only the end of the body will tell. Whether it may be combined with others,
/// is_same_representation says; by itself it answers for ranges inside it (RFC 9111 3.3).
std::optional<Part> part_of(ResponseHead const&, std::optional<std::uint64_t> body_length);

/// False for a 206 without Content-Type to a request with If-Range: it may lack what that client knows already
/// (RFC 9110 15.3.7), and others do not.
bool describes_itself(RequestHead const&, ResponseHead const&);

/// RFC 9110 15.3.7.3: both are of one representation, by a strong validator that both have.
bool is_same_representation(ResponseHead const&, ResponseHead const&, WallTime now);

/// True when the validators show two responses to be of different representations; two without any may be of one.
bool contradict(ResponseHead const&, ResponseHead const&);

/// The head, without blank line, of the 200 that a stored 206 is a part of. With `older`, such a head of parts that
/// came before, its fields stay where the newer does not replace them (RFC 9111 3.4).
std::string head_of_whole(ResponseHead const& newer, ResponseHead const* older,
                          std::span<std::string_view const> targeted = {});

/// The lines, each with its CRLF, that ask for what is missing of a stored representation of `length`: Range, and
/// If-Range with its strong validator. Without one there is no If-Range, and a 206 will not be what completes it.
std::string ask_for_missing(ResponseHead const& stored, ByteRange missing, std::uint64_t length, WallTime now);

}  // namespace garner::http
