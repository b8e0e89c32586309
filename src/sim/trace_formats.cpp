#include "sim/trace_formats.hpp"

#include <algorithm>
#include <vector>

#include "sim/csv_format.hpp"
#include "sim/log_formats.hpp"
#include "sim/oracle_general_format.hpp"
#include "util/option_words.hpp"
#include "util/text.hpp"

namespace garner::sim {
namespace {

TraceFormat make_csv() { return CsvFormat(); }

template <auto read>
TraceFormat make() {
    return read;
}

// clang-format off
constexpr std::array format_rows{
    FormatRow{"csv", "lines of time,key,size or key,size, or as a header names them", make_csv, {".csv"}},
    FormatRow{"squid", "Squid's access.log, and Garner's of that format", make<read_squid>, {}},
    FormatRow{"combined", "the combined or common log of Apache, nginx, Garner", make<read_combined>, {}},
    FormatRow{"json", "Garner's access log of that format", make<read_json>, {".json", ".jsonl"}},
    FormatRow{"oracleGeneral", "libCacheSim's binary records", make<read_oracle_general>, {".oraclegeneral"},
              oracle_record_bytes, looks_like_oracle_general},
};
// clang-format on

constexpr std::size_t lines_tried = 64;

/// How well a format reads the first lines.
struct Fit {
    std::size_t told = 0;   // lines that should contain a record
    std::size_t read = 0;   // lines that did

    bool fits() const { return read > 0 && 2 * read >= told; }
};

Fit fit_of_lines(FormatRow const& row, std::string_view head, bool whole) {
    Fit fit;
    auto format = row.make();
    for (head = without_mark(head); !head.empty() && fit.told < lines_tried;) {
        auto end = head.find('\n');
        if (end == head.npos && !whole) break;
        auto record = read_line(format, head.substr(0, end));
        fit.told += record.kind != Record::Kind::nothing;
        fit.read += record.kind != Record::Kind::nothing && record.kind != Record::Kind::broken;
        head.remove_prefix(end == head.npos ? head.size() : end + 1);
    }
    return fit;
}

Fit fit_of(FormatRow const& row, std::string_view head, bool whole) {
    if (!row.looks_like) return fit_of_lines(row, head, whole);
    return {lines_tried, row.looks_like(head) ? lines_tried : 0};
}

bool tells(std::string_view file_name, FormatRow const& row) {
    auto folder = file_name.rfind('/');
    auto name = lower_case(folder == file_name.npos ? file_name : file_name.substr(folder + 1)) + '.';
    return std::any_of(row.endings.begin(), row.endings.end(), [&](std::string_view ending) {
        return !ending.empty() && name.find(std::string(ending) + '.') != name.npos;
    });
}

}   // namespace

std::span<FormatRow const> trace_formats() { return format_rows; }

FormatRow const* trace_format(std::string_view name) {
    auto const row = std::ranges::find_if(format_rows, [&](auto const& one) { return equals_ignoring_case(one.name, name); });
    return row == format_rows.end() ? nullptr : &*row;
}

std::string trace_format_names() { return names_of(format_rows); }

FormatRow const* find_format(std::string_view file_name, std::string_view head, bool whole) {
    FormatRow const* best = nullptr;
    std::size_t most = 0;
    for (auto const& row : format_rows) {
        auto fit = fit_of(row, head, whole);
        if (tells(file_name, row) && (fit.read > 0 || fit.told == 0)) return &row;
        if (!fit.fits() || fit.read <= most) continue;
        best = &row;
        most = fit.read;
    }
    return best;
}

Record read_line(TraceFormat const& format, std::string_view line) {
    if (line.size() > line_bytes_max) return Record::broken("longer than 64 KiB");
    if (line.ends_with('\r')) line.remove_suffix(1);
    while (line.ends_with(' ')) line.remove_suffix(1);   // tabs stay: an empty last column may follow one
    auto text = trim(line);
    if (text.empty() || text.front() == '#') return {};
    if (text.find('\0') != text.npos) return Record::broken("a NUL byte in a text");
    return format(line);
}

std::string_view without_mark(std::string_view head) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    return head.starts_with(mark) ? head.substr(mark.size()) : head;
}

}   // namespace garner::sim
