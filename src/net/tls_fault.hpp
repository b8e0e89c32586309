// OpenSSL's error queue in words.
#pragma once
#include <string>

namespace garner::net {

/// The reason of this thread's oldest OpenSSL error, which is removed from the queue; `otherwise` when there is none.
std::string first_tls_fault(char const* otherwise);

}   // namespace garner::net
