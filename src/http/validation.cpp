#include "http/validation.hpp"

#include <algorithm>

#include "http/cache_control.hpp"
#include "http/dates.hpp"
#include "http/hop_by_hop.hpp"
#include "util/one_of.hpp"
#include "util/text.hpp"

namespace garner::http {
namespace {

bool is_weak(std::string_view etag) { return etag.starts_with("W/"); }

std::string_view opaque(std::string_view etag) { return is_weak(etag) ? etag.substr(2) : etag; }

/// True when the list (RFC 9110 13.1.2) names `etag`. Entity-tags have no escapes: a backslash in one is a plain byte, so
/// this is not a list of quoted strings. Text after a malformed member is ignored.
bool lists_etag(std::string_view list, std::string_view etag) {
    for (;;) {
        list.remove_prefix(std::min(list.find_first_not_of(" \t,"), list.size()));
        if (list.empty()) return false;
        auto const open = list.find('"');
        auto const close = open == std::string_view::npos ? open : list.find('"', open + 1);
        if (close == std::string_view::npos || !is_etag(list.substr(0, close + 1))) return false;
        if (weak_match(list.substr(0, close + 1), etag)) return true;
        list = trim(list.substr(close + 1));
        if (!list.empty() && list[0] != ',') return false;
    }
}

// RFC 9110 13.1.2, by weak comparison.
bool none_match_fails(Fields const& request, std::string_view stored_etag) {
    for (Field const& field : request) {
        if (field.id != Name::if_none_match) continue;
        if (field.value == "*") return true;
        if (!stored_etag.empty() && lists_etag(field.value, stored_etag)) return true;
    }
    return false;
}

// RFC 9110 13.1.3 and RFC 9111 4.3.2: without Last-Modified, Date is compared.
bool modified_since_fails(Fields const& request, ResponseHead const& stored, Terms const& terms, WallTime now) {
    if (request.count(Name::if_modified_since) != 1) return false;
    auto const since = parse_http_date(request.first(Name::if_modified_since), now);
    if (!since) return false;
    auto const modified = parse_http_date(validators_of(stored).last_modified, now);
    return modified.value_or(terms.date_value) <= *since;
}

bool confirms(ResponseHead const& told, ResponseHead const& stored, Name name) {
    return !told.fields.has(name) || told.fields.first(name) == stored.fields.first(name);
}

void append_line(std::string& out, Field const& field) {
    out += field.name;
    out += ": ";
    out += field.value;
    out += "\r\n";
}

/// These describe one message only; a newer message replaces or removes them.
bool ends_with_its_message(Field const& field) { return is_one_of<Name::age, Name::date, Name::warning>(field.id); }

bool describes_body(Name id) {
    return is_one_of<Name::content_encoding, Name::content_length, Name::content_range, Name::content_type>(id);
}

}   // namespace

bool is_etag(std::string_view text) {
    auto const quoted = opaque(text);
    if (quoted.size() < 2 || quoted.front() != '"' || quoted.back() != '"') return false;
    return std::ranges::all_of(quoted.substr(1, quoted.size() - 2), [](char c) {
        auto const byte = static_cast<unsigned char>(c);
        return byte > 0x20 && byte != '"' && byte != 0x7f;
    });
}

bool strong_match(std::string_view a, std::string_view b) { return is_etag(a) && !is_weak(a) && a == b; }

bool weak_match(std::string_view a, std::string_view b) { return is_etag(a) && is_etag(b) && opaque(a) == opaque(b); }

Conditional answer_conditional(RequestHead const& request, ResponseHead const& stored, Terms const& terms, WallTime now) {
    bool const none_match = request.fields.has(Name::if_none_match);
    if (!none_match && !request.fields.has(Name::if_modified_since)) return Conditional::none;
    if (request.method != Method::get && request.method != Method::head) return Conditional::none;
    if (stored.status != 200) return Conditional::none;
    // RFC 9110 13.2.2: If-None-Match overrides If-Modified-Since, even if it does not match.
    bool const unmodified = none_match ? none_match_fails(request.fields, validators_of(stored).etag)
                                       : modified_since_fails(request.fields, stored, terms, now);
    return unmodified ? Conditional::not_modified : Conditional::none;
}

bool field_stays_in_304(Field const& field) {
    if (field.id == Name::other) return !equals_ignoring_case(field.name, "content-language");
    return !describes_body(field.id) && !is_one_of<Name::trailer, Name::transfer_encoding>(field.id);
}

Validators validators_of(ResponseHead const& stored) {
    Validators validators;
    auto const& fields = stored.fields;
    if (fields.has(Name::etag) && fields.count(Name::etag) == 1 && is_etag(fields.first(Name::etag)))
        validators.etag = fields.first(Name::etag);
    // It is sent back unchanged; whether it parses does not depend on the time.
    if (fields.has(Name::last_modified) && fields.count(Name::last_modified) == 1 &&
        parse_http_date(fields.first(Name::last_modified), WallTime{}))
        validators.last_modified = fields.first(Name::last_modified);
    return validators;
}

void append_conditional_fields(Validators const& validators, std::string& out) {
    if (!validators.etag.empty()) append_line(out, {"If-None-Match", validators.etag, Name::if_none_match});
    if (!validators.last_modified.empty())
        append_line(out, {"If-Modified-Since", validators.last_modified, Name::if_modified_since});
}

bool is_about(ResponseHead const& not_modified, ResponseHead const& stored) {
    auto const told = validators_of(not_modified);
    auto const have = validators_of(stored);
    if (!told.etag.empty() && !is_weak(told.etag)) return strong_match(told.etag, have.etag);
    if (!told.etag.empty()) return weak_match(told.etag, have.etag);
    // A 304 without a validator, or with one kind that is not stored, answers the request's own conditions.
    return told.last_modified.empty() || have.last_modified.empty() || told.last_modified == have.last_modified;
}

bool updates_stored(Field const& field) { return !describes_body(field.id) && !is_hop_by_hop(field.id); }

std::string merged_head_fields(ResponseHead const& stored, ResponseHead const& update, std::span<std::string_view const> targeted) {
    HopByHop const hop_by_hop(update.fields);
    auto const replaces = [&](Field const& field) { return updates_stored(field) && !hop_by_hop.dropped(field); };
    auto const replaced = [&](Field const& old) {
        return std::ranges::any_of(update.fields, [&](Field const& field) {
            return field.id == old.id && equals_ignoring_case(field.name, old.name) && replaces(field);
        });
    };

    ResponseHead merged;
    for (Field const& field : stored.fields)
        if (!ends_with_its_message(field) && !replaced(field)) merged.fields.add(field);
    for (Field const& field : update.fields)
        if (field.id != Name::warning && replaces(field)) merged.fields.add(field);

    auto const control = parse_response_cache_control(merged.fields, targeted);
    std::string out;
    for (Field const& field : merged.fields)
        if (control.keeps_field(field.name)) append_line(out, field);
    return out;
}

bool is_conditional(Fields const& request) { return request.has(Name::if_none_match) || request.has(Name::if_modified_since); }

bool is_personal(RequestHead const& request, ResponseCacheControl const& answer_control) {
    return request.fields.has(Name::authorization) || request.fields.has(Name::cookie) || answer_control.private_;
}

bool supersedes(RequestHead const& request, ResponseHead const& answer, ResponseCacheControl const& answer_control) {
    bool const speaks_of_resource = is_one_of<200, 203, 204, 300, 301, 308, 404, 410>(answer.status);
    return request.method == Method::get && speaks_of_resource && !is_personal(request, answer_control);
}

bool head_agrees(ResponseHead const& head_response, ResponseHead const& stored, std::optional<std::uint64_t> stored_length) {
    auto const& told = head_response.fields;
    bool const of_length = told.has(Name::content_length) && stored_length;
    auto const in_both = [&](Name name) { return told.has(name) && stored.fields.has(name); };
    if (!of_length && !in_both(Name::etag) && !in_both(Name::last_modified)) return false;
    bool const same_length = !of_length || parse_decimal(told.first(Name::content_length)) == stored_length;
    return stored.status == 200 && same_length && confirms(head_response, stored, Name::etag) &&
           confirms(head_response, stored, Name::last_modified);
}

}   // namespace garner::http
