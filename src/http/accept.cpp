#include "http/accept.hpp"

#include <algorithm>
#include <tuple>

#include "util/text.hpp"

namespace garner::http {

using RangeMatch = MediaPreference::Match;

namespace {

constexpr std::uint16_t full_weight = 1000;

/// RFC 9110 12.4.2, in thousandths; nothing when malformed.
std::optional<std::uint16_t> parse_weight(std::string_view text) {
    if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
    if (text.size() > 1 && text[1] != '.') return std::nullopt;
    unsigned weight = text[0] == '1' ? full_weight : 0u;
    unsigned place = full_weight / 10;
    for (char c : text.substr(std::min<std::size_t>(2, text.size()))) {
        if (!is_digit(c)) return std::nullopt;
        weight += static_cast<unsigned>(c - '0') * place;
        place /= 10;
    }
    if (weight > full_weight) return std::nullopt;
    return static_cast<std::uint16_t>(weight);
}

RangeMatch match_of(std::string_view range, std::string_view type) {
    if (range == "*/*") return RangeMatch::any;
    if (equals_ignoring_case(range, type)) return RangeMatch::exact;
    auto const type_alone = type.substr(0, type.find('/') + 1);   // "text/"
    bool const is_of_type = range.ends_with("/*") && equals_ignoring_case(range.substr(0, range.size() - 1), type_alone);
    return is_of_type ? RangeMatch::type : RangeMatch::none;
}

}   // namespace

std::optional<std::uint16_t> weight_of(std::string_view member) {
    for (auto semicolon = member.find(';'); semicolon != member.npos; semicolon = member.find(';')) {
        member.remove_prefix(semicolon + 1);
        auto const parameter = trim(member.substr(0, member.find(';')));
        if (parameter.size() >= 2 && to_lower(parameter[0]) == 'q' && parameter[1] == '=') return parse_weight(parameter.substr(2));
    }
    return full_weight;
}

MediaPreference media_preference(Fields const& request, std::string_view type) {
    MediaPreference found;
    for_each_member(request, Name::accept, [&](std::string_view member) {
        auto const match = match_of(trim(member.substr(0, member.find(';'))), type);
        auto const weight = weight_of(member);
        if (match == RangeMatch::none || !weight) return;
        if (std::tie(match, *weight) > std::tie(found.match, found.weight)) found = {*weight, match};
    });
    return found;
}

}   // namespace garner::http
