// A JSON value that is written, never read. Members keep the order in which they were set.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace garner::importing {

class Json {
public:
    Json() = default;   // an empty object
    static Json object() { return Json(Kind::object, {}); }
    static Json array() { return Json(Kind::array, {}); }
    /// Bytes that are not UTF-8 are replaced by U+FFFD.
    static Json string(std::string_view text);
    static Json number(std::uint64_t value) { return Json(Kind::plain, std::to_string(value)); }
    /// A number or literal, unchanged.
    static Json plain(std::string text) { return Json(Kind::plain, std::move(text)); }
    static Json flag(bool value) { return Json(Kind::plain, value ? "true" : "false"); }
    /// A string, or an array if there are several.
    static Json strings(std::vector<std::string> const& values);

    /// The member, added if it is missing. Turns a fresh value into an object.
    Json& operator[](std::string_view key);
    Json const* find(std::string_view key) const;
    Json& add(Json item);
    void erase(std::string_view key);

    bool empty() const { return members_.empty(); }
    std::size_t size() const { return members_.size(); }

    /// One line without spaces around the outermost braces: for comparisons.
    std::string line() const;
    /// Indented by four spaces. A value that fits on a line of 120 characters is on one line.
    std::string text(std::size_t indent = 0) const;

private:
    enum class Kind : std::uint8_t { plain, object, array };
    Json(Kind kind, std::string text) : kind_(kind), text_(std::move(text)) {}

    Kind kind_ = Kind::object;
    std::string text_;   // a plain value
    std::vector<std::pair<std::string, Json>> members_;
};

}   // namespace garner::importing
