#include "proxy/error_page.hpp"

#include "proxy/head_writer.hpp"

namespace garner::proxy {

namespace {

void append_escaped(std::string& out, std::string_view text) {
    constexpr std::size_t most = 512;
    for (unsigned char c : text.substr(0, most)) {
        switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        default: out += c < 0x20 || c >= 0x7f ? '?' : static_cast<char>(c);
        }
    }
    if (text.size() > most) out += "...";
}

void append_row(std::string& out, std::string_view name, std::string_view value) {
    if (value.empty()) return;
    out.append("<p>").append(name).append(": <code>");
    append_escaped(out, value);
    out.append("</code></p>\n");
}

}  // namespace

std::string error_page(ErrorPage const& page) {
    auto title = std::to_string(page.status).append(" ").append(reason_phrase(page.status));
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>";
    out.append(title).append("</title></head>\n<body><h1>").append(title).append("</h1>\n<p>");
    append_escaped(out, page.what);
    out.append("</p>\n");
    append_row(out, "Address", page.url);
    append_row(out, "Decided by", page.rule);
    append_row(out, "Answered by", page.server);
    out.append("</body></html>\n");
    return out;
}

}  // namespace garner::proxy
