// Ranges: satisfied ranges lie inside the representation and do not overlap; a written range set parses to an equal one.
#include "http/range.hpp"

#include <string>

#include "field_lines.hpp"

namespace {

using namespace garner;
using http::RangeKind;

/// Invariants of every answer for a representation of `length` bytes.
void check_answer(http::RangeAnswer const& answer, std::uint64_t length) {
    check((answer.kind == RangeKind::partial) == !answer.parts.empty());
    check(answer.kind == RangeKind::whole || length > 0);
    check(answer.parts.size() <= http::ranges_max);
    for (auto const& part : answer.parts) {
        check(part.first <= part.last && part.last < length);
        for (auto const& other : answer.parts) check(&part == &other || part.last + 1 < other.first || other.last + 1 < part.first);
    }
}

void check_asked_again(http::RangeAnswer const& answer, std::uint64_t length) {
    std::string text = "bytes=";
    for (auto const& part : answer.parts) {
        if (&part != &answer.parts.front()) text += ", ";
        text += std::to_string(part.first) + "-" + std::to_string(part.last);
        http::ContentRange const content{.range = part, .length = length};
        check(http::parse_content_range(http::format_content_range(content)) == content);
    }
    if (answer.kind == RangeKind::partial) check(http::answer_range(text, length).parts == answer.parts);
}

void check_content_range(std::string_view value) {
    auto const range = http::parse_content_range(value);
    if (!range) return;
    check(range->range || range->length);
    if (range->range) check(range->range->first <= range->range->last);
    if (range->range && range->length) check(range->range->last < *range->length);
    check(http::parse_content_range(http::format_content_range(*range)) == range);
}

/// A range request against a stored response: the input's fields serve as both.
void check_request(http::Fields const& fields, std::uint64_t length) {
    http::RequestHead request;
    http::ResponseHead stored;
    request.fields = stored.fields = fields;
    stored.status = 200;
    WallTime const now{seconds{1'700'000'000}};
    auto const answer = http::answer_range(request, stored, length, now);
    check_answer(answer, length);
    if (answer.kind != RangeKind::whole) {
        check(fields.count(http::Name::range) == 1 && http::if_range_holds(fields, stored, now));
        check(answer.parts == http::answer_range(fields.first(http::Name::range), length).parts);
    }
    request.method = http::Method::head;
    check(http::answer_range(request, stored, length, now).kind == RangeKind::whole);
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Input const input(data, size);
    constexpr std::uint64_t lengths[]{0, 1, 10, 1000, std::uint64_t{1} << 32, INT64_MAX, UINT64_MAX};
    auto const length = lengths[input.seed % 7];
    fuzz::FieldLines const lines(input.bytes);
    for (auto const& field : lines.fields()) {
        auto const answer = http::answer_range(field.value, length);
        check_answer(answer, length);
        check_asked_again(answer, length);
        check_content_range(field.value);
    }
    check_request(lines.fields(), length);
    return 0;
}
