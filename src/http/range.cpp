#include "http/range.hpp"

#include <algorithm>

#include "http/dates.hpp"
#include "http/validation.hpp"
#include "util/text.hpp"

namespace garner::http {
namespace {

/// A number of any length; values over 64 bits become the maximum, which is beyond every representation.
std::optional<std::uint64_t> parse_position(std::string_view digits) {
    if (digits.empty() || !std::ranges::all_of(digits, is_digit)) return std::nullopt;
    return parse_decimal(digits).value_or(UINT64_MAX);
}

struct Spec {
    bool valid = false;
    std::optional<ByteRange> range;   // absent: not satisfiable
};

// RFC 9110 14.1.2
Spec parse_spec(std::string_view spec, std::uint64_t length) {
    auto const dash = spec.find('-');
    if (dash == std::string_view::npos) return {};
    auto const from = spec.substr(0, dash);
    auto const to = spec.substr(dash + 1);

    if (from.empty()) {
        auto const suffix = parse_position(to);
        if (!suffix) return {};
        if (*suffix == 0) return {.valid = true, .range = std::nullopt};
        return {.valid = true, .range = ByteRange{length - std::min(*suffix, length), length - 1}};
    }
    auto const first = parse_position(from);
    auto const last = to.empty() ? UINT64_MAX : parse_position(to);
    if (!first || !last || *last < *first) return {};
    if (*first >= length) return {.valid = true, .range = std::nullopt};
    return {.valid = true, .range = ByteRange{*first, std::min(*last, length - 1)}};
}

bool overlap(ByteRange const& a, ByteRange const& b) { return a.first <= b.last && b.first <= a.last; }

/// Overlapping or adjacent. Positions are below a length, so that adding 1 cannot overflow.
bool touch(ByteRange const& a, ByteRange const& b) { return a.first <= b.last + 1 && b.first <= a.last + 1; }

/// Joins the parts that touch, each into the first of them (RFC 9110 15.3.7.2).
void coalesce(std::vector<ByteRange>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i)
        for (std::size_t j = i + 1; j < parts.size();) {
            auto& part = parts[i];
            if (!touch(part, parts[j])) {
                ++j;
                continue;
            }
            part = {std::min(part.first, parts[j].first), std::max(part.last, parts[j].last)};
            parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(j));
            j = i + 1;   // parts that did not touch before may touch the larger one
        }
}

/// The members of a Range field's value after its unit.
struct Members {
    bool valid = true;   // each member matches the grammar of a range
    std::size_t count = 0;
    std::size_t overlaps = 0;        // members that overlap an earlier one
    std::vector<ByteRange> ranges;   // the satisfiable ones
};

Members parse_members(std::string_view list, std::uint64_t length) {
    Members members;
    for_each_member(list, [&](std::string_view member) {
        if (++members.count > ranges_max) return;
        auto const spec = parse_spec(member, length);
        members.valid = members.valid && spec.valid;
        if (!spec.range) return;
        members.overlaps += std::ranges::any_of(members.ranges, [&](auto const& one) { return overlap(one, *spec.range); });
        members.ranges.push_back(*spec.range);
    });
    return members;
}

}   // namespace

RangeAnswer answer_range(std::string_view value, std::uint64_t length) {
    constexpr std::string_view unit = "bytes=";
    if (!equals_ignoring_case(value.substr(0, unit.size()), unit)) return {};
    // No Content-Range can describe an empty body; 14.2 allows to ignore every Range.
    if (length == 0) return {};

    auto members = parse_members(value.substr(unit.size()), length);
    bool const some = members.count > 0 && members.count <= ranges_max;
    if (!some || !members.valid || members.overlaps > range_overlaps_max) return {};
    coalesce(members.ranges);
    return {members.ranges.empty() ? RangeKind::unsatisfiable : RangeKind::partial, std::move(members.ranges)};
}

RangeAnswer answer_range(RequestHead const& request, ResponseHead const& stored, std::uint64_t length, WallTime now) {
    if (!request.fields.has(Name::range)) return {};
    // RFC 9110 14.2: Range is defined for GET only, and only if the response without it would be 200.
    if (request.method != Method::get || stored.status != 200) return {};
    if (request.fields.count(Name::range) != 1 || !if_range_holds(request.fields, stored, now)) return {};
    auto answer = answer_range(request.fields.first(Name::range), length);
    // Clients disagree on the meaning of Content-Encoding around or inside multipart/byteranges.
    if (answer.parts.size() > 1 && stored.fields.has(Name::content_encoding)) return {};
    return answer;
}

bool is_excessive_range(Fields const& request) {
    if (!request.has(Name::range)) return false;
    if (request.count(Name::range) != 1) return true;
    // Suffix ranges lie at the end of this length, beyond all ranges that count from the beginning.
    constexpr std::uint64_t very_long = UINT64_MAX / 2;
    auto const value = request.first(Name::range);
    auto const members = parse_members(value.substr(std::min(value.find('=') + 1, value.size())), very_long);
    return members.overlaps > 0 || members.count > ranges_max;
}

bool if_range_holds(Fields const& request, ResponseHead const& stored, WallTime now) {
    if (!request.has(Name::if_range)) return true;
    if (request.count(Name::if_range) != 1) return false;
    auto const condition = request.first(Name::if_range);
    auto const validators = validators_of(stored);
    if (is_etag(condition)) return strong_match(condition, validators.etag);
    return !condition.empty() && condition == validators.last_modified && is_strong_last_modified(stored, now);
}

// True when the origin sent the response in a later second than its last change, by the origin's clock.
bool is_strong_last_modified(ResponseHead const& stored, WallTime now) {
    auto const modified = parse_http_date(stored.fields.first(Name::last_modified), now);
    auto const date = parse_http_date(stored.fields.first(Name::date), now);
    return modified && date && *modified < *date;
}

std::optional<ContentRange> parse_content_range(std::string_view value) {
    constexpr std::string_view unit = "bytes ";
    if (!equals_ignoring_case(value.substr(0, unit.size()), unit)) return std::nullopt;
    auto const rest = value.substr(unit.size());
    auto const slash = rest.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    auto const positions = rest.substr(0, slash);
    auto const size = rest.substr(slash + 1);

    ContentRange range;
    if (size != "*") {
        range.length = parse_decimal(size);
        if (!range.length) return std::nullopt;
    }
    if (positions == "*") return range.length ? std::optional(range) : std::nullopt;

    auto const dash = positions.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    auto const first = parse_decimal(positions.substr(0, dash));
    auto const last = parse_decimal(positions.substr(dash + 1));
    // RFC 9110 14.4: the whole value is invalid.
    if (!first || !last || *last < *first || *last == UINT64_MAX) return std::nullopt;
    if (range.length && *last >= *range.length) return std::nullopt;
    range.range = ByteRange{*first, *last};
    return range;
}

std::string format_content_range(ContentRange const& range) {
    auto const positions = range.range ? std::to_string(range.range->first) + '-' + std::to_string(range.range->last) : "*";
    return "bytes " + positions + '/' + (range.length ? std::to_string(*range.length) : "*");
}

}   // namespace garner::http
