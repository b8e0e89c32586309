// Structured-field dictionaries and lists of strings (RFC 8941 3.1, 3.2, 4.2), read strictly.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"

namespace garner::http {

/// One member of a dictionary; its parameters were checked and dropped.
struct DictionaryMember {
    enum class Type : std::uint8_t { boolean, integer, decimal, string, token, bytes, inner_list };
    std::string_view key;
    Type type = Type::boolean;
    bool boolean = true;        // type boolean; a key without a value is true
    std::int64_t integer = 0;   // type integer, at most 15 digits
    std::string_view text;      // string: between its quotes, with its escapes; token: the token
};

/// RFC 8941 3.2 requires this many to be read; a dictionary with more does not parse.
inline constexpr std::size_t dictionary_members_max = 1024;

/// The members of all lines of the field `name`, in order; a repeated key yields the last one, at its last position. Nothing
/// when any line violates the grammar. A member may not continue on the next line. Views into the fields.
std::optional<std::vector<DictionaryMember>> parse_dictionary(Fields const&, std::string_view name);

/// The strings of a list (RFC 8941 3.1), without their escapes; their parameters are checked and dropped. Nothing when the text
/// violates the grammar or a member is no string.
std::optional<std::vector<std::string>> parse_string_list(std::string_view list);

}   // namespace garner::http
