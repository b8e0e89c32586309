// Our own answers: a small clear page with status, reason and the rule that decided.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace garner::proxy {

struct ErrorPage {
    std::uint16_t status = 500;
    std::string_view what;      // one sentence for a person
    std::string_view rule;      // what decided: "access[2]: deny host .example.com"; may be empty
    std::string_view url;       // may be empty
    std::string_view server;    // our name
};

/// HTML in UTF-8; everything from outside is escaped and cut at 512 bytes.
std::string error_page(ErrorPage const&);

}  // namespace garner::proxy
