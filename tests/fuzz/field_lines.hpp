// Inputs of the targets that read field values: lines "Name: value", each ended by LF; other lines are ignored.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzzed.hpp"
#include "http/message.hpp"

namespace garner::fuzz {

/// Fields with each line in a separate allocation.
class FieldLines {
public:
    FieldLines() = default;
    explicit FieldLines(std::string_view text) {
        while (!text.empty()) {
            auto const end = text.find('\n');
            add(text.substr(0, end));
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        }
    }

    void add(std::string_view line) {
        auto bytes = std::make_unique<Exact>(line);
        http::Field field;
        if (http::parse_field_line(bytes->view(), field)) return;
        fields_.add(field);
        lines_.push_back(std::move(bytes));
    }
    void add(std::string_view name, std::string_view value) { add(std::string(name).append(": ").append(value)); }
    http::Fields const& fields() const { return fields_; }

private:
    std::vector<std::unique_ptr<Exact>> lines_;
    http::Fields fields_;
};

/// All values of a field joined as one list with ", " (RFC 9110 5.3).
inline std::string joined(http::Fields const& fields, http::Name id) {
    std::string list;
    for (auto const& field : fields)
        if (field.id == id) list.append(list.empty() ? "" : ", ").append(field.value);
    return list;
}

inline bool any_value_has(http::Fields const& fields, char byte) {
    for (auto const& field : fields)
        if (field.value.find(byte) != std::string_view::npos) return true;
    return false;
}

inline std::string upper_case(std::string_view text) {
    std::string upper;
    for (char c : text) upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return upper;
}

}   // namespace garner::fuzz
