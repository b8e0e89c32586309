// Vary: names are normalized; variant keys depend only on the named fields, however they are spelled and split.
#include "http/vary.hpp"

#include <algorithm>
#include <string>

#include "field_lines.hpp"
#include "util/text.hpp"

namespace {

using namespace garner;

bool same(http::VaryNames const& a, http::VaryNames const& b) { return a.star == b.star && a.names == b.names; }

void check_names(http::VaryNames const& vary) {
    check(vary.names.size() <= 32 && (!vary.star || vary.names.empty()));
    check(std::ranges::is_sorted(vary.names) && std::ranges::adjacent_find(vary.names) == vary.names.end());
    for (auto const& name : vary.names) check(http::is_token(name) && name == lower_case(name));
    check(same(http::parse_vary(http::to_string(vary)), vary));
}

bool is_named(http::VaryNames const& vary, std::string_view name) {
    return std::ranges::binary_search(vary.names, lower_case(name));
}

/// One line for each name, at the position of its first line.
void join_lines(http::Fields const& fields, fuzz::FieldLines& joined) {
    for (auto const& field : fields) {
        if (joined.fields().find(field.name)) continue;
        std::string value;
        bool first = true;
        for (auto const& other : fields) {
            if (!equals_ignoring_case(other.name, field.name)) continue;
            if (!first) value += " \t,  ";
            value += other.value;
            first = false;
        }
        joined.add(field.name, value);
    }
}

void check_key(http::VaryNames const& vary, http::Fields const& request) {
    auto const key = http::variant_key(vary, request);
    check(static_cast<std::size_t>(std::ranges::count(key, '\n')) == vary.names.size());
    check(http::variant_key(http::to_string(vary), request) == key);

    fuzz::FieldLines named, shouted, joined;
    for (auto const& field : request) {
        shouted.add(fuzz::upper_case(field.name), field.value);
        if (is_named(vary, field.name)) named.add(field.name, field.value);
    }
    check(http::variant_key(vary, shouted.fields()) == key);
    check(http::variant_key(vary, named.fields()) == key);
    join_lines(request, joined);
    if (!fuzz::any_value_has(request, '"')) check(http::variant_key(vary, joined.fields()) == key);

    // An additional named field selects another variant, even if it is empty.
    for (auto const& name : vary.names) {
        if (request.find(name)) continue;
        fuzz::FieldLines more;
        for (auto const& field : request) more.add(field.name, field.value);
        more.add(name, "");
        check(http::variant_key(vary, more.fields()) != key);
    }
}

/// RFC 9110 12.5.4: the order of languages has no meaning.
void check_order(http::VaryNames const& vary, http::Fields const& request) {
    fuzz::FieldLines backwards;
    for (auto at = request.end(); at != request.begin();)
        if ((--at)->id == http::Name::accept_language) backwards.add(at->name, at->value);
    for (auto const& field : request)
        if (field.id != http::Name::accept_language) backwards.add(field.name, field.value);
    check(http::variant_key(vary, backwards.fields()) == http::variant_key(vary, request));
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Exact const bytes({reinterpret_cast<char const*>(data), size});
    fuzz::FieldLines const lines(bytes.view());   // serve as the response's Vary and as the request's fields
    auto const vary = http::parse_vary(lines.fields());
    check_names(vary);
    if (!fuzz::any_value_has(lines.fields(), '"'))
        check(same(vary, http::parse_vary(fuzz::joined(lines.fields(), http::Name::vary))));
    if (vary.star) return 0;
    check_key(vary, lines.fields());
    check_order(vary, lines.fields());
    return 0;
}
