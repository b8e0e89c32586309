// Validation (RFC 9111 4.3, RFC 9110 8.8 and 13): conditional requests from clients and to origins.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/freshness.hpp"
#include "http/message.hpp"

namespace garner::http {

/// An entity-tag: "…" or W/"…" (RFC 9110 8.8.3).
bool is_etag(std::string_view);
/// RFC 9110 8.8.3.2. False when either is not an entity-tag.
bool strong_match(std::string_view a, std::string_view b);
bool weak_match(std::string_view a, std::string_view b);

enum class Conditional : std::uint8_t { none, not_modified };

/// Evaluates the request's If-None-Match, else its If-Modified-Since, against a stored response that may be reused (RFC
/// 9111 4.3.2): not_modified requires a 304, none the response itself. Only for GET and HEAD, and only when the stored
/// status is 200. If-Match and If-Unmodified-Since are for origins: why_bypass sends such requests there. O(1) without
/// allocation when the request is unconditional.
Conditional answer_conditional(RequestHead const&, ResponseHead const& stored, Terms const&, WallTime now);

/// True for the fields of a stored 200 that belong in a 304 made from it (RFC 9110 15.4.5): all except those that describe
/// the body.
bool field_stays_in_304(Field const&);

/// The validators of a stored response; empty when absent or unusable. Views into its head.
struct Validators {
    std::string_view etag;
    std::string_view last_modified;

    bool empty() const { return etag.empty() && last_modified.empty(); }
};
Validators validators_of(ResponseHead const& stored);

/// Appends If-None-Match and If-Modified-Since lines, each with its CRLF (RFC 9111 4.3.1).
void append_conditional_fields(Validators const&, std::string& out);

/// True when the 304 is about this stored response (4.3.4): none of its validators contradicts the stored ones. False: the
/// origin has another representation; ask again without conditions.
bool is_about(ResponseHead const& not_modified, ResponseHead const& stored);

/// True when a field of a 304 (or of a HEAD response) replaces the stored fields of that name (3.2): never fields that
/// describe the stored body, never hop-by-hop fields.
bool updates_stored(Field const&);

/// The field section ("Name: value\r\n"…, no blank line) of the freshened head (3.2): the stored fields, with those of
/// `update` replacing them. Age, Date and Warning of the old head are always dropped. Fields that `update` names in its
/// Connection, or that the resulting Cache-Control (or targeted field) forbids to store, are not added. The caller adds a
/// missing Date, like for every response, and computes new Terms from the new head.
std::string merged_head_fields(ResponseHead const& stored, ResponseHead const& update,
                               std::span<std::string_view const> targeted = {});

/// RFC 9110 13.1.2, 13.1.3: the request has a condition that 304 can answer.
bool is_conditional(Fields const& request);

/// A response to one user is not valid for others (RFC 9111 3.5, 5.2.2.7; RFC 6265): a request with credentials or a
/// cookie, or a private response. `answer_control` is parse_response_cache_control of the response.
bool is_personal(RequestHead const&, ResponseCacheControl const& answer_control);

/// True when a response that is not stored shows that the stored one is outdated: a GET returned a status about the
/// resource itself, permanently and for all clients. RFC 9111 keeps the old response; but a client that saw the new one
/// must not get the old one afterwards. `answer_control` is parse_response_cache_control of the response.
bool supersedes(RequestHead const&, ResponseHead const& answer, ResponseCacheControl const& answer_control);

/// RFC 9111 4.3.5: true when the response to a HEAD agrees with the stored response to GET, which merged_head_fields then
/// freshens; false: the stored response is outdated. `stored_length` is the length of the stored body in bytes, whether or
/// not the origin had announced it. Call only for HEAD responses with status 200.
bool head_agrees(ResponseHead const& head_response, ResponseHead const& stored, std::optional<std::uint64_t> stored_length);

}   // namespace garner::http
