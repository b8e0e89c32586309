// The heading of an error page, and hints for its reader. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/fill.hpp"
#include "http/matcher.hpp"

namespace garner::proxy {

struct ErrorHelp {
    std::string heading;                     // "The server example.org could not be found"
    std::array<std::string_view, 2> hints;   // full sentences
};

/// The subject of the rule or default that refused a request. `address`: the URL or its server, or no particular one; `port`: a
/// default that blocks the port.
enum class RefusedFor : std::uint8_t { address, time, client, port };

/// `time` if the rule depends on the time; `client` if it names users, groups or clients, and neither hosts nor URLs.
RefusedFor refused_for(http::Matcher const&);

/// `host`: the server's name for the heading. Empty: it is unknown, or the reader must not learn it. `subject`: for a 403.
ErrorHelp error_help(std::uint16_t status, cache::FailureKind kind, std::string_view host,
                     RefusedFor subject = RefusedFor::address);

}   // namespace garner::proxy
