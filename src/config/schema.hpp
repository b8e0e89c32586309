// A JSON Schema of one kind of value, as text.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace garner::config {

/// The members of a schema object, in their order. Text rather than JSON values: every start makes the whole table of
/// keys, and only two commands print a schema.
class Schema {
public:
    /// Adds "name": "text"; the text is the program's own, without control characters.
    Schema& text(std::string name, std::string_view text) { return json(std::move(name), quoted(text)); }
    /// Adds a member whose value is JSON.
    Schema& json(std::string name, std::string value) {
        members_.emplace_back(std::move(name), std::move(value));
        return *this;
    }
    Schema& number(std::string name, auto value) { return json(std::move(name), std::to_string(value)); }

    void erase(std::string_view name) {
        std::erase_if(members_, [&](auto const& member) { return member.first == name; });
    }

    std::string object() const {
        std::string out = "{";
        for (auto const& [name, value] : members_) out += (out.size() > 1 ? "," : "") + quoted(name) + ":" + value;
        return out + "}";
    }

    static std::string quoted(std::string_view text) {
        std::string out = "\"";
        for (char c : text) {
            if (c == '"' || c == '\\') out += '\\';
            out += c;
        }
        return out + "\"";
    }

private:
    std::vector<std::pair<std::string, std::string>> members_;
};

inline Schema type_schema(std::string_view type) { return Schema().text("type", type); }

/// One of two forms.
inline Schema either_schema(Schema const& a, Schema const& b) {
    return Schema().json("oneOf", "[" + a.object() + "," + b.object() + "]");
}

}  // namespace garner::config
