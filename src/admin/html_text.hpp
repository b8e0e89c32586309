// Text in HTML.
#pragma once
#include <string>
#include <string_view>

namespace garner::admin {

/// For text between tags, and for attributes in double quotes.
inline std::string html_text(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

}   // namespace garner::admin
