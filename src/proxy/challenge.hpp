// The challenges of a 407 (RFC 9110 11.7.1). Pure.
#pragma once
#include <string>

#include "auth/user_sources.hpp"

namespace garner::proxy {

/// Lines of Proxy-Authenticate, each with CRLF, the strongest scheme first: browsers use the first that they know. Empty: no
/// source takes credentials. `without_negotiate`: the client has no Kerberos ticket and would send NTLM again.
std::string challenges(auth::Sources const&, bool without_negotiate = false);

}   // namespace garner::proxy
