#include "h2/connection_counters.hpp"

namespace garner::h2 {

char const* text(ConnectionFault kind) {
    switch (kind) {
    case ConnectionFault::glitches: return "glitches";
    case ConnectionFault::flood: return "flood";
    case ConnectionFault::large_head: return "large_head";
    case ConnectionFault::protocol: return "protocol";
    case ConnectionFault::count_: break;
    }
    return "";
}

}   // namespace garner::h2
