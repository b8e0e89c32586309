// OpenSSL's error queue in words.
#pragma once
#include <string>
#include <string_view>

namespace garner::net {

/// The reason of this thread's oldest OpenSSL error, which is removed from the queue; `otherwise` when there is none.
std::string first_tls_fault(char const* otherwise);

/// OpenSSL's text for X509_V_ERR_...: "certificate has expired".
std::string_view verify_result_text(long verify_result);

}   // namespace garner::net
