// Reads request traces and access logs from files.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace.hpp"
#include "util/bytes.hpp"

namespace garner::sim {

struct ReadOptions {
    std::string format = {};   // one of trace_format_names(); empty: found from the file's first lines and its name
    /// In (0, 1]: the share of the keys that is kept, with all their requests (SHARDS, Waldspurger et al. 2015). The
    /// same keys are chosen in every run.
    double sample = 1;
    /// Called every 65,536 lines and at the end. The bytes are packed ones; bytes_in_file is 0 where it is not known (a
    /// pipe); requests are those kept so far.
    std::function<void(Bytes bytes_read, Bytes bytes_in_file, std::uint64_t requests)> progress = {};
};

/// lines == trace.requests() + broken + skipped + unsampled, unless there is a fault.
struct TraceRead {
    Trace trace;
    std::string format;               // as given or found
    std::uint64_t lines = 0;          // or records; blank lines, comments and a header are not counted
    std::uint64_t broken = 0;         // not of the format
    std::uint64_t skipped = 0;        // of the format, but no request for a whole object (below)
    std::uint64_t unsampled = 0;      // requests for keys outside the sample
    std::vector<std::string> examples;   // the first broken ones: "line 17: size 'abc' is not a number"
    std::string fault;                // why the file cannot be used, and the mend; the trace is empty then
};

/// Reads the file, or standard input for "-"; unpacks zstd and gzip, known by their first bytes.
///
/// In an access log a request counts if it is a GET answered with 200 or 203 to the end: then the object's size is in
/// the line. One answered with 304 counts with the size last seen for its URL, and is skipped while there was none. All
/// else is skipped: other methods, CONNECT, errors, redirects, parts (206), and what the client aborted where the log
/// tells (a combined one does not). Sizes in Squid's and Garner's logs include the response's head and so vary a little
/// from one request to the next. The key is the URL as logged.
///
/// A key's size may change from one request to the next. What is longer than 64 KiB a line, has a size that is no whole
/// number up to 2^53, or is the torn last record of a binary file, is broken; a torn packed file is a fault.
TraceRead read_trace(std::string const& path, ReadOptions const& options);

}  // namespace garner::sim
