// Vary (RFC 9111 4.1): the request fields that select among the variants of one URL, and the resulting variant key.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"

namespace garner::http {

/// The names in a response's Vary: lower-cased, sorted, without repetition.
struct VaryNames {
    /// Why it never selects a response.
    enum class Never : std::uint8_t {
        no,
        star,             // "*"
        malformed,        // a member that is no field name
        too_long,         // more than 32 names
        hop_credentials   // Proxy-Authorization, which is for this proxy only: the origin never sees it
    };
    bool star = false;         // any of these: all count as "*"
    Never never = Never::no;   // the first of them that applies
    std::vector<std::string> names;

    bool empty() const { return !star && names.empty(); }
};

VaryNames parse_vary(std::string_view joined_value);
VaryNames parse_vary(Fields const& response);

/// The request fields that select among the responses of a URL: those that Vary names; Accept-Encoding if the response has
/// a Content-Encoding, even if Vary does not name it; and `key_fields`, names that the operator adds, tokens in any case.
VaryNames effective_vary(Fields const& response, std::span<std::string const> key_fields);

/// True for a request field whose value may be a credential, by its name: Cookie, Authorization, X-Api-Key and the like.
bool is_secret(std::string_view name);

/// "accept, accept-language": the marker to store for a URL that has variants; "*" when star. parse_vary reads it.
std::string to_string(VaryNames const&);

/// A canonical text of the selecting fields of `request`: equal exactly when the stored response is selected (4.1). Lines
/// of one field are joined, without white space around commas. Accept-Language is compared without case and order,
/// Accept-Encoding without case; an absent field differs from an empty one. The value of a field that is_secret is replaced
/// by a digest with a key that is random for each process: after a restart such a request selects none of the older
/// responses. Must not be called for star.
std::string variant_key(VaryNames const&, Fields const& request);
std::string variant_key(std::string_view vary_value_joined, Fields const& request);

}   // namespace garner::http
