#include "http/trace_id.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace garner::http {

namespace {

/// Upper case is not valid.
bool is_hex(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view digits) { return digits.find_first_not_of('0') == digits.npos; }

}   // namespace

/// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": version, trace id, parent id, flags.
std::string_view trace_id(std::string_view traceparent) {
    constexpr std::size_t whole = 55;
    if (traceparent.size() < whole || traceparent[2] != '-' || traceparent[35] != '-' || traceparent[52] != '-') return {};
    auto const version = traceparent.substr(0, 2), id = traceparent.substr(3, 32), parent = traceparent.substr(36, 16),
               flags = traceparent.substr(53, 2);
    if (!is_hex(version) || !is_hex(id) || !is_hex(parent) || !is_hex(flags)) return {};
    if (version == "ff" || is_zero(id) || is_zero(parent)) return {};
    bool const longer = traceparent.size() > whole;
    if (longer && (version == "00" || traceparent[whole] != '-')) return {};
    return id;
}

}   // namespace garner::http
