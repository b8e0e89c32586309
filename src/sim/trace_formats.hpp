// The table of trace formats, and the format of a file that does not say.
#pragma once
#include <array>
#include <functional>
#include <span>
#include <string_view>

#include "sim/trace_record.hpp"

namespace garner::sim {

/// Reads the records of one file in order, each a line without its end or FormatRow::record_bytes. A header may teach it what the
/// next ones mean.
using TraceFormat = std::function<Record(std::string_view record)>;

struct FormatRow {
    std::string_view name;
    std::string_view what;                         // one line for --help
    TraceFormat (*make)();
    std::array<std::string_view, 2> endings;       // ".ENDING" anywhere in a file's name, in lower case
    std::size_t record_bytes = 0;                  // 0: it is made of lines
    bool (*looks_like)(std::string_view head) = nullptr;   // where there are no lines to try
};

/// All formats; a new one is one file and one row.
std::span<FormatRow const> trace_formats();

/// Nothing when there is none of that name, in any case of letters.
FormatRow const* trace_format(std::string_view name);
/// "csv, squid, ...", for help and faults.
std::string trace_format_names();

/// The format that reads most of the first lines, half of them at least; or the one that the file's name tells, if it
/// reads any. `head` is the unpacked file's beginning, its last line may be cut if not `whole`. Nothing when none fits.
FormatRow const* find_format(std::string_view file_name, std::string_view head, bool whole);

inline constexpr std::size_t line_bytes_max = 64 * KiB;

/// A line without its newline: blank ones and "# comments" say nothing, and those too long or with a NUL are broken.
Record read_line(TraceFormat const& format, std::string_view line);

/// Without the byte order mark that some programs put before UTF-8.
std::string_view without_mark(std::string_view head);

}  // namespace garner::sim
