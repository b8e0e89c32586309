#include "admin/form_fields.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace garner::admin {

namespace {

/// Empty when the encoding is invalid.
std::string form_decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i] == '+' ? ' ' : text[i];
            continue;
        }
        int const high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1, low = high < 0 ? -1 : hex_value(text[i + 2]);
        if (low < 0) return {};
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

bool is_token_character(char c) {
    constexpr std::string_view others = "-._~+/=";
    return is_alpha(c) || is_digit(c) || others.find(c) != others.npos;
}

}   // namespace

std::string form_value(std::string_view form, std::string_view name) {
    auto values = form_values(form, name);
    return values.empty() ? std::string() : std::move(values.front());
}

bool has_field(std::string_view form, std::string_view name) {
    while (!form.empty()) {
        auto const part = form.substr(0, form.find('&'));
        form.remove_prefix(std::min(part.size() + 1, form.size()));
        if (part.substr(0, part.find('=')) == name) return true;
    }
    return false;
}

std::vector<std::string> form_values(std::string_view form, std::string_view name) {
    std::vector<std::string> values;
    while (!form.empty()) {
        auto const part = form.substr(0, form.find('&'));
        form.remove_prefix(std::min(part.size() + 1, form.size()));
        if (part.substr(0, part.find('=')) != name || part.size() <= name.size()) continue;
        values.push_back(form_decoded(part.substr(name.size() + 1)));
    }
    return values;
}

std::string_view cookie_value(std::string_view cookies, std::string_view name) {
    while (!cookies.empty()) {
        auto const whole = cookies.substr(0, cookies.find(';'));
        cookies.remove_prefix(std::min(whole.size() + 1, cookies.size()));
        auto const pair = trim(whole);
        auto const equals = pair.find('=');
        if (equals != pair.npos && pair.substr(0, equals) == name) return pair.substr(equals + 1);
    }
    return {};
}

std::string_view bearer_token(std::string_view credentials) {
    constexpr std::string_view scheme = "Bearer ";
    if (!equals_ignoring_case(credentials.substr(0, scheme.size()), scheme)) return {};
    auto const token = trim(credentials.substr(scheme.size()));
    return std::ranges::all_of(token, is_token_character) ? token : std::string_view();
}

bool is_page_target(std::string_view target) {
    if (target != "/" && !target.starts_with("/?")) return false;
    return std::ranges::all_of(target, [](char c) { return c > 0x20 && c < 0x7f; });
}

}   // namespace garner::admin
