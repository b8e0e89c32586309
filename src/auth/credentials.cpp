#include "auth/credentials.hpp"

#include <algorithm>
#include <utility>

#include "auth/secret_base64.hpp"
#include "util/text.hpp"

namespace garner::auth {
namespace {

using Problem = CredentialsFault;

constexpr std::size_t encoded_size(std::size_t bytes) { return (bytes + 2) / 3 * 4; }

Credentials refused(Scheme scheme, Problem fault) {
    Credentials credentials;
    credentials.fault = fault;
    credentials.scheme = scheme;
    return credentials;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }

/// RFC 7617 2: the user has no colon, and neither part a control character.
Credentials parse_basic(std::string_view text) {
    if (text.size() > encoded_size(Credentials::basic_max)) return refused(Scheme::basic, Problem::too_long);
    auto const decoded = decode_base64(text);
    if (!decoded) return refused(Scheme::basic, Problem::malformed_base64);
    auto const pair = decoded->view();
    auto const colon = pair.find(':');
    if (colon == npos) return refused(Scheme::basic, Problem::no_colon);
    if (std::ranges::any_of(pair, is_control)) return refused(Scheme::basic, Problem::control_byte);
    if (colon == 0) return refused(Scheme::basic, Problem::no_user);
    if (colon > Credentials::user_max) return refused(Scheme::basic, Problem::user_too_long);
    Credentials credentials;
    credentials.user = Secret(pair.substr(0, colon));
    credentials.secret = Secret(pair.substr(colon + 1));
    return credentials;
}

bool is_token68(char c) { return is_alpha(c) || is_digit(c) || std::string_view("-._~+/").find(c) != npos; }

Credentials parse_bearer(std::string_view text) {
    if (text.size() > Credentials::bearer_max) return refused(Scheme::bearer, Problem::too_long);
    auto const padding = std::min(text.find('='), text.size());
    bool const good = padding > 0 && std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(padding), is_token68) &&
                      text.find_first_not_of('=', padding) == npos;
    if (!good) return refused(Scheme::bearer, Problem::malformed_base64);
    auto credentials = refused(Scheme::bearer, Problem::none);
    credentials.secret = Secret(text);
    return credentials;
}

/// An NTLM message, plain or inside of a SPNEGO token, whose own fields before it are short.
bool has_ntlm(std::string_view token) {
    constexpr std::string_view signature("NTLMSSP\0", 8);
    constexpr std::size_t spnego_fields_max = 256;
    return token.substr(0, spnego_fields_max).find(signature) != npos;
}

Credentials parse_negotiate(std::string_view text) {
    if (text.size() > encoded_size(Credentials::negotiate_max)) return refused(Scheme::negotiate, Problem::too_long);
    auto token = decode_base64(text);
    if (!token) return refused(Scheme::negotiate, Problem::malformed_base64);
    if (has_ntlm(token->view())) return refused(Scheme::negotiate, Problem::ntlm);
    auto credentials = refused(Scheme::negotiate, Problem::none);
    credentials.secret = *std::move(token);
    return credentials;
}

struct SchemeRow {
    std::string_view name;
    Scheme scheme;
    Credentials (*parse)(std::string_view);
};
constexpr SchemeRow schemes[]{{"basic", Scheme::basic, parse_basic},
                              {"bearer", Scheme::bearer, parse_bearer},
                              {"negotiate", Scheme::negotiate, parse_negotiate}};

/// `field` without white space at its ends. nullptr: an unknown scheme.
SchemeRow const* row_of(std::string_view field) {
    auto const name = field.substr(0, field.find_first_of(" \t"));
    auto const row = std::ranges::find_if(schemes, [&](SchemeRow const& one) { return equals_ignoring_case(one.name, name); });
    return row == std::end(schemes) ? nullptr : row;
}

}   // namespace

char const* text_of(CredentialsFault fault) {
    switch (fault) {
    case Problem::none: return "the credentials are well formed";
    case Problem::unknown_scheme: return "the scheme is none of Basic, Bearer and Negotiate";
    case Problem::no_parameter: return "the scheme has no credentials after it";
    case Problem::too_long: return "the credentials are too long";
    case Problem::malformed_base64: return "the credentials are not in base64";
    case Problem::no_colon: return "the Basic credentials have no colon";
    case Problem::no_user: return "the Basic credentials have an empty user name";
    case Problem::user_too_long: return "the user name is longer than 256 bytes";
    case Problem::control_byte: return "the Basic credentials have a control character";
    case Problem::ntlm: return "the client offers NTLM inside of Negotiate, which is not supported";
    }
    return "";
}

std::optional<Scheme> scheme_of(std::string_view field) {
    auto const* const row = row_of(trim(field));
    return row ? std::optional(row->scheme) : std::nullopt;
}

Credentials parse_credentials(std::string_view field) {
    field = trim(field);
    auto const* const row = row_of(field);
    if (!row) return refused(Scheme::basic, Problem::unknown_scheme);
    auto const text = trim(field.substr(row->name.size()));
    return text.empty() ? refused(row->scheme, Problem::no_parameter) : row->parse(text);
}

}   // namespace garner::auth
