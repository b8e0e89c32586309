// One request of an access log, whatever the log's format: does it count, and with what size?
#pragma once
#include <string_view>

#include "sim/record.hpp"

namespace garner::sim {

struct LoggedRequest {
    std::string_view method = {}, url = {};   // "-" or empty: none
    std::string_view status = {}, size = {};  // decimal; a size "-" is none sent
    bool aborted = false;           // before the whole response was sent
};

/// GET answered with 200 or 203 is a request of that size, with 304 one of the size last seen. What has no readable
/// status or size is broken, all else is skipped: read_trace() says why.
Record record_of(LoggedRequest const& request);

/// In Squid's words, which Garner uses too: TCP_MISS_ABORTED, TCP_HIT_TIMEDOUT; and in its own: TCP_MISS_TRUNCATED.
bool was_aborted(std::string_view result);

}  // namespace garner::sim
