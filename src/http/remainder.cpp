#include "http/remainder.hpp"

#include <array>

#include "http/partial.hpp"
#include "http/validation.hpp"

namespace garner::http {
namespace {

std::optional<std::uint64_t> length_of(Framing const& framing) {
    return framing.kind == Framing::Kind::length ? std::optional(framing.length) : std::nullopt;
}

/// The number of bytes by its Content-Range.
std::optional<std::uint64_t> bytes_of_range(ResponseHead const& answer) {
    auto const where = parse_content_range(answer.fields.first(Name::content_range));
    return where && where->range ? std::optional(where->range->size()) : std::nullopt;
}

/// No byte of the body was received: the fields about the body, and about its storing and sharing, must agree.
bool describe_the_same(ResponseHead const& a, ResponseHead const& b) {
    constexpr std::array telling{Name::content_type, Name::content_encoding, Name::cache_control, Name::vary, Name::set_cookie};
    for (auto name : telling)
        if (a.fields.count(name) != b.fields.count(name) || a.fields.first(name) != b.fields.first(name)) return false;
    return !contradict(a, b);
}

}   // namespace

Remainder::Remainder(std::string_view head, BrokenBody const& body)
    : text_(std::string(head) + "\r\n"), at_(body.first + body.done), length_(body.length), begun_(body.done > 0) {
    read_stored_head(text_, head_);
    if (body.announced) end_ = body.first + *body.announced;
    if (body.first == 0 && !length_) length_ = end_;
    if (head_.status != 206) return;
    auto const part = part_of(head_, body.announced);
    placed_ = part.has_value();
    if (!part) return;
    at_ = part->range.first + body.done;
    end_ = part->range.last + 1;
    length_ = part->length;
}

bool Remainder::is_obtainable(WallTime now) const {
    if (!placed_) return false;
    if (!begun_) return true;
    return (head_.status == 200 || head_.status == 206) && is_same_representation(head_, head_, now);
}

std::string Remainder::request_lines(WallTime now) const {
    if (at_ == 0 && (!end_ || end_ == length_)) return {};
    auto const last = end_ ? *end_ - 1 : UINT64_MAX - 1;
    return ask_for_missing(head_, {at_, last}, length_.value_or(last + 1), now);
}

std::optional<std::uint64_t> Remainder::skipped_in(ResponseHead const& answer, Framing const& framing, WallTime now) const {
    if (!is_obtainable(now) || !is_same(answer, now)) return std::nullopt;
    if (is_rest(answer, framing)) return 0;
    if (is_whole(answer, framing)) return at_;
    return std::nullopt;
}

std::optional<std::uint64_t> Remainder::left_in(ResponseHead const& answer, Framing const& framing) const {
    if (framing.kind == Framing::Kind::length) return std::nullopt;
    if (end_) return *end_ - at_;
    return answer.status == 206 ? bytes_of_range(answer) : std::nullopt;
}

bool Remainder::is_same(ResponseHead const& answer, WallTime now) const {
    return begun_ ? is_same_representation(head_, answer, now) : describe_the_same(head_, answer);
}

bool Remainder::is_rest(ResponseHead const& answer, Framing const& framing) const {
    auto const length = framing.kind == Framing::Kind::length ? framing.length : bytes_of_range(answer);
    auto const part = part_of(answer, length);
    if (!part || (head_.status != 200 && head_.status != 206)) return false;
    bool const of_this = !length_ || *length_ == part->length;
    return of_this && part->range.first == at_ && part->range.last + 1 == end_.value_or(part->length);
}

bool Remainder::is_whole(ResponseHead const& answer, Framing const& framing) const {
    // A request for a part may be answered by the whole, which must not have more than the missing bytes.
    bool const to_the_end = end_ == length_;
    bool const of_status = answer.status == head_.status ? answer.status != 206 : answer.status == 200 && head_.status == 206;
    bool const has_body = framing.kind != Framing::Kind::none;
    auto const length = length_of(framing);
    if (!of_status || !has_body || !to_the_end) return false;
    return length_ ? length.value_or(*length_) == length_ : length.value_or(at_) >= at_;
}

}   // namespace garner::http
