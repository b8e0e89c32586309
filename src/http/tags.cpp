#include "http/tags.hpp"

#include <algorithm>
#include <array>

#include "http/structured.hpp"
#include "util/text.hpp"

namespace garner::http {

namespace {

constexpr std::array<std::string_view, 3> known_fields{"Cache-Groups", "Surrogate-Key", "Cache-Tag"};

void add(Tags& tags, std::string_view tag) {
    if (tag.empty()) return;
    if (tag.size() > tag_bytes_max || tags.names.size() == tags_max)
        tags.unreadable = true;
    else
        tags.names.emplace_back(tag);
}

/// Empty pieces are ignored.
void add_separated(Tags& tags, std::string_view value, std::string_view separators) {
    while (!value.empty()) {
        auto const end = value.find_first_of(separators);
        add(tags, trim(value.substr(0, end)));
        value = end == value.npos ? std::string_view() : value.substr(end + 1);
    }
}

void add_groups(Tags& tags, std::string_view value) {
    auto const groups = parse_string_list(value);
    tags.unreadable |= !groups;
    if (!groups) return;
    for (auto const& group : *groups) add(tags, group);
}

void add_field(Tags& tags, std::string_view name, std::string_view value) {
    if (equals_ignoring_case(name, "Surrogate-Key")) return add_separated(tags, value, " \t");
    if (equals_ignoring_case(name, "Cache-Tag")) return add_separated(tags, value, ",");
    add_groups(tags, value);
}

}   // namespace

std::span<std::string_view const> tag_field_names() { return known_fields; }

Tags tags_of(std::string_view head, std::span<std::string const> fields) {
    Tags tags;
    while (!head.empty()) {
        auto const line = head.substr(0, head.find("\r\n"));
        head.remove_prefix(std::min(line.size() + 2, head.size()));
        auto const colon = line.find(':');
        if (colon == line.npos) continue;
        auto const name = line.substr(0, colon);
        bool const is_tagged = std::ranges::any_of(fields, [&](auto const& field) { return equals_ignoring_case(field, name); });
        if (is_tagged) add_field(tags, name, trim(line.substr(colon + 1)));
    }
    return tags;
}

bool is_tag(std::string_view text) {
    auto const is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
    return !text.empty() && text.size() <= tag_bytes_max && std::ranges::none_of(text, is_control);
}

std::vector<std::string> invalidated_groups(ResponseHead const& response) {
    Tags tags;
    for (Field const& field : response.fields)
        if (equals_ignoring_case(field.name, "Cache-Group-Invalidation")) add_groups(tags, field.value);
    if (tags.unreadable) return {};
    std::erase_if(tags.names, [](auto const& group) { return !is_tag(group); });
    return std::move(tags.names);
}

}   // namespace garner::http
