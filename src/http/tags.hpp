// Tags of a response, by which an invalidation selects stored responses: Cache-Groups (RFC 9875), Surrogate-Key, Cache-Tag.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"

namespace garner::http {

inline constexpr std::size_t tags_max = 64;         // of one response
inline constexpr std::size_t tag_bytes_max = 256;   // of one tag

struct Tags {
    std::vector<std::string> names;
    /// A field violates its grammar, a tag is too long, or there are too many: the names are incomplete.
    bool unreadable = false;
};

/// The fields that Garner reads as tags, in the spelling of the configuration.
std::span<std::string_view const> tag_field_names();

/// The tags in `head` (lines that end with CRLF) by those of `fields`, each one of tag_field_names().
Tags tags_of(std::string_view head, std::span<std::string const> fields);

/// 1 to tag_bytes_max bytes without control characters.
bool is_tag(std::string_view text);

/// The groups in Cache-Group-Invalidation (RFC 9875 3). None if the field is absent or violates its grammar.
std::vector<std::string> invalidated_groups(ResponseHead const&);

}   // namespace garner::http
