#include "net/tls_fault.hpp"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <cstring>

namespace garner::net {

std::string first_tls_fault(char const* otherwise) {
    auto const code = ERR_get_error();
    if (ERR_SYSTEM_ERROR(code)) return std::strerror(ERR_GET_REASON(code));
    auto const* words = code ? ERR_reason_error_string(code) : nullptr;
    return words ? words : otherwise;
}

std::string_view verify_result_text(long verify_result) { return X509_verify_cert_error_string(verify_result); }

}   // namespace garner::net
