#include "net/tls_fault.hpp"

#include <openssl/err.h>

#include <cstring>

namespace garner::net {

std::string first_tls_fault(char const* otherwise) {
    auto const code = ERR_get_error();
    if (ERR_SYSTEM_ERROR(code)) return std::strerror(ERR_GET_REASON(code));
    auto const* words = code ? ERR_reason_error_string(code) : nullptr;
    return words ? words : otherwise;
}

}   // namespace garner::net
