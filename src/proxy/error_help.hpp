// The heading of an error page, and hints for its reader. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/fill.hpp"

namespace garner::proxy {

struct ErrorHelp {
    std::string heading;                     // "The server example.org could not be found"
    std::array<std::string_view, 2> hints;   // full sentences
};

/// `host`: the server's name for the heading. Empty: it is unknown, or the reader must not learn it.
ErrorHelp error_help(std::uint16_t status, cache::FailureKind kind, std::string_view host);

}   // namespace garner::proxy
