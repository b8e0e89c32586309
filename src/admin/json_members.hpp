// Access to members of a JSON object by path: they may be absent, null, or of another type.
#pragma once
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace garner::admin {

using Json = nlohmann::ordered_json;

/// "disk.size_bytes" becomes /disk/size_bytes.
inline Json::json_pointer pointer_to(std::string_view path) {
    std::string pointer = "/" + std::string(path);
    std::ranges::replace(pointer, '.', '/');
    return Json::json_pointer(pointer);
}

/// The member; null when absent.
inline Json const& at(Json const& json, std::string_view path) {
    static Json const nothing;
    auto const pointer = pointer_to(path);
    return json.is_object() && json.contains(pointer) ? json.at(pointer) : nothing;
}

inline bool is(Json const& json, std::string_view path) { return at(json, path) == true; }

/// Empty when it is no text.
inline std::string text_at(Json const& json, std::string_view path) {
    auto const& value = at(json, path);
    return value.is_string() ? value.get<std::string>() : "";
}

/// 0 when it is no number.
inline std::int64_t number_at(Json const& json, std::string_view path) {
    auto const& value = at(json, path);
    return value.is_number() ? value.get<std::int64_t>() : 0;
}

}   // namespace garner::admin
