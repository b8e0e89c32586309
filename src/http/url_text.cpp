#include "http/url_text.hpp"

#include "util/text.hpp"

namespace garner::http {

std::string_view decoded_once(std::string_view text, std::string& scratch) {
    auto const first = text.find('%');
    if (first == text.npos) return text;
    scratch.assign(text.substr(0, first));
    for (std::size_t i = first; i < text.size(); ++i) {
        scratch += text[i];
        if (text[i] != '%' || i + 1 == text.size()) continue;
        if (text[i + 1] == '%') {
            ++i;
            continue;
        }
        if (i + 2 >= text.size()) continue;
        int const high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
        if (high < 0 || low < 0 || high + low == 0) continue;
        scratch.back() = static_cast<char>(high * 16 + low);
        i += 2;
    }
    return scratch;
}

std::string_view path_and_query_of(std::string_view url) {
    constexpr std::string_view mark = "://";
    auto const scheme = url.find(mark);
    if (scheme == url.npos) return {};
    auto const path = url.find('/', scheme + mark.size());
    return path == url.npos ? std::string_view() : url.substr(path);
}

}   // namespace garner::http
