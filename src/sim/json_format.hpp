// Garner's own access log as JSON.
#pragma once
#include "sim/trace_formats.hpp"

namespace garner::sim {

/// One flat object a line, of whose members result, status, bytes, method and url are read.
class JsonFormat : public TraceFormat {
public:
    Record read(std::string_view line) override;
};

}  // namespace garner::sim
