// The ports that stay closed unless a rule opens them.
#pragma once
#include "http/rule.hpp"

namespace garner::http {

/// Why the request's port is closed by default, a literal; nullptr when it is open. CONNECT reaches 443 alone; others reach no port of
/// another protocol, but an accelerator's origin may have any.
char const* why_port_is_closed(RuleRequest const& request);

}  // namespace garner::http
