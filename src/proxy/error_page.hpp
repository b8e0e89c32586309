// Error pages of the proxy: status, reason and the rule that decided.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace garner::proxy {

struct ErrorPage {
    std::uint16_t status = 500;
    std::string_view what;      // one sentence for the reader
    std::string_view rule;      // the deciding rule: "access[2]: deny host .example.com"; may be empty
    std::string_view url;       // may be empty
    std::string_view server;    // the proxy's name
};

/// HTML in UTF-8. Text from outside is escaped and truncated to 512 bytes.
std::string error_page(ErrorPage const&);

}  // namespace garner::proxy
