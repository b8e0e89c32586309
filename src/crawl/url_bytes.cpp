#include "crawl/url_bytes.hpp"

namespace garner::crawl {
namespace {

struct Step {
    std::size_t length;   // at least 1
    bool valid;
};

/// The first character of `text`, or the maximal subpart of one.
Step utf8_step(std::string_view text) {
    if (static_cast<signed char>(text.front()) >= 0) return {1, true};
    auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    auto const lead = at(0);
    std::size_t const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4) return {1, false};
    // The second byte excludes overlong forms, surrogates, and values above U+10FFFF.
    unsigned const low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned const high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (at(1) < low || at(1) > high) return {1, false};
    for (std::size_t i = 2; i < length; ++i)
        if (at(i) < 0x80 || at(i) > 0xbf) return {i, false};
    return {length, true};
}

void append_hex(char c, std::string& to) {
    constexpr char digits[] = "0123456789ABCDEF";
    auto const byte = static_cast<unsigned char>(c);
    char const written[]{'%', digits[byte >> 4], digits[byte & 15]};
    to.append(written, sizeof written);
}

}   // namespace

void append_encoded(std::string_view text, ByteSet set, std::string& to) {
    while (!text.empty()) {
        auto const clean = find_first_in(set, text);
        to.append(text.substr(0, clean));
        text.remove_prefix(clean);
        if (text.empty()) return;
        auto const [length, valid] = utf8_step(text);
        if (valid)
            for (char c : text.substr(0, length)) append_hex(c, to);
        else
            to.append("%EF%BF%BD");
        text.remove_prefix(length);
    }
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        auto const [length, valid] = utf8_step(text);
        if (!valid) return false;
        text.remove_prefix(length);
    }
    return true;
}

void append_utf8(std::string_view text, std::string& to) {
    while (!text.empty()) {
        auto const [length, valid] = utf8_step(text);
        to.append(valid ? text.substr(0, length) : "\xef\xbf\xbd");
        text.remove_prefix(length);
    }
}

void append_decoded(std::string_view text, std::string& to) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        bool const three = text[i] == '%' && i + 2 < text.size();
        int const high = three ? hex_value(text[i + 1]) : -1, low = three ? hex_value(text[i + 2]) : -1;
        if (high < 0 || low < 0) {
            to.push_back(text[i]);
            continue;
        }
        to.push_back(static_cast<char>(high * 16 + low));
        i += 2;
    }
}

}   // namespace garner::crawl
