#include "proxy/challenge.hpp"

namespace garner::proxy {

namespace {

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (char const c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

}   // namespace

std::string challenges(auth::Sources const& sources, bool without_negotiate) {
    constexpr char const* name = "Proxy-Authenticate: ";
    auto const realm = quoted(sources.options().realm);
    std::string lines;
    if (sources.takes(auth::Scheme::negotiate) && !without_negotiate) lines.append(name).append("Negotiate\r\n");
    if (sources.takes(auth::Scheme::bearer)) lines.append(name).append("Bearer realm=").append(realm).append("\r\n");
    if (sources.takes(auth::Scheme::basic))
        lines.append(name).append("Basic realm=").append(realm).append(", charset=\"UTF-8\"\r\n");
    return lines;
}

}   // namespace garner::proxy
