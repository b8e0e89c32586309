#include "http/hop_by_hop.hpp"

#include <algorithm>

#include "util/one_of.hpp"
#include "util/text.hpp"

namespace garner::http {
namespace {

/// Compares sizes first, because they decide most comparisons.
bool before(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return a.size() < b.size();
    return std::ranges::lexicographical_compare(a, b, {}, to_lower, to_lower);
}

/// Connection options that are no field names.
bool is_persistence(std::string_view option) {
    return equals_ignoring_case(option, "close") || equals_ignoring_case(option, "keep-alive");
}

/// "h2c", "HTTP/2.0" and similar.
bool is_http(std::string_view protocol) {
    auto const name = protocol.substr(0, protocol.find('/'));
    return equals_ignoring_case(name, "h2c") || equals_ignoring_case(name, "h2") || equals_ignoring_case(name, "http");
}

}   // namespace

bool is_hop_by_hop(Name id) {
    using enum Name;
    return is_one_of<connection, http2_settings, keep_alive, proxy_authenticate, proxy_authentication_info, proxy_authorization,
                     proxy_connection, te, trailer, transfer_encoding, upgrade>(id);
}

HopByHop::HopByHop(Fields const& fields) {
    for_each_member(fields, Name::connection, [&](std::string_view option) {
        if (name_of(option) == Name::other && !is_persistence(option)) named_.push_back(option);
    });
    // An attacker may name thousands: each field then costs a binary search instead of a scan.
    std::ranges::sort(named_, before);
}

bool HopByHop::dropped(Field const& field) const {
    if (field.id != Name::other) return is_hop_by_hop(field.id);
    return std::ranges::binary_search(named_, field.name, before);
}

bool connection_has(Fields const& fields, std::string_view option) {
    bool found = false;
    for_each_member(fields, Name::connection, [&](std::string_view member) { found |= equals_ignoring_case(member, option); });
    return found;
}

bool keeps_alive(RequestHead const& head) { return head.version == Version::http_1_1 && !wants_close(head.fields); }

bool keeps_alive(ResponseHead const& head) {
    if (wants_close(head.fields)) return false;
    return head.version == Version::http_1_1 || connection_has(head.fields, "keep-alive");
}

std::optional<std::uint32_t> keep_alive_timeout(Fields const& fields) {
    std::optional<std::uint32_t> timeout;
    for_each_member(fields, Name::keep_alive, [&](std::string_view parameter) {
        auto const equals = parameter.find('=');
        if (equals == npos || !equals_ignoring_case(trim(parameter.substr(0, equals)), "timeout")) return;
        auto const number = parse_decimal(trim(parameter.substr(equals + 1)));
        if (number && !timeout) timeout = static_cast<std::uint32_t>(std::min<std::uint64_t>(*number, UINT32_MAX));
    });
    return timeout;
}

bool wants_upgrade(RequestHead const& head) {
    if (head.version != Version::http_1_1 || head.fields.first(Name::upgrade).empty()) return false;
    if (!connection_has(head.fields, "upgrade")) return false;
    bool to_http = false;
    for_each_member(head.fields, Name::upgrade, [&](std::string_view protocol) { to_http |= is_http(protocol); });
    return !to_http;
}

}   // namespace garner::http
