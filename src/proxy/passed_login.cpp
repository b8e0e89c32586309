#include "proxy/passed_login.hpp"

#include "proxy/connection_login.hpp"

namespace garner::proxy {

using http::Name;

std::string passed_login(http::Fields const& request) {
    if (request.count(Name::proxy_authorization) != 1) return {};
    auto const value = request.first(Name::proxy_authorization);
    if (value.empty() || authenticates_connection(value)) return {};
    return "Proxy-Authorization: " + std::string(value) + "\r\n";
}

std::string passed_challenges(http::Fields const& response) {
    std::string lines;
    for (auto const& field : response)
        if (field.id == Name::proxy_authenticate && !field.value.empty() && !authenticates_connection(field.value))
            lines.append("Proxy-Authenticate: ").append(field.value).append("\r\n");
    return lines;
}

}   // namespace garner::proxy
