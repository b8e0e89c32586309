#include "crawl/url_fault.hpp"

#include <array>

namespace garner::crawl {

std::string_view name_of(UrlFault fault) {
    static constexpr std::array<std::string_view, url_fault_count> names{
        "none",    "empty",         "too-long",          "no-scheme", "file-scheme", "other-scheme", "no-host",
        "host-too-long", "forbidden-in-host", "bad-idna",  "bad-ipv4",    "bad-ipv6",     "bad-port",
        "port-too-large",
    };
    return names[static_cast<std::size_t>(fault)];
}

}  // namespace garner::crawl
