#include "http/partial.hpp"

#include "http/validation.hpp"

namespace garner::http {
namespace {

bool is_strong_etag(std::string_view etag) { return strong_match(etag, etag); }

std::string_view strong_validator(ResponseHead const& response, WallTime now) {
    auto const validators = validators_of(response);
    if (is_strong_etag(validators.etag)) return validators.etag;
    bool const by_date = validators.etag.empty() && is_strong_last_modified(response, now);
    return by_date ? validators.last_modified : std::string_view();
}

}   // namespace

std::optional<Part> part_of(ResponseHead const& response, std::optional<std::uint64_t> body_length) {
    // A multipart response has no Content-Range of its own (RFC 9110 15.3.7.2).
    if (response.status != 206 || response.fields.count(Name::content_range) != 1) return std::nullopt;
    auto const where = parse_content_range(response.fields.first(Name::content_range));
    if (!where || !where->range || !where->length) return std::nullopt;
    if (body_length != where->range->size()) return std::nullopt;
    return Part{*where->range, *where->length};
}

bool describes_itself(RequestHead const& request, ResponseHead const& response) {
    return !request.fields.has(Name::if_range) || response.fields.has(Name::content_type);
}

bool is_same_representation(ResponseHead const& a, ResponseHead const& b, WallTime now) {
    auto const of_a = validators_of(a);
    auto const of_b = validators_of(b);
    if (!of_a.etag.empty() || !of_b.etag.empty()) return strong_match(of_a.etag, of_b.etag);
    return !of_a.last_modified.empty() && of_a.last_modified == of_b.last_modified && is_strong_last_modified(a, now) &&
           is_strong_last_modified(b, now);
}

bool contradict(ResponseHead const& a, ResponseHead const& b) {
    auto const of_a = validators_of(a);
    auto const of_b = validators_of(b);
    if (!of_a.etag.empty() && !of_b.etag.empty()) return !weak_match(of_a.etag, of_b.etag);
    return !of_a.last_modified.empty() && !of_b.last_modified.empty() && of_a.last_modified != of_b.last_modified;
}

std::string head_of_whole(ResponseHead const& newer, ResponseHead const* older, std::span<std::string_view const> targeted) {
    std::string head = "HTTP/1.1 200 OK\r\n";
    if (older) return head + merged_head_fields(*older, newer, targeted);
    for (auto const& field : newer.fields)
        if (field.id != Name::content_range) head.append(field.name).append(": ").append(field.value).append("\r\n");
    return head;
}

std::string ask_for_missing(ResponseHead const& stored, ByteRange missing, std::uint64_t length, WallTime now) {
    std::string lines = "Range: bytes=" + std::to_string(missing.first) + '-';
    if (missing.last + 1 < length) lines += std::to_string(missing.last);
    lines += "\r\n";
    auto const validator = strong_validator(stored, now);
    if (!validator.empty()) lines.append("If-Range: ").append(validator).append("\r\n");
    return lines;
}

}   // namespace garner::http
