#include "cache/invalidation.hpp"

#include <algorithm>
#include <array>

#include "http/tags.hpp"
#include "http/uri.hpp"
#include "util/option_words.hpp"
#include "util/text.hpp"

namespace garner::cache {

namespace {

using Kind = Invalidation::Kind;

constexpr std::array<std::string_view, 4> kind_names{"url", "prefix", "tag", "all"};
constexpr std::string_view every_origin = "*";

Result<std::string> normal_form(std::string_view url, char const* example) {
    http::UriError error;
    auto const uri = http::parse_absolute(url, error);
    if (!uri) return Fault{quoted_word(url) + " is not a URL like " + example + ": " + error.refusal};
    std::string normal;
    http::append_normalised(*uri, normal);
    return normal;
}

/// Takes the text before the next space.
std::string_view next_word(std::string_view& rest) {
    auto const end = rest.find(' ');
    auto const word = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    return word;
}

}   // namespace

Result<Invalidation> url_invalidation(std::string_view url, bool soft) {
    auto normal = normal_form(url, "http://example.com/page");
    if (!normal) return normal.fault();
    return Invalidation{.kind = Kind::url, .soft = soft, .text = *std::move(normal)};
}

Result<Invalidation> prefix_invalidation(std::string_view url, bool soft) {
    constexpr char const* example = "http://example.com/pictures/";
    auto normal = normal_form(url, example);
    if (!normal) return normal.fault();
    bool const has_query = normal->find('?') != normal->npos;
    if (has_query || !normal->ends_with('/'))
        return Fault{quoted_word(url) + (has_query ? " has a query" : " does not end with /"),
                     std::string("write a prefix like ") + example};
    auto const path = std::string_view(*normal).substr(origin_of(*normal).size());
    if (static_cast<std::size_t>(std::ranges::count(path, '/')) > prefix_slashes_max)
        return Fault{quoted_word(url) + " has more than " + std::to_string(prefix_slashes_max) + " slashes in its path",
                     "write a shorter prefix"};
    return Invalidation{.kind = Kind::prefix, .soft = soft, .text = *std::move(normal)};
}

Result<Invalidation> tag_invalidation(std::string_view tag, std::string_view origin, bool soft) {
    if (!http::is_tag(tag))
        return Fault{quoted_word(tag.substr(0, 40)) + " is not a tag",
                     "write 1 to " + std::to_string(http::tag_bytes_max) + " bytes without control characters"};
    Invalidation one{.kind = Kind::tag, .soft = soft, .text = std::string(tag)};
    if (origin.empty()) return one;
    auto const normal = normal_form(origin, "http://example.com");
    if (!normal) return normal.fault();
    one.origin = origin_of(*normal);
    return one;
}

std::string text_of(Invalidation const& what) {
    auto const of = what.kind != Kind::tag || what.origin.empty() ? std::string() : " of " + what.origin;
    if (what.kind == Kind::all) return "everything";
    auto const name = what.kind == Kind::url ? "URL" : kind_names[static_cast<std::size_t>(what.kind)];
    return std::string(name) + " " + what.text + of;
}

std::string_view origin_of(std::string_view url) {
    auto const scheme = url.find("://");
    return scheme == url.npos ? std::string_view() : url.substr(0, url.find('/', scheme + 3));
}

std::string line_of(Noted const& noted) {
    auto const& what = noted.what;
    auto line = std::to_string(noted.number) + " " + std::to_string(noted.at.time_since_epoch().count());
    line += what.soft ? " soft " : " hard ";
    line.append(kind_names[static_cast<std::size_t>(what.kind)]).append(" ");
    line.append(what.origin.empty() ? every_origin : std::string_view(what.origin)).append(" ");
    return line += what.text;
}

std::optional<Noted> noted_in(std::string_view line) {
    Noted noted;
    auto const number = parse_decimal(next_word(line));
    auto const at = parse_decimal(next_word(line));
    auto const strength = next_word(line);
    auto const kind = std::ranges::find(kind_names, next_word(line));
    auto const origin = next_word(line);
    bool const known = number && at && (strength == "soft" || strength == "hard") && kind != kind_names.end() && !origin.empty();
    if (!known || *at > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
    noted.number = *number;
    noted.at = WallTime{milliseconds{static_cast<std::int64_t>(*at)}};
    noted.what = {.kind = static_cast<Kind>(kind - kind_names.begin()),
                  .soft = strength == "soft",
                  .origin = origin == every_origin ? std::string() : std::string(origin),
                  .text = std::string(line)};
    if (noted.what.text.empty() != (noted.what.kind == Kind::all)) return std::nullopt;
    return noted;
}

}   // namespace garner::cache
