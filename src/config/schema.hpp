// A JSON Schema of one kind of value.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace garner::config {

/// The members of a schema object, in order. Every start builds the whole table of keys, but only a test writes the schema:
/// its text is created only by object().
class Schema {
public:
    /// Adds "name": "text"; the text must be a constant without control characters.
    Schema& text(std::string name, std::string_view text) { return add({std::move(name), std::string(text), Kind::text, {}}); }
    /// Adds a member whose value is JSON.
    Schema& json(std::string name, std::string value) { return add({std::move(name), std::move(value), Kind::json, {}}); }
    Schema& number(std::string name, auto value) { return json(std::move(name), std::to_string(value)); }
    /// Adds a member whose value is another schema object.
    Schema& object(std::string name, Schema value) { return add({std::move(name), {}, Kind::object, {shared(std::move(value))}}); }
    /// Adds a member whose value is a list of two schema objects.
    Schema& list(std::string name, Schema a, Schema b) {
        return add({std::move(name), {}, Kind::list, {shared(std::move(a)), shared(std::move(b))}});
    }

    void erase(std::string_view name) {
        std::erase_if(members_, [&](auto const& member) { return member.name == name; });
    }

    /// As JSON.
    std::string object() const {
        std::string out = "{";
        for (auto const& member : members_) out += (out.size() > 1 ? "," : "") + quoted(member.name) + ":" + member.value_text();
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
    enum class Kind : unsigned char { text, json, object, list };
    using Shared = std::shared_ptr<Schema const>;
    struct Member {
        std::string name;
        std::string value;
        Kind kind;
        std::vector<Shared> inner;

        std::string value_text() const {
            if (kind == Kind::text) return quoted(value);
            if (kind == Kind::json) return value;
            std::string out;
            for (auto const& schema : inner) out += (out.empty() ? "" : ",") + schema->object();
            return kind == Kind::list ? "[" + out + "]" : out;
        }
    };

    static Shared shared(Schema value) { return std::make_shared<Schema const>(std::move(value)); }
    Schema& add(Member member) {
        members_.push_back(std::move(member));
        return *this;
    }

    std::vector<Member> members_;
};

inline Schema type_schema(std::string_view type) { return Schema().text("type", type); }

/// A value of either form.
inline Schema either_schema(Schema a, Schema b) { return Schema().list("oneOf", std::move(a), std::move(b)); }

}   // namespace garner::config
