#include "admin/html.hpp"

#include "admin/human.hpp"

namespace garner::admin {

std::string in_html(std::string_view text) {
    std::string out;
    for (char const c : printable(std::string(text))) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (c == '"')
            out += "&quot;";
        else if (c == '\'')
            out += "&#39;";
        else
            out += c;
    }
    return out;
}

std::string attribute(std::string_view name, std::string_view value) {
    return " " + std::string(name) + "=\"" + in_html(value) + "\"";
}

std::string link_to_why(std::string_view text) {
    static constexpr char hex[] = "0123456789ABCDEF";
    std::string link = "/?url=";
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
        if (plain)
            link += c;
        else
            link.append({'%', hex[byte >> 4], hex[byte & 15]});
    }
    return link + "#explanation";
}

}   // namespace garner::admin
