// Access logs, one request per line: Squid's, Apache's, nginx's, Garner's own.
//
// A GET answered with 200 or 203 is a request with the size in the line; with 304 it has the size last seen. A line without
// a readable status or size is broken. All other lines are skipped; read_trace() gives the reasons.
#pragma once
#include <string_view>

#include "sim/trace_record.hpp"

namespace garner::sim {

/// time elapsed client tag/status bytes method url user hierarchy/peer type: Squid's logformat "squid".
/// By default Squid logs URLs without their queries (strip_query_terms), which then share a key.
Record read_squid(std::string_view line);

/// client ident user [time] "method target protocol" status bytes ...: the common and the combined format. The rest is
/// ignored.
Record read_combined(std::string_view line);

/// Garner's log as JSON: one flat object per line; reads the members result, status, bytes, method and url.
Record read_json(std::string_view line);

}   // namespace garner::sim
