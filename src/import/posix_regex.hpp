// Regular expressions of squid.conf (POSIX extended, as the GNU C library reads them) for RE2.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace garner::importing {

struct Translated {
    enum class Kind : std::uint8_t {
        done,
        invalid,      // no regular expression: Squid skips it
        unsupported   // RE2 has nothing equivalent, or a pattern would be longer than 1,024 bytes
    };
    Kind kind = Kind::done;
    std::vector<std::string> patterns = {};   // one of them matches where the original does
    std::string why = {};                     // the reason of the other kinds
};

/// Matches the same texts in the C locale, byte for byte.
Translated to_re2(std::string_view posix, bool ignore_case);

/// True for a pattern of to_re2 that matches the empty text.
bool matches_nothing(std::string const& pattern);

/// A pattern that matches this text alone, in any case.
std::string re2_for_text(std::string_view text);

}   // namespace garner::importing
