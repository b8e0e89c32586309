// The table of trace formats, and the format of a file that does not say.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <string_view>

#include "sim/record.hpp"

namespace garner::sim {

/// Reads the records of one file in order; a header may teach it what the next ones mean.
class TraceFormat {
public:
    virtual ~TraceFormat() = default;
    /// A line without its end, or a record of FormatRow::record_bytes.
    virtual Record read(std::string_view record) = 0;
};

struct FormatRow {
    std::string_view name;
    std::string_view what;                         // one line for --help
    std::unique_ptr<TraceFormat> (*make)();
    std::array<std::string_view, 2> endings;       // ".ENDING" anywhere in a file's name, in lower case
    std::size_t record_bytes = 0;                  // 0: it is made of lines
    bool (*looks_like)(std::string_view head) = nullptr;   // where there are no lines to try
};

/// All formats; a new one is one file and one row.
std::span<FormatRow const> trace_formats();

/// Nothing when there is none of that name.
FormatRow const* trace_format(std::string_view name);

/// The format that reads most of the first lines, half of them at least; or the one that the file's name tells, if it
/// reads any. `head` is the unpacked file's beginning, its last line may be cut if not `whole`. Nothing when none fits.
FormatRow const* find_format(std::string_view file_name, std::string_view head, bool whole);

inline constexpr std::size_t line_bytes_max = 64 * KiB;

/// A line without its newline: blank ones and "# comments" say nothing, and those too long or with a NUL are broken.
Record read_line(TraceFormat& format, std::string_view line);

/// Without the byte order mark that some programs put before UTF-8.
std::string_view without_mark(std::string_view head);

}  // namespace garner::sim
