// Partial responses stored to be combined (RFC 9111 3.3, 3.4): which 206 may be stored, and the head of their
// representation.
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

/// The position of a 206's body in its representation.
struct Part {
    ByteRange range;
    std::uint64_t length = 0;   // length of the whole representation

    friend bool operator==(Part const&, Part const&) = default;
};

/// The part in a 206, if it may be stored: one range, of a known length, that agrees with `body_length` from the framing.
/// Nothing when only the end of the body gives its length. is_same_representation decides whether it may be combined with
/// other parts; alone it answers requests for ranges inside it (RFC 9111 3.3).
std::optional<Part> part_of(ResponseHead const&, std::optional<std::uint64_t> body_length);

/// False for a 206 without Content-Type to a request with If-Range: it may omit fields that its client has already (RFC
/// 9110 15.3.7) but other clients have not.
bool describes_itself(RequestHead const&, ResponseHead const&);

/// RFC 9110 15.3.7.3: both are of one representation, by a strong validator in both.
bool is_same_representation(ResponseHead const&, ResponseHead const&, WallTime now);

/// True when the validators show two different representations; without validators it is false.
bool contradict(ResponseHead const&, ResponseHead const&);

/// The head, without blank line, of the 200 that a stored 206 is a part of. With `older`, the head of earlier parts, fields
/// of `older` remain unless the newer head replaces them (RFC 9111 3.4).
std::string head_of_whole(ResponseHead const& newer, ResponseHead const* older, std::span<std::string_view const> targeted = {});

/// The lines, each with its CRLF, that request the missing bytes of a stored representation of `length`: Range, and
/// If-Range with its strong validator. Without one there is no If-Range, and a 206 will not complete it.
std::string ask_for_missing(ResponseHead const& stored, ByteRange missing, std::uint64_t length, WallTime now);

}   // namespace garner::http
