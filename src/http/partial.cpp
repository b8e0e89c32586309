#include "http/partial.hpp"

#include "http/validation.hpp"

namespace garner::http {
namespace {

bool is_strong_etag(std::string_view etag) { return strong_match(etag, etag); }

bool has_strong_validator(ResponseHead const& response, WallTime now) {
    auto const validators = validators_of(response);
    return is_strong_etag(validators.etag) || is_strong_last_modified(response, now);
}

}  // namespace

std::optional<Part> part_of(ResponseHead const& response, std::optional<std::uint64_t> body_length, WallTime now) {
    // Several ranges in one answer have no Content-Range of their own (RFC 9110 15.3.7.2).
    if (response.status != 206 || response.fields.count(Name::content_range) != 1) return std::nullopt;
    auto const where = parse_content_range(response.fields.first(Name::content_range));
    if (!where || !where->range || !where->length) return std::nullopt;
    if (body_length != where->range->size() || !has_strong_validator(response, now)) return std::nullopt;
    return Part{*where->range, *where->length};
}

bool describes_itself(RequestHead const& request, ResponseHead const& response) {
    return !request.fields.has(Name::if_range) || response.fields.has(Name::content_type);
}

bool is_same_representation(ResponseHead const& a, ResponseHead const& b, WallTime now) {
    auto const of_a = validators_of(a);
    auto const of_b = validators_of(b);
    if (!of_a.etag.empty() || !of_b.etag.empty()) return strong_match(of_a.etag, of_b.etag);
    return !of_a.last_modified.empty() && of_a.last_modified == of_b.last_modified &&
           is_strong_last_modified(a, now) && is_strong_last_modified(b, now);
}

std::string head_of_whole(ResponseHead const& newer, ResponseHead const* older) {
    std::string head = "HTTP/1.1 200 OK\r\n";
    if (older) return head + merged_head_fields(*older, newer);
    for (auto const& field : newer.fields)
        if (field.id != Name::content_range) head.append(field.name).append(": ").append(field.value).append("\r\n");
    return head;
}

}  // namespace garner::http
