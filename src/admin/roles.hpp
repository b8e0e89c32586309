// Rights at the admin address: tokens with their roles, and the sessions of browsers. Pure.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "util/clock.hpp"

namespace garner::admin {

/// Each role may do what those before it may.
enum class Role : std::uint8_t { none, viewer, operator_ };
std::string_view name_of(Role);   // "none", "viewer", "operator"

/// A SHA-256.
using Digest = std::array<std::uint8_t, 32>;
Digest digest_of(std::string_view text);
/// From 64 hexadecimal digits; nothing for another text.
std::optional<Digest> digest_in(std::string_view hex);
std::string hex_of(Digest const&);

/// A token is known only by its digest. It has 256 random bits, so that a slow hash is not needed.
struct Token {
    std::string name;
    Role role = Role::viewer;
    Digest digest{};
    friend bool operator==(Token const&, Token const&) = default;
};

/// The token that is `text`; nullptr if there is none, and for an empty text. The time that it takes tells nothing about the
/// digests.
Token const* token_of(std::span<Token const> tokens, std::string_view text);
/// Compares secrets in constant time. An empty one equals none.
bool is_same_secret(std::string_view one, std::string_view other);

/// The sender of a request.
struct Visitor {
    Role role = Role::none;
    std::string name = {};         // name of the token; empty: none was needed or none was sent
    std::string form_token = {};   // secret of the session's forms; empty: none
    Digest digest{};               // digest of the token
    Digest session{};              // digest of the session's secret, if there is a form token
};

/// The sessions of browsers that have sent a token. Bounded for each token: a new session ends the oldest one of the same token.
/// Not thread-safe.
class Sessions {
public:
    static constexpr std::chrono::hours lifetime{12};
    static constexpr std::size_t of_token_max = 64;

    struct Session {
        Digest token{};           // digest of the token that opened it
        std::string form_token;   // in the forms of its pages: a page of another site does not know it
        SteadyTime end{};
    };

    /// `secret`: the value of the cookie.
    void open(std::string_view secret, std::string form_token, Digest const& token, SteadyTime now);
    /// nullptr if there is none, or it has ended.
    Session const* find(std::string_view secret, SteadyTime now) const { return find(digest_of(secret), now); }
    Session const* find(Digest const& secret, SteadyTime now) const;
    void close(std::string_view secret);
    /// Ends the sessions of all other tokens.
    void keep(std::span<Token const> tokens);
    std::size_t count(SteadyTime now) const;

private:
    std::map<Digest, Session> sessions_;   // by the digest of the secret: the time of a search tells nothing about a secret
};

}   // namespace garner::admin
