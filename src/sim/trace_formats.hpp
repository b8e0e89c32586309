// The table of trace formats, and the detection of a file's format.
#pragma once
#include <array>
#include <functional>
#include <span>
#include <string_view>

#include "sim/trace_record.hpp"

namespace garner::sim {

/// Reads the records of one file in order: lines without their end, or FormatRow::record_bytes bytes each. A header may
/// define the meaning of the next ones.
using TraceFormat = std::function<Record(std::string_view record)>;

struct FormatRow {
    std::string_view name;
    std::string_view what;   // one line for --help
    TraceFormat (*make)();
    std::array<std::string_view, 2> endings;               // ".ENDING" anywhere in a file's name, in lower case
    std::size_t record_bytes = 0;                          // 0: the format has lines
    bool (*looks_like)(std::string_view head) = nullptr;   // for formats without lines
};

/// All formats; a new one is one file and one row.
std::span<FormatRow const> trace_formats();

/// The format with that name, in any case of letters; nullptr when there is none.
FormatRow const* trace_format(std::string_view name);
/// "csv, squid, ...", for help and errors.
std::string trace_format_names();

/// The format that reads most of the first lines, at least half of them; or the one that the file's name suggests, if it
/// reads any line. `head` is the start of the unpacked file; if not `whole`, its last line may be truncated. Nothing when
/// none fits.
FormatRow const* find_format(std::string_view file_name, std::string_view head, bool whole);

inline constexpr std::size_t line_bytes_max = 64 * KiB;

/// Reads a line without its newline. Blank lines and "# comments" contain no record; lines that are too long or contain NUL
/// are broken.
Record read_line(TraceFormat const& format, std::string_view line);

/// Removes the byte order mark that some programs put before UTF-8.
std::string_view without_mark(std::string_view head);

}   // namespace garner::sim
