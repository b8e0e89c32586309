// Squid's native access log.
#pragma once
#include "sim/trace_formats.hpp"

namespace garner::sim {

/// time elapsed client tag/status bytes method url user hierarchy/peer type: Squid's logformat "squid".
/// By default Squid logs URLs without their queries (strip_query_terms), which then share a key.
class SquidFormat : public TraceFormat {
public:
    Record read(std::string_view line) override;
};

}  // namespace garner::sim
