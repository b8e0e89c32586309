// The combined and the common log format of Apache, nginx and Garner.
#pragma once
#include "sim/trace_formats.hpp"

namespace garner::sim {

/// client ident user [time] "method target protocol" status bytes ...: what follows is not read.
class CombinedFormat : public TraceFormat {
public:
    Record read(std::string_view line) override;
};

}  // namespace garner::sim
