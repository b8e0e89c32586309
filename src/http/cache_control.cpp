#include "http/cache_control.hpp"

#include <algorithm>

#include "http/structured.hpp"
#include "util/text.hpp"

namespace garner::http {
namespace {

/// name, name=token or name="quoted" (RFC 9111 5.2).
struct Directive {
    std::string_view name;
    std::string_view argument;   // without its quotes
    bool has_argument = false;

    bool is(std::string_view known) const { return equals_ignoring_case(name, known); }
};

// White space around "=" is not in the grammar. The name counts all the same, so that no-store and similar apply. The
// argument keeps its space and is therefore no number.
Directive split(std::string_view member) {
    auto const equals = member.find('=');
    Directive directive{.name = trim(member.substr(0, equals)), .argument = {}, .has_argument = false};
    if (equals == std::string_view::npos) return directive;
    directive.has_argument = true;
    directive.argument = member.substr(equals + 1);
    if (equals != directive.name.size()) directive.argument = " ";
    auto& text = directive.argument;
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    return directive;
}

void keep_smaller(std::optional<DeltaSeconds>& kept, DeltaSeconds value) { kept = std::min(kept.value_or(value), value); }
void keep_larger(std::optional<DeltaSeconds>& kept, DeltaSeconds value) { kept = std::max(kept.value_or(value), value); }

/// RFC 9111 5.2.1, one directive.
void apply(Directive const& directive, RequestCacheControl& control) {
    auto const value = parse_delta_seconds(directive.argument);
    // A client that wants a recent response gets it from the origin, even if its argument is unreadable.
    bool const wants_recent = directive.is("max-age") || directive.is("min-fresh");
    if (directive.is("no-cache") || (wants_recent && !value))
        control.no_cache = true;
    else if (directive.is("max-age"))
        keep_smaller(control.max_age, *value);
    else if (directive.is("min-fresh"))
        keep_larger(control.min_fresh, *value);
    else if (directive.is("no-store"))
        control.no_store = true;
    else if (directive.is("only-if-cached"))
        control.only_if_cached = true;
    else if (directive.is("no-transform"))
        control.no_transform = true;
    else if (directive.is("max-stale")) {
        if (value) keep_smaller(control.max_stale, *value);
        if (!directive.has_argument) control.any_stale = true;
    } else if (directive.is("stale-if-error") && value)
        keep_smaller(control.stale_if_error, *value);
}

// No reasonable list is longer; every field to be stored is looked up in it.
constexpr std::size_t names_max = 64;

/// The names of no-cache="…" or private="…". A list that is empty, too long or holds an invalid name is ignored: the
/// directive then applies to the whole response, which is stricter.
void apply_names(Directive const& directive, bool& whole, std::vector<std::string_view>& names) {
    auto const before = names.size();
    bool valid = true;
    for_each_member(directive.argument, [&](std::string_view name) {
        valid = valid && is_token(name) && names.size() < names_max;
        if (valid) names.push_back(name);
    });
    if (valid && names.size() > before) return;
    names.resize(before);
    whole = true;
}

/// RFC 9111 5.2.2, one directive.
void apply(Directive const& directive, ResponseCacheControl& control) {
    auto const value = parse_delta_seconds(directive.argument);
    if (directive.is("max-age"))
        keep_smaller(control.max_age, value.value_or(0));
    else if (directive.is("s-maxage"))
        keep_smaller(control.s_maxage, value.value_or(0));
    else if (directive.is("no-cache"))
        apply_names(directive, control.no_cache, control.no_cache_fields);
    else if (directive.is("private"))
        apply_names(directive, control.private_, control.private_fields);
    else if (directive.is("no-store"))
        control.no_store = true;
    else if (directive.is("public"))
        control.public_ = true;
    else if (directive.is("must-revalidate"))
        control.must_revalidate = true;
    else if (directive.is("proxy-revalidate"))
        control.proxy_revalidate = true;
    else if (directive.is("must-understand"))
        control.must_understand = true;
    else if (directive.is("immutable"))
        control.immutable = true;
    else if (directive.is("no-transform"))
        control.no_transform = true;
    else if (directive.is("stale-while-revalidate") && value)
        keep_smaller(control.stale_while_revalidate, *value);
    else if (directive.is("stale-if-error") && value)
        keep_smaller(control.stale_if_error, *value);
}

enum class Takes : std::uint8_t { seconds, names, nothing };

/// The value type of a directive in a targeted field (RFC 9213 2.1); nothing for unknown directives.
std::optional<Takes> type_of(std::string_view directive) {
    for (auto known : {"max-age", "s-maxage", "stale-while-revalidate", "stale-if-error"})
        if (directive == known) return Takes::seconds;
    for (auto known : {"no-cache", "private"})
        if (directive == known) return Takes::names;
    for (auto known : {"no-store", "public", "must-revalidate", "proxy-revalidate", "must-understand", "immutable", "no-transform"})
        if (directive == known) return Takes::nothing;
    return std::nullopt;
}

/// False when a known directive has a value of the wrong type: the whole field then counts as unreadable.
bool apply(DictionaryMember const& member, ResponseCacheControl& control) {
    using Type = DictionaryMember::Type;
    auto const takes = type_of(member.key);
    if (!takes) return true;
    if (member.type == Type::boolean && *takes != Takes::seconds) {
        if (member.boolean) apply(Directive{.name = member.key, .argument = {}, .has_argument = false}, control);
        return true;
    }
    if (member.type == Type::string && *takes == Takes::names) {
        apply(Directive{.name = member.key, .argument = member.text, .has_argument = true}, control);
        return true;
    }
    if (member.type != Type::integer || *takes != Takes::seconds) return false;
    auto const value = static_cast<DeltaSeconds>(std::clamp<std::int64_t>(member.integer, 0, delta_seconds_max));
    if (member.key == "max-age") control.max_age = value;
    if (member.key == "s-maxage") control.s_maxage = value;
    if (member.key == "stale-while-revalidate") control.stale_while_revalidate = value;
    if (member.key == "stale-if-error") control.stale_if_error = value;
    return true;
}

}   // namespace

std::optional<DeltaSeconds> parse_delta_seconds(std::string_view digits) {
    if (digits.empty() || !std::ranges::all_of(digits, is_digit)) return std::nullopt;
    // RFC 9111 1.2.2: any overflow becomes 2^31.
    auto const value = parse_decimal(digits).value_or(delta_seconds_max);
    return static_cast<DeltaSeconds>(std::min<std::uint64_t>(value, delta_seconds_max));
}

bool ResponseCacheControl::keeps_field(std::string_view name) const {
    auto const is_name = [&](std::string_view listed) { return equals_ignoring_case(listed, name); };
    return std::ranges::none_of(no_cache_fields, is_name) && std::ranges::none_of(private_fields, is_name);
}

RequestCacheControl parse_request_cache_control(Fields const& request) {
    RequestCacheControl control;
    if (request.has(Name::cache_control))
        for_each_member(request, Name::cache_control, [&](std::string_view member) { apply(split(member), control); });
    else if (request.has(Name::pragma))   // RFC 9111 5.4
        for_each_member(request, Name::pragma, [&](std::string_view member) {
            if (equals_ignoring_case(member, "no-cache")) control.no_cache = true;
        });
    return control;
}

ResponseCacheControl parse_response_cache_control(Fields const& response) {
    ResponseCacheControl control;
    for_each_member(response, Name::cache_control, [&](std::string_view member) { apply(split(member), control); });
    return control;
}

std::optional<ResponseCacheControl> parse_targeted_cache_control(Fields const& response, std::string_view name) {
    auto const members = parse_dictionary(response, name);
    if (!members || members->empty()) return std::nullopt;
    ResponseCacheControl control;
    control.targeted = true;
    for (DictionaryMember const& member : *members)
        if (!apply(member, control)) return std::nullopt;
    return control;
}

ResponseCacheControl parse_response_cache_control(Fields const& response, std::span<std::string_view const> targeted) {
    for (std::string_view name : targeted)
        if (auto control = parse_targeted_cache_control(response, name)) return *std::move(control);
    return parse_response_cache_control(response);
}

}   // namespace garner::http
