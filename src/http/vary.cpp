#include "http/vary.hpp"

#include <algorithm>

#include "util/random_bits.hpp"
#include "util/sip_hash.hpp"
#include "util/text.hpp"

namespace garner::http {
namespace {

void append_part(std::string& out, std::size_t start, std::string_view part) {
    if (out.size() > start) out += ',';
    out += part;
}

/// RFC 9111 4.1: joins the lines and removes only white space that the list grammar ignores. Empty parts are kept: in an
/// unknown field they may have a meaning.
void append_any_field(std::string& out, std::string_view name, Fields const& request) {
    bool first = true;
    for (Field const& field : request) {
        if (!equals_ignoring_case(field.name, name)) continue;
        for_each_part(field.value, [&](std::string_view part) {
            if (!first) out += ',';
            first = false;
            out += part;
        });
    }
}

/// One member of Accept-Language or Accept-Encoding: case and white space are irrelevant (RFC 9110 12.4.2, 12.5).
std::string plain_member(std::string_view member) {
    std::string plain;
    for (char c : member)
        if (c != ' ' && c != '\t') plain += to_lower(c);
    return plain;
}

void append_accept_encoding(std::string& out, Fields const& request) {
    auto const start = out.size();
    for_each_member(request, Name::accept_encoding,
                    [&](std::string_view member) { append_part(out, start, plain_member(member)); });
}

/// RFC 9110 12.5.4: the weights give the preference; the order is irrelevant.
void append_accept_language(std::string& out, Fields const& request) {
    std::vector<std::string> members;
    for_each_member(request, Name::accept_language, [&](std::string_view member) { members.push_back(plain_member(member)); });
    std::ranges::sort(members);
    members.erase(std::ranges::unique(members).begin(), members.end());
    auto const start = out.size();
    for (auto const& member : members) append_part(out, start, member);
}

constexpr std::string_view hop_credentials = "proxy-authorization";

/// The key lives as long as the process: a store file that outlives it cannot be tested for guessed passwords.
SipKey const& key_of_secrets() {
    static SipKey const key{random_bits(), random_bits()};
    return key;
}

/// Replaces the text from `start` on by its digest.
void conceal(std::string& text, std::size_t start) {
    auto const digest = sip_hash(std::string_view(text).substr(start), key_of_secrets());
    text.resize(start);
    text += '#';
    for (auto const word : digest) append_hex(word, text);
}

void append_field(std::string& key, std::string_view name, Fields const& request) {
    switch (name_of(name)) {
    case Name::accept_language: return append_accept_language(key, request);
    case Name::accept_encoding: return append_accept_encoding(key, request);
    default: break;
    }
    auto const start = key.size();
    append_any_field(key, name, request);
    if (is_secret(name)) conceal(key, start);
}

void never_selects(VaryNames& vary, VaryNames::Never why) {
    vary.never = vary.star ? std::min(vary.never, why) : why;
    vary.star = true;
}

void add_names(VaryNames& vary, std::string_view list) {
    for_each_member(list, [&](std::string_view name) {
        if (name == "*")
            never_selects(vary, VaryNames::Never::star);
        else if (!is_token(name))
            never_selects(vary, VaryNames::Never::malformed);
        else if (equals_ignoring_case(name, hop_credentials))
            never_selects(vary, VaryNames::Never::hop_credentials);
        else
            vary.names.push_back(lower_case(name));
    });
}

// A longer list would only cost time for every request of the URL.
constexpr std::size_t vary_names_max = 32;

VaryNames in_order(VaryNames vary) {
    if (!vary.star && vary.names.size() > vary_names_max) never_selects(vary, VaryNames::Never::too_long);
    if (vary.star) vary.names.clear();
    std::ranges::sort(vary.names);
    vary.names.erase(std::ranges::unique(vary.names).begin(), vary.names.end());
    return vary;
}

}   // namespace

VaryNames parse_vary(std::string_view joined_value) {
    VaryNames vary;
    add_names(vary, joined_value);
    return in_order(std::move(vary));
}

VaryNames parse_vary(Fields const& response) {
    VaryNames vary;
    if (!response.has(Name::vary)) return vary;
    for (Field const& field : response)
        if (field.id == Name::vary) add_names(vary, field.value);
    return in_order(std::move(vary));
}

VaryNames effective_vary(Fields const& response, std::span<std::string const> key_fields) {
    auto vary = parse_vary(response);
    if (vary.star) return vary;
    // A cache cannot know if the origin would have sent another coding to a client without Accept-Encoding.
    if (response.has(Name::content_encoding)) vary.names.emplace_back("accept-encoding");
    for (auto const& name : key_fields) add_names(vary, name);
    return in_order(std::move(vary));
}

bool is_secret(std::string_view name) {
    constexpr std::string_view marks[]{"auth",   "cookie",  "token",     "secret",  "session", "passw", "credent",
                                       "apikey", "api-key", "signature", "api_key", "jwt",     "csrf",  "assertion"};
    auto const lower = lower_case(name);
    return std::ranges::any_of(marks, [&](auto mark) { return lower.find(mark) != lower.npos; });
}

std::string to_string(VaryNames const& vary) {
    if (vary.star) return "*";
    std::string text;
    for (auto const& name : vary.names) text.append(text.empty() ? "" : ", ").append(name);
    return text;
}

std::string variant_key(VaryNames const& vary, Fields const& request) {
    // "name:value\n", or "name\n" when absent: names contain no colon, and neither names nor values contain a line feed.
    std::string key;
    for (auto const& name : vary.names) {
        key += name;
        if (request.find(name)) {
            key += ':';
            append_field(key, name, request);
        }
        key += '\n';
    }
    return key;
}

std::string variant_key(std::string_view vary_value_joined, Fields const& request) {
    return variant_key(parse_vary(vary_value_joined), request);
}

}   // namespace garner::http
