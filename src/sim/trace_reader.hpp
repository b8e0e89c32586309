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
    /// In (0, 1]: the fraction of the keys that is kept, with all their requests (SHARDS, Waldspurger et al. 2015). Every
    /// run chooses the same keys.
    double sample = 1;
    /// Called every 65,536 lines and at the end. The bytes are counted before unpacking; bytes_in_file is 0 if unknown (a
    /// pipe); requests are those kept so far.
    std::function<void(Bytes bytes_read, Bytes bytes_in_file, std::uint64_t requests)> progress = {};
};

/// lines == trace.requests() + broken + skipped + unsampled, unless there is a fault.
struct TraceRead {
    Trace trace;
    std::string format;                  // given or detected
    std::uint64_t lines = 0;             // or records; blank lines, comments and a header are not counted
    std::uint64_t broken = 0;            // do not match the format
    std::uint64_t skipped = 0;           // match the format, but are no request for a whole object (see below)
    std::uint64_t unsampled = 0;         // requests for keys outside the sample
    std::vector<std::string> examples;   // the first broken ones: "line 17: size 'abc' is not a number"
    std::string fault;                   // why the file cannot be used, with a suggested fix; the trace is empty then
};

/// Reads the file, or standard input for "-"; unpacks zstd and gzip, detected by their first bytes.
///
/// In an access log a request counts if it is a GET answered completely with 200 or 203; the line has the object's size. A
/// request answered with 304 counts with the size last seen for its URL, and is skipped if there is none. All other lines
/// are skipped: other methods, CONNECT, errors, redirects, parts (206), and client aborts if the log records them (a
/// combined log does not). Sizes in Squid's and Garner's logs include the response's head and so vary a little between
/// requests. The key is the logged URL.
///
/// A key's size may change between requests. Broken are lines over 64 KiB, sizes that are no whole number up to 2^53, and a
/// truncated last record of a binary file; a truncated packed file is a fault.
TraceRead read_trace(std::string const& path, ReadOptions const& options);

}   // namespace garner::sim
