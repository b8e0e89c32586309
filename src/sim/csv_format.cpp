#include "sim/csv_format.hpp"

#include <algorithm>
#include <span>

#include "util/text.hpp"

namespace garner::sim {
namespace {

constexpr std::string_view separators = ",\t; ";
constexpr std::array<std::string_view, 9> key_names{"key", "id", "obj_id", "object_id", "object", "obj", "url", "objectid", "uri"};
constexpr std::array<std::string_view, 6> size_names{"size", "bytes", "obj_size", "object_size", "objectsize", "length"};

bool is_one_of(std::span<std::string_view const> names, std::string_view name) {
    return std::any_of(names.begin(), names.end(), [&](auto known) { return equals_ignoring_case(known, name); });
}

/// The position after the closing quote of the quoted field at the start of `text`; npos when there is none.
std::size_t end_of_quoted(std::string_view text) {
    for (std::size_t at = 1;;) {
        auto quote = text.find('"', at);
        if (quote == text.npos) return text.npos;
        if (quote + 1 == text.size() || text[quote + 1] != '"') return quote + 1;
        at = quote + 2;
    }
}

}   // namespace

Record CsvFormat::operator()(std::string_view line) {
    if (columns_.count == 0) return learn(line);
    split(line, columns_.separator);
    return row(columns_);
}

/// The columns are unknown until a line reads as a header or a request.
Record CsvFormat::learn(std::string_view line) {
    Record first;
    for (char separator : separators) {
        split(line, separator);
        if (learn_header(separator)) return {};
        auto count = fields_.count;
        std::size_t key = count == 3 ? 1 : 0;
        Columns columns{.separator = separator, .count = count, .key = key, .size = key + 1};
        auto record =
            count == 2 || count == 3 ? row(columns) : Record::broken("the columns are neither time,key,size nor key,size");
        if (record.kind == Record::Kind::request) {
            columns_ = columns;
            return record;
        }
        // The reported error is the one for the most likely separator.
        if (first.kind == Record::Kind::nothing || (first.field.empty() && !record.field.empty())) first = record;
    }
    return first;
}

bool CsvFormat::learn_header(char separator) {
    Columns columns{.separator = separator, .count = fields_.count, .key = columns_max, .size = columns_max};
    for (std::size_t i = 0; i < fields_.count && fields_.fault.empty(); ++i) {
        if (columns.key == columns_max && is_one_of(key_names, fields_.at[i])) columns.key = i;
        if (columns.size == columns_max && is_one_of(size_names, fields_.at[i])) columns.size = i;
    }
    if (columns.key == columns_max || columns.size == columns_max) return false;
    columns_ = columns;
    return true;
}

Record CsvFormat::row(Columns const& columns) const {
    if (!fields_.fault.empty()) return Record::broken(fields_.fault);
    if (fields_.count < columns.count) return Record::broken("fewer columns than the first line");
    if (fields_.count > columns.count) return Record::broken("more columns than the first line");
    auto key = fields_.at[columns.key];
    if (key.empty()) return Record::broken("key", key, "is missing");
    auto read = read_size(fields_.at[columns.size]);
    if (!read.fault.empty()) return Record::broken("size", fields_.at[columns.size], read.fault);
    return Record::request(key_of(key), read.size);
}

/// Doubled quotes inside a quoted field stay doubled: a trace writes them so in every line.
void CsvFormat::split(std::string_view line, char separator) {
    fields_.count = 0;
    fields_.fault = {};
    for (bool more = true; more;) {
        if (fields_.count == columns_max) {
            fields_.fault = "too many columns";
            return;
        }
        bool quoted = line.starts_with('"');
        auto end = quoted ? end_of_quoted(line) : std::min(line.find(separator), line.size());
        if (end == line.npos || (end < line.size() && line[end] != separator)) {
            fields_.fault = "a quote that is not closed, or not at the end of its field";
            return;
        }
        fields_.at[fields_.count++] = quoted ? line.substr(1, end - 2) : trim(line.substr(0, end));
        more = end < line.size();
        line.remove_prefix(more ? end + 1 : end);
    }
}

}   // namespace garner::sim
