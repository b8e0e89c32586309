#include "http/structured.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace garner::http {
namespace {

/// Parses one line from the left. Every step returns false when the grammar is violated.
class Parser {
public:
    explicit Parser(std::string_view text) : rest_(text) {}

    /// RFC 8941 4.2.2.
    bool dictionary(std::vector<DictionaryMember>& members) {
        return separated([&] {
            DictionaryMember member;
            if (!key(member.key)) return false;
            if (take('=') ? !value(member) : !parameters()) return false;
            std::erase_if(members, [&](DictionaryMember const& old) { return old.key == member.key; });
            if (members.size() == dictionary_members_max) return false;
            members.push_back(member);
            return true;
        });
    }

    /// RFC 8941 4.2.1, for strings only.
    bool strings(std::vector<std::string>& list) {
        return separated([&] {
            DictionaryMember item;
            if (!at('"') || !string(item) || !parameters()) return false;
            list.push_back(without_escapes(item.text));
            return true;
        });
    }

private:
    using Type = DictionaryMember::Type;

    /// Members separated by commas, which member() takes.
    template <class Member>
    bool separated(Member member) {
        skip(" ");
        while (!rest_.empty()) {
            if (!member()) return false;
            skip(" \t");
            if (rest_.empty()) return true;
            if (!take(',')) return false;
            skip(" \t");
            if (rest_.empty()) return false;   // a trailing comma
        }
        return true;
    }

    static std::string without_escapes(std::string_view text) {
        std::string plain;
        for (std::size_t i = 0; i < text.size(); ++i) plain += text[i] == '\\' ? text[++i] : text[i];
        return plain;
    }

    bool at(char c) const { return rest_.starts_with(c); }
    bool take(char c) {
        if (!at(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void skip(std::string_view any_of) { rest_.remove_prefix(std::min(rest_.find_first_not_of(any_of), rest_.size())); }
    template <class Belongs>
    std::string_view take_while(Belongs belongs) {
        std::size_t size = 0;
        while (size < rest_.size() && belongs(rest_[size])) ++size;
        auto taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    bool key(std::string_view& out) {
        if (rest_.empty() || !(is_lower(rest_[0]) || rest_[0] == '*')) return false;
        out = take_while([](char c) { return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '*'; });
        return true;
    }

    // 4.2.1.1
    bool value(DictionaryMember& member) {
        if (at('(')) {
            member.type = Type::inner_list;
            return inner_list() && parameters();
        }
        return bare_item(member) && parameters();
    }

    // 4.2.1.2
    bool inner_list() {
        take('(');
        DictionaryMember item;
        for (;;) {
            skip(" ");
            if (take(')')) return true;
            if (!bare_item(item) || !parameters()) return false;
            if (!at(' ') && !at(')')) return false;
        }
    }

    // 4.2.3.2
    bool parameters() {
        std::string_view name;
        DictionaryMember item;
        while (take(';')) {
            skip(" ");
            if (!key(name)) return false;
            if (take('=') && !bare_item(item)) return false;
        }
        return true;
    }

    // 4.2.3.1
    bool bare_item(DictionaryMember& item) {
        if (rest_.empty()) return false;
        char const c = rest_[0];
        if (c == '-' || is_digit(c)) return number(item);
        if (c == '"') return string(item);
        if (c == '*' || is_alpha(c)) return token(item);
        if (c == ':') return bytes(item);
        if (c == '?') return boolean(item);
        return false;
    }

    // 4.2.4
    bool number(DictionaryMember& item) {
        bool const negative = take('-');
        auto const whole = take_while(is_digit);
        if (whole.empty() || whole.size() > 15) return false;
        if (take('.')) {
            auto const fraction = take_while(is_digit);
            item.type = Type::decimal;
            return whole.size() <= 12 && !fraction.empty() && fraction.size() <= 3;
        }
        item.type = Type::integer;
        item.integer = static_cast<std::int64_t>(*parse_decimal(whole));
        if (negative) item.integer = -item.integer;
        return true;
    }

    // 4.2.5
    bool string(DictionaryMember& item) {
        take('"');
        for (std::size_t i = 0; i < rest_.size(); ++i) {
            auto const c = static_cast<unsigned char>(rest_[i]);
            if (c == '"') {
                item.type = Type::string;
                item.text = rest_.substr(0, i);
                rest_.remove_prefix(i + 1);
                return true;
            }
            if (c < 0x20 || c > 0x7e) return false;
            if (c == '\\' && (++i >= rest_.size() || (rest_[i] != '"' && rest_[i] != '\\'))) return false;
        }
        return false;
    }

    // 4.2.6
    bool token(DictionaryMember& item) {
        item.type = Type::token;
        item.text = take_while([](char c) { return c == ':' || c == '/' || is_token({&c, 1}); });
        return true;
    }

    // 4.2.7
    bool bytes(DictionaryMember& item) {
        take(':');
        take_while([](char c) { return is_alpha(c) || is_digit(c) || c == '+' || c == '/' || c == '='; });
        item.type = Type::bytes;
        return take(':');
    }

    // 4.2.8
    bool boolean(DictionaryMember& item) {
        take('?');
        item.type = Type::boolean;
        item.boolean = at('1');
        return take('1') || take('0');
    }

    std::string_view rest_;
};

}   // namespace

std::optional<std::vector<DictionaryMember>> parse_dictionary(Fields const& fields, std::string_view name) {
    std::vector<DictionaryMember> members;
    auto const id = name_of(name);
    for (Field const& field : fields) {
        if (field.id != id || !equals_ignoring_case(field.name, name)) continue;
        if (!Parser(field.value).dictionary(members)) return std::nullopt;
    }
    return members;
}

std::optional<std::vector<std::string>> parse_string_list(std::string_view list) {
    std::vector<std::string> strings;
    if (!Parser(list).strings(strings)) return std::nullopt;
    return strings;
}

}   // namespace garner::http
