#include "proxy/proxy_status.hpp"

namespace garner::proxy {

namespace {

constexpr std::size_t details_max = 200;

/// A string of RFC 9651 3.3.3; other bytes than printable ASCII become '?'.
std::string text_item(std::string_view text) {
    std::string out = "\"";
    for (char const c : text.substr(0, details_max)) {
        if (c == '"' || c == '\\') out += '\\';
        out += c >= ' ' && c <= '~' ? c : '?';
    }
    return out + '"';
}

}   // namespace

std::string proxy_status(std::string_view server, bool by_destination, std::string_view details, std::string_view id) {
    std::string line = "Proxy-Status: ";
    line.append(server).append("; error=").append(by_destination ? "destination_ip_prohibited" : "http_request_denied");
    if (!details.empty()) line.append("; details=").append(text_item(details));
    return line.append("; id=").append(text_item(id)).append("\r\n");
}

}   // namespace garner::proxy
