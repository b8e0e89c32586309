// Byte ranges (RFC 9110 14): parsed against a known length, bounded, and written.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"
#include "util/clock.hpp"

namespace garner::http {

/// Both ends are included; first <= last.
struct ByteRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    std::uint64_t size() const { return last - first + 1; }
    friend bool operator==(ByteRange const&, ByteRange const&) = default;
};

enum class RangeKind : std::uint8_t {
    whole,          // send the response as if there were no Range (200)
    partial,        // 206 with `parts`; more than one: multipart/byteranges
    unsatisfiable   // 416 with Content-Range: bytes */length
};

struct RangeAnswer {
    RangeKind kind = RangeKind::whole;
    std::vector<ByteRange> parts;   // in the requested order, inside the length; overlapping and adjacent ones are coalesced
};

inline constexpr std::size_t ranges_max = 16;          // a Range with more members is ignored
inline constexpr std::size_t range_overlaps_max = 2;   // a Range with more overlapping members is ignored (14.2)

/// The result of a Range field's value for a representation of `length` bytes. Malformed, other units, too many: whole.
RangeAnswer answer_range(std::string_view range_value, std::uint64_t length);

/// For a whole request: the result is whole unless it is a GET with exactly one Range line whose If-Range, if any, holds.
/// Several ranges of an encoded representation (Content-Encoding): whole.
/// O(1) without allocation when there is no Range.
RangeAnswer answer_range(RequestHead const&, ResponseHead const& stored, std::uint64_t length, WallTime now);

/// RFC 9110 14.2, 17.15: a Range that must not be forwarded to an origin: several lines, more than ranges_max members, or
/// members that overlap for any length.
bool is_excessive_range(Fields const& request);

/// RFC 9110 13.1.5: true when the request has no If-Range, or it is the stored strong ETag, or exactly the stored
/// Last-Modified and that is a strong validator (8.8.2.2: at least a second older than Date). Otherwise Range must be
/// ignored.
bool if_range_holds(Fields const& request, ResponseHead const& stored, WallTime now);

/// RFC 9110 8.8.2.2: the Last-Modified is a strong validator, because it is at least a second older than Date.
bool is_strong_last_modified(ResponseHead const&, WallTime now);

/// A Content-Range value (14.4). Without `range`: "bytes */length". Without `length`: "bytes first-last/*".
struct ContentRange {
    std::optional<ByteRange> range;
    std::optional<std::uint64_t> length;

    friend bool operator==(ContentRange const&, ContentRange const&) = default;
};

/// Nothing when malformed, in another unit, with last < first, or not inside its own length.
std::optional<ContentRange> parse_content_range(std::string_view value);
std::string format_content_range(ContentRange const&);

}   // namespace garner::http
