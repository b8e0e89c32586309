#include "http/vary.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace garner::http {
namespace {

/// Calls `use` for each part between commas that stand outside quoted strings, trimmed, empty ones too: in a field that
/// we do not know they might mean something.
template <class Use>
void for_each_part(std::string_view value, Use use) {
    std::size_t begin = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (quoted && value[i] == '\\')
            ++i;
        else if (value[i] == '"')
            quoted = !quoted;
        else if (value[i] == ',' && !quoted) {
            use(trim(value.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    use(trim(value.substr(begin)));
}

void append_part(std::string& out, std::size_t start, std::string_view part) {
    if (out.size() > start) out += ',';
    out += part;
}

/// RFC 9111 4.1: lines combined, white space that the grammar of lists ignores taken away, nothing else.
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

/// One member of Accept-Language or Accept-Encoding: case and white space mean nothing (RFC 9110 12.4.2, 12.5).
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

/// RFC 9110 12.5.4: preference is in the weights; the order says nothing.
void append_accept_language(std::string& out, Fields const& request) {
    std::vector<std::string> members;
    for_each_member(request, Name::accept_language,
                    [&](std::string_view member) { members.push_back(plain_member(member)); });
    std::ranges::sort(members);
    members.erase(std::ranges::unique(members).begin(), members.end());
    auto const start = out.size();
    for (auto const& member : members) append_part(out, start, member);
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
        else
            vary.names.push_back(lower_case(name));
    });
}

// More names than any honest origin lists would only cost every request of the URL its time.
constexpr std::size_t names_max = 32;

VaryNames in_order(VaryNames vary) {
    if (!vary.star && vary.names.size() > names_max) never_selects(vary, VaryNames::Never::too_long);
    if (vary.star) vary.names.clear();
    std::ranges::sort(vary.names);
    vary.names.erase(std::ranges::unique(vary.names).begin(), vary.names.end());
    return vary;
}

}  // namespace

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

std::string to_string(VaryNames const& vary) {
    if (vary.star) return "*";
    std::string text;
    for (auto const& name : vary.names) {
        if (!text.empty()) text += ", ";
        text += name;
    }
    return text;
}

std::string variant_key(VaryNames const& vary, Fields const& request) {
    // "name:value\n", or "name\n" when absent: a name holds no colon, and neither holds a line feed.
    std::string key;
    for (auto const& name : vary.names) {
        key += name;
        if (request.find(name)) {
            key += ':';
            switch (name_of(name)) {
            case Name::accept_language: append_accept_language(key, request); break;
            case Name::accept_encoding: append_accept_encoding(key, request); break;
            default: append_any_field(key, name, request);
            }
        }
        key += '\n';
    }
    return key;
}

std::string variant_key(std::string_view vary_value_joined, Fields const& request) {
    return variant_key(parse_vary(vary_value_joined), request);
}

}  // namespace garner::http
