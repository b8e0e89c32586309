// Repairs the heads of responses that a strict parser refuses but every browser reads (RFC 9112 2.2, 5.1, 5.2).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "http/framing.hpp"
#include "http/message.hpp"

namespace garner::http {

struct HeadRepair {
    HeadParse::Kind kind = HeadParse::Kind::incomplete;
    std::size_t bytes = 0;          // complete: the length of the received head
    Repair repair = Repair::none;   // complete
    std::string text = {};          // complete: the head with the errors repaired, for parse_response_head()
};

/// For a head that parse_response_head() refuses: removes white space before a colon, joins folded lines, ends each line with
/// CRLF, and writes a space for each control byte in a value or the reason. Refuses what has no clear meaning, such as a name that
/// is no token, or a folded line or control byte in Content-Length or Transfer-Encoding. The text may be refused all the same:
/// only the strict parser decides. `scanned`: as in parse_response_head(), of the same head.
HeadRepair repair_response_head(std::string_view bytes, HeadLimits const&, std::size_t& scanned);

}   // namespace garner::http
