#include "auth/ldap_names.hpp"

#include <ldap.h>

#include <memory>

#include "util/text.hpp"

namespace garner::auth {
namespace {

constexpr std::string_view placeholder = "{user}";

}   // namespace

std::string normal_dn(std::string const& dn) {
    LDAPDN parsed = nullptr;
    if (dn.empty() || ldap_str2dn(dn.c_str(), &parsed, LDAP_DN_FORMAT_LDAPV3) != LDAP_SUCCESS) return "";
    std::unique_ptr<LDAPRDN, decltype(&ldap_dnfree)> const held(parsed, &ldap_dnfree);
    char* text = nullptr;
    if (ldap_dn2str(parsed, &text, LDAP_DN_FORMAT_LDAPV3) != LDAP_SUCCESS || !text) return "";
    std::unique_ptr<char, decltype(&ldap_memfree)> const owned(text, &ldap_memfree);
    return lower_case(text);
}

std::string escape_filter(std::string_view value) {
    std::string out;
    for (char const c : value) {
        auto const byte = static_cast<unsigned char>(c);
        if (byte >= ' ' && byte < 0x7f && std::string_view("*()\\").find(c) == npos) {
            out += c;
            continue;
        }
        out += '\\';
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
    }
    return out;
}

std::string filter_for(std::string_view filter, std::string_view user) {
    auto const escaped = escape_filter(user);
    std::string out;
    for (auto at = filter.find(placeholder); at != npos; at = filter.find(placeholder)) {
        out.append(filter.substr(0, at)).append(escaped);
        filter.remove_prefix(at + placeholder.size());
    }
    return out.append(filter);
}

std::string user_attribute(std::string_view filter) {
    auto const at = filter.find("={user})");
    if (at == npos) return "";
    auto const begin = filter.rfind('(', at);
    auto const name = begin == npos ? "" : filter.substr(begin + 1, at - begin - 1);
    for (char const c : name)
        if (!is_alpha(c) && !is_digit(c) && c != '-' && c != '.' && c != ';') return "";
    return std::string(name);
}

}   // namespace garner::auth
