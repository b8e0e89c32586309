#include "admin/cache_text.hpp"

#include "admin/human.hpp"
#include "admin/json_members.hpp"

namespace garner::admin {

namespace {

std::string right(std::string const& text, std::size_t width) {
    return std::string(width - std::min(width, columns(text)), ' ') + text;
}

std::string freshness(std::int64_t seconds) {
    if (seconds > 0) return human_seconds(static_cast<double>(seconds));
    return "stale " + human_seconds(static_cast<double>(-seconds));
}

/// Joins the lines of selecting fields: "accept:de; accept-encoding:gzip".
std::string on_one_line(std::string text) {
    if (text.ends_with('\n')) text.pop_back();
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n', end)) text.replace(end, 1, "; ");
    return printable(std::move(text));
}

}   // namespace

std::string line_of_object(Json const& object) {
    auto line = right(human_bytes(static_cast<std::uint64_t>(number_at(object, "body_bytes"))), 10) +
                right(std::to_string(number_at(object, "status")), 5) + " " +
                right(freshness(number_at(object, "fresh_seconds")), 15) + "  " + on_one_line(text_at(object, "url"));
    if (auto const variant = text_at(object, "variant"); !variant.empty()) line += " [" + on_one_line(variant) + "]";
    if (at(object, "whole") == false) line += " (parts)";
    if (text_at(object, "partition") == "accelerator") line += " (accelerator)";
    return line;
}

std::string line_of_json(Json const& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace); }

}   // namespace garner::admin
