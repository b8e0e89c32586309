#include "admin/cache_text.hpp"

#include <nlohmann/json.hpp>

#include "admin/human.hpp"

namespace garner::admin {

using Json = nlohmann::ordered_json;

namespace {

std::string right(std::string const& text, std::size_t width) {
    return std::string(width - std::min(width, columns(text)), ' ') + text;
}

std::string freshness(std::int64_t seconds) {
    if (seconds > 0) return human_seconds(static_cast<double>(seconds));
    return "stale " + human_seconds(static_cast<double>(-seconds));
}

/// Control characters become '?'; the lines of selecting fields are told apart by "; ".
std::string plain(std::string const& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto const byte = static_cast<unsigned char>(text[i]);
        if (byte == '\n')
            out += i + 1 < text.size() ? "; " : "";
        else
            out += byte < 0x20 || byte == 0x7f ? '?' : text[i];
    }
    return out;
}

}  // namespace

std::string line_of_object(Json const& object) {
    auto line = right(human_bytes(object.value("body_bytes", std::uint64_t{0})), 10) +
                right(std::to_string(object.value("status", 0)), 5) + " " +
                right(freshness(object.value("fresh_seconds", std::int64_t{0})), 15) + "  " + plain(object.value("url", ""));
    if (object.contains("variant") && object["variant"].is_string())
        line += " [" + plain(object["variant"].get<std::string>()) + "]";
    if (!object.value("whole", true)) line += " (parts)";
    if (object.value("partition", "") == "accelerator") line += " (accelerator)";
    return line;
}

std::string line_of_json(Json const& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace garner::admin
