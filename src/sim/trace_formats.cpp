#include "sim/trace_formats.hpp"

#include <algorithm>
#include <vector>

#include "sim/combined_format.hpp"
#include "sim/csv_format.hpp"
#include "sim/json_format.hpp"
#include "sim/oracle_general_format.hpp"
#include "sim/squid_format.hpp"
#include "util/text.hpp"

namespace garner::sim {
namespace {

template <class Format>
std::unique_ptr<TraceFormat> make() {
    return std::make_unique<Format>();
}

constexpr std::array rows{
    FormatRow{"csv", "lines of time,key,size or key,size, or as a header names them", make<CsvFormat>, {".csv"}},
    FormatRow{"squid", "Squid's access.log, and Garner's of that format", make<SquidFormat>, {}},
    FormatRow{"combined", "the combined or common log of Apache, nginx, Garner", make<CombinedFormat>, {}},
    FormatRow{"json", "Garner's access log of that format", make<JsonFormat>, {".json", ".jsonl"}},
    FormatRow{"oracleGeneral", "libCacheSim's binary records", make<OracleGeneralFormat>, {".oraclegeneral"},
              OracleGeneralFormat::record_bytes, OracleGeneralFormat::looks_like},
};

constexpr std::size_t lines_tried = 64;

/// How well a format reads the first lines.
struct Fit {
    std::size_t told = 0;   // lines that should say something
    std::size_t read = 0;   // of them

    bool fits() const { return read > 0 && 2 * read >= told; }
};

Fit fit_of_lines(FormatRow const& row, std::string_view head, bool whole) {
    Fit fit;
    auto format = row.make();
    for (head = without_mark(head); !head.empty() && fit.told < lines_tried;) {
        auto end = head.find('\n');
        if (end == head.npos && !whole) break;
        auto record = read_line(*format, head.substr(0, end));
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

}  // namespace

std::span<FormatRow const> trace_formats() { return rows; }

FormatRow const* trace_format(std::string_view name) {
    for (auto const& row : rows)
        if (equals_ignoring_case(row.name, name)) return &row;
    return nullptr;
}

FormatRow const* find_format(std::string_view file_name, std::string_view head, bool whole) {
    FormatRow const* best = nullptr;
    std::size_t most = 0;
    for (auto const& row : rows) {
        auto fit = fit_of(row, head, whole);
        if (tells(file_name, row) && (fit.read > 0 || fit.told == 0)) return &row;
        if (!fit.fits() || fit.read <= most) continue;
        best = &row;
        most = fit.read;
    }
    return best;
}

Record read_line(TraceFormat& format, std::string_view line) {
    if (line.size() > line_bytes_max) return Record::broken("longer than 64 KiB");
    if (line.ends_with('\r')) line.remove_suffix(1);
    while (line.ends_with(' ')) line.remove_suffix(1);   // not tabs: an empty last column may follow one
    auto text = trim(line);
    if (text.empty() || text.front() == '#') return {};
    if (text.find('\0') != text.npos) return Record::broken("a NUL byte in a text");
    return format.read(line);
}

std::string_view without_mark(std::string_view head) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    return head.starts_with(mark) ? head.substr(mark.size()) : head;
}

}  // namespace garner::sim
