// Cache-Control: numbers are bounded; case, line splits and repetition do not matter; adding a directive never relaxes the rules.
#include "http/cache_control.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "field_lines.hpp"
#include "util/text.hpp"

namespace {

using namespace garner;
using http::Name;
using Seconds = std::optional<http::DeltaSeconds>;

constexpr std::array<std::string_view, 1> targeted_names{"CDN-Cache-Control"};

void check_bounded(std::initializer_list<Seconds> numbers) {
    for (auto const& number : numbers) check(!number || *number <= http::delta_seconds_max);
}

void check_names(std::vector<std::string_view> const& names, http::ResponseCacheControl const& control) {
    check(names.size() <= 64);
    for (auto name : names) check(http::is_token(name) && !control.keeps_field(name));
}

// Everything of a response except names.
std::string plain(http::ResponseCacheControl const& c) {
    std::string text;
    for (bool flag : {c.no_cache, c.no_store, c.private_, c.public_, c.must_revalidate, c.proxy_revalidate, c.must_understand,
                      c.immutable, c.no_transform, c.targeted})
        text += flag ? '1' : '0';
    for (auto const& number : {c.max_age, c.s_maxage, c.stale_while_revalidate, c.stale_if_error})
        text += number ? " " + std::to_string(*number) : " -";
    return text;
}

std::string plain(http::RequestCacheControl const& c) {
    std::string text;
    for (bool flag : {c.no_cache, c.no_store, c.only_if_cached, c.no_transform, c.any_stale}) text += flag ? '1' : '0';
    for (auto const& number : {c.max_age, c.max_stale, c.min_fresh, c.stale_if_error})
        text += number ? " " + std::to_string(*number) : " -";
    return text;
}

/// Different spellings of one set of directives.
struct Spellings {
    fuzz::FieldLines upper, twice, one_line;
    bool joinable;

    explicit Spellings(http::Fields const& fields) : joinable(!fuzz::any_value_has(fields, '"')) {
        for (auto const& field : fields) upper.add(fuzz::upper_case(field.name), fuzz::upper_case(field.value));
        for (int time = 0; time < 2; ++time)
            for (auto const& field : fields) twice.add(field.name, field.value);
        for (auto const& field : fields)
            if (field.id != Name::cache_control) one_line.add(field.name, field.value);
        if (fields.has(Name::cache_control)) one_line.add("Cache-Control", fuzz::joined(fields, Name::cache_control));
    }
};

void check_request(http::Fields const& fields, Spellings const& spellings) {
    auto const control = http::parse_request_cache_control(fields);
    check_bounded({control.max_age, control.max_stale, control.min_fresh, control.stale_if_error});
    for (auto const* other : {&spellings.upper, &spellings.twice})
        check(plain(http::parse_request_cache_control(other->fields())) == plain(control));
    if (spellings.joinable) check(plain(http::parse_request_cache_control(spellings.one_line.fields())) == plain(control));
}

void check_response(http::Fields const& fields, Spellings const& spellings) {
    auto const control = http::parse_response_cache_control(fields);
    check(!control.targeted);
    check_bounded({control.max_age, control.s_maxage, control.stale_while_revalidate, control.stale_if_error});
    check_names(control.no_cache_fields, control);
    check_names(control.private_fields, control);
    check(plain(http::parse_response_cache_control(spellings.upper.fields())) == plain(control));
    if (spellings.joinable) check(plain(http::parse_response_cache_control(spellings.one_line.fields())) == plain(control));
    // Twice as many names may exceed the limit, which is stricter.
    auto const again = http::parse_response_cache_control(spellings.twice.fields());
    check(again.no_cache >= control.no_cache && again.private_ >= control.private_);
    if (control.no_cache_fields.size() + control.private_fields.size() <= 32) check(plain(again) == plain(control));
}

void check_stricter(http::Fields const& fields) {
    fuzz::FieldLines more;
    for (auto const& field : fields) more.add(field.name, field.value);
    more.add("Cache-Control", "no-store, max-age=1");
    auto const before = http::parse_response_cache_control(fields);
    auto after = http::parse_response_cache_control(more.fields());
    check(after.no_store && after.max_age == std::min<http::DeltaSeconds>(before.max_age.value_or(1), 1));
    after.no_store = before.no_store;
    after.max_age = before.max_age;
    check(plain(after) == plain(before));
}

void check_targeted(http::Fields const& fields) {
    auto const targeted = http::parse_targeted_cache_control(fields, targeted_names[0]);
    auto const control = http::parse_response_cache_control(fields, targeted_names);
    check(control.targeted == targeted.has_value());
    check(plain(control) == plain(targeted ? *targeted : http::parse_response_cache_control(fields)));
    check_bounded({control.max_age, control.s_maxage, control.stale_while_revalidate, control.stale_if_error});
    check_names(control.no_cache_fields, control);
    check_names(control.private_fields, control);
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Exact const bytes({reinterpret_cast<char const*>(data), size});
    fuzz::FieldLines const lines(bytes.view());
    Spellings const spellings(lines.fields());
    check_request(lines.fields(), spellings);
    check_response(lines.fields(), spellings);
    check_stricter(lines.fields());
    check_targeted(lines.fields());
    return 0;
}
