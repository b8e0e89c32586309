// Access logs, a line each: Squid's, Apache's, nginx's, Garner's own.
//
// A GET that was answered with 200 or 203 is a request of the size in the line, with 304 one of the size last seen. A line without
// a readable status or size is broken. All other lines are skipped: read_trace() says why.
#pragma once
#include <string_view>

#include "sim/trace_record.hpp"

namespace garner::sim {

/// time elapsed client tag/status bytes method url user hierarchy/peer type: Squid's logformat "squid".
/// By default Squid logs URLs without their queries (strip_query_terms), which then share a key.
Record read_squid(std::string_view line);

/// client ident user [time] "method target protocol" status bytes ...: the common and the combined format. The rest is not read.
Record read_combined(std::string_view line);

/// Garner's log as JSON: one flat object a line, of whose members result, status, bytes, method and url are read.
Record read_json(std::string_view line);

}  // namespace garner::sim
