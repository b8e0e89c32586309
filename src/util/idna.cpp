#include "util/idna.hpp"

#include <unicode/uidna.h>

#include <array>
#include <cstdint>

#include "util/check.hpp"

namespace garner {
namespace {

UIDNA const* open_idna() {
    UErrorCode error = U_ZERO_ERROR;
    constexpr std::uint32_t options = UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII;
    auto const* idna = uidna_openUTS46(options, &error);
    check(U_SUCCESS(error));   // its data is part of the library
    return idna;
}

}   // namespace

bool append_ascii_name(std::string_view name, std::string& to) {
    constexpr std::uint32_t ignored = UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG | UIDNA_ERROR_DOMAIN_NAME_TOO_LONG |
                                      UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;
    static UIDNA const* const idna = open_idna();
    if (name.size() > idna_bytes_max) return false;
    std::array<char, 8 * idna_bytes_max> ascii;   // a longer mapped name is invalid
    UIDNAInfo info = UIDNA_INFO_INITIALIZER;
    UErrorCode error = U_ZERO_ERROR;
    auto const size = uidna_nameToASCII_UTF8(idna, name.data(), static_cast<std::int32_t>(name.size()), ascii.data(),
                                             static_cast<std::int32_t>(ascii.size()), &info, &error);
    if (U_FAILURE(error) || (info.errors & ~ignored) != 0) return false;
    to.append(ascii.data(), static_cast<std::size_t>(size));
    return true;
}

}   // namespace garner
