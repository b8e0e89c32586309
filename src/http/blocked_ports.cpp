// The ports that are blocked unless a rule opens them.
#include <algorithm>
#include <array>

#include "http/access_rules.hpp"

namespace garner::http {
namespace {

// Servers of text protocols skip lines that they do not understand: a request's body could become a mail or a command.
// Lists the blocked ports of the Fetch Standard (2.9), Squid's unsafe ports, and those of databases.
constexpr std::array<std::uint16_t, 92> foreign_ports{
    1,    7,    9,    11,   13,   15,   17,   19,   20,   21,   22,   23,   25,    37,    42,    43,   53,   69,   77,
    79,   87,   95,   101,  102,  103,  104,  109,  110,  111,  113,  115,  117,   119,   123,   135,  137,  139,  143,
    161,  179,  389,  427,  445,  465,  512,  513,  514,  515,  526,  530,  531,   532,   540,   548,  554,  556,  563,
    587,  601,  636,  873,  989,  990,  993,  995,  1433, 1719, 1720, 1723, 2049,  3306,  3389,  3659, 4045, 4190, 5060,
    5061, 5432, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211, 27017, 27018};
static_assert(std::ranges::is_sorted(foreign_ports));

}   // namespace

char const* blocked_port(RuleRequest const& request) {
    if (request.method == Method::connect && request.port != 443) return "CONNECT to a port other than 443";
    if (request.accelerated) return nullptr;
    return std::ranges::binary_search(foreign_ports, request.port) ? "port of another protocol" : nullptr;
}

}   // namespace garner::http
