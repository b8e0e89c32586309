// The trace id of a request (W3C Trace Context 3.2).
#pragma once
#include <string_view>

namespace garner::http {

/// The 32 digits of the trace id in the value of traceparent; empty if the value is not valid. Later versions may have more parts.
std::string_view trace_id(std::string_view traceparent);

}   // namespace garner::http
