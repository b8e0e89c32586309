#include "import/json.hpp"

#include <algorithm>

#include "util/utf8.hpp"

namespace garner::importing {
namespace {

constexpr std::size_t columns = 120;

/// The length of the character at the beginning of the text; 0: none that is valid UTF-8.
std::size_t sequence_length(std::string_view text) {
    return static_cast<unsigned char>(text.front()) < 0x80 ? 1 : utf8_length(text);
}

void append_escaped(unsigned char c, std::string& out) {
    if (c == '"' || c == '\\') out += '\\';
    if (c >= ' ' && c != 0x7f)
        out += static_cast<char>(c);
    else
        out.append("\\u00").append({"0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]});
}

}   // namespace

Json Json::string(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        auto const length = sequence_length(text);
        if (length == 0)
            out += "\xef\xbf\xbd";
        else if (length == 1)
            append_escaped(static_cast<unsigned char>(text.front()), out);
        else
            out += text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return Json(Kind::plain, out + "\"");
}

Json Json::strings(std::vector<std::string> const& values) {
    if (values.size() == 1) return string(values.front());
    auto list = array();
    for (auto const& value : values) list.add(string(value));
    return list;
}

Json& Json::operator[](std::string_view key) {
    for (auto& [name, value] : members_)
        if (name == key) return value;
    members_.emplace_back(key, object());
    return members_.back().second;
}

Json const* Json::find(std::string_view key) const {
    auto const found = std::ranges::find(members_, key, [](auto const& member) { return std::string_view(member.first); });
    return found == members_.end() ? nullptr : &found->second;
}

Json& Json::add(Json item) {
    members_.emplace_back("", std::move(item));
    return members_.back().second;
}

void Json::erase(std::string_view key) {
    std::erase_if(members_, [&](auto const& member) { return member.first == key; });
}

std::string Json::line() const {
    if (kind_ == Kind::plain) return text_;
    if (members_.empty()) return kind_ == Kind::object ? "{}" : "[]";
    std::string out = kind_ == Kind::object ? "{ " : "[";
    for (auto const& [name, value] : members_) {
        if (&value != &members_.front().second) out += ", ";
        if (kind_ == Kind::object) out += string(name).text_ + ": ";
        out += value.line();
    }
    return out + (kind_ == Kind::object ? " }" : "]");
}

std::string Json::text(std::size_t indent) const {
    auto const whole = line();
    if (members_.empty() || (indent > 0 && whole.size() + indent <= columns)) return whole;
    std::string out = kind_ == Kind::object ? "{\n" : "[\n";
    for (auto const& [name, value] : members_) {
        out.append(indent + 4, ' ');
        if (kind_ == Kind::object) out += string(name).text_ + ": ";
        out += value.text(indent + 4);
        out += &value == &members_.back().second ? "\n" : ",\n";
    }
    return out.append(indent, ' ') + (kind_ == Kind::object ? "}" : "]");
}

}   // namespace garner::importing
