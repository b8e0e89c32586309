// Requests to the admin address: the login form, cookie, query, Host and credentials. No crash; values lie in the input or are
// decoded from it, only the right secrets open sessions and equal tokens, a login leads to no other site, and no other name is
// accepted as Host.
#include <algorithm>
#include <string>
#include <vector>

#include "admin/form_fields.hpp"
#include "admin/own_name.hpp"
#include "admin/roles.hpp"
#include "fuzzed.hpp"
#include "util/text.hpp"

using namespace garner;

namespace {

bool ends_with_port(std::string_view text, std::string_view port) {
    auto const colon = text.rfind(':');
    if (colon == text.npos) return false;
    auto const digits = text.substr(colon + 1);
    return digits.substr(std::min(digits.find_first_not_of('0'), digits.size())) ==
           port;   // RFC 3986 3.2.3: leading zeros are valid
}

/// Only the address with its port, or the name with or without a port. An address may be written in several ways.
void check_host(std::string_view text) {
    static std::vector<std::string> const names{"gate.example"};
    IpEndpoint const own{IpAddress::v4(127, 0, 0, 1), 3131};
    if (!admin::is_own_name(text, own, names)) return;
    auto const name = lower_case(text.substr(0, text.rfind(':')));
    bool const is_address = ends_with_port(text, "3131") && name.find_first_not_of("0123456789abcdef.:[]") == name.npos;
    check(is_address || name == names.front() || lower_case(text) == names.front());
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Exact const bytes({reinterpret_cast<char const*>(data), size});
    auto const text = bytes.view();
    for (auto const* name : {"token", "next", "form_token", "url", ""})
        for (auto const& value : admin::form_values(text, name)) check(value.size() <= text.size());
    auto const value = admin::form_value(text, "token");
    auto const all = admin::form_values(text, "token");
    check(all.empty() ? value.empty() : value == all.front());

    auto const cookie = admin::cookie_value(text, "garner_session_3131");
    check(fuzz::lies_inside(cookie, text) && cookie.find(';') == cookie.npos);
    auto const token = admin::bearer_token(text);
    check(fuzz::lies_inside(token, text));
    for (char const c : token) check(c > ' ' && c < 0x7f && c != '"' && c != ',');

    check_host(text);
    check_host(value);

    auto const next = admin::form_value(text, "next");
    if (admin::is_page_target(next)) {
        check(next.starts_with('/') && !next.starts_with("//") && next.find('\\') != 1);
        check(std::ranges::none_of(next, [](char c) { return c == '\r' || c == '\n' || c == '\0'; }));
    }

    static std::vector<admin::Token> const tokens{{"desk", admin::Role::viewer, admin::digest_of("right")}};
    for (std::string_view const tried : {std::string_view(value), token, text})
        check((admin::token_of(tokens, tried) != nullptr) == (tried == "right"));
    admin::Sessions sessions;
    sessions.open("right", "form", tokens.front().digest, SteadyTime{});
    check((sessions.find(cookie, SteadyTime{}) != nullptr) == (cookie == "right"));
    if (auto const digest = admin::digest_in(text)) check(lower_case(text) == admin::hex_of(*digest));
    return 0;
}
