// Builds heads for tests from lists of fields.
#pragma once
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>

#include "http/dates.hpp"
#include "http/message.hpp"

namespace garner::http {

using Lines = std::initializer_list<Field>;

/// Sun, 06 Nov 1994 08:49:37 GMT: the current time in the tests.
inline constexpr std::int64_t test_seconds = 784'111'777;
inline constexpr WallTime test_now = from_unix_seconds(test_seconds);

inline WallTime later(std::int64_t by_seconds) { return test_now + seconds(by_seconds); }

/// A view that stays valid until the program ends.
inline std::string_view keep(std::string text) {
    static std::deque<std::string> kept;
    return kept.emplace_back(std::move(text));
}

/// An HTTP date `offset` seconds after the tests' current time.
inline std::string_view date(std::int64_t offset) { return keep(format_http_date(test_seconds + offset)); }

inline Fields fields(Lines lines) {
    Fields out;
    for (Field const& line : lines) out.add(line.name, line.value);
    return out;
}

inline ResponseHead response(std::uint16_t status, Lines lines) {
    ResponseHead head;
    head.status = status;
    head.fields = fields(lines);
    return head;
}

inline RequestHead request(Method method, Lines lines) {
    RequestHead head;
    head.method = method;
    head.fields = fields(lines);
    return head;
}

inline RequestHead get(Lines lines = {}) { return request(Method::get, lines); }

}   // namespace garner::http
