#include "admin/roles.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>

#include "util/text.hpp"

namespace garner::admin {

namespace {

bool is_same_digest(Digest const& one, Digest const& other) { return ::CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0; }

}   // namespace

std::string_view name_of(Role role) {
    static constexpr std::array<std::string_view, 3> names{"none", "viewer", "operator"};
    return names[static_cast<std::size_t>(role)];
}

Digest digest_of(std::string_view text) {
    Digest digest;
    ::SHA256(reinterpret_cast<unsigned char const*>(text.data()), text.size(), digest.data());
    return digest;
}

std::optional<Digest> digest_in(std::string_view hex) {
    Digest digest;
    if (hex.size() != 2 * digest.size()) return std::nullopt;
    for (std::size_t i = 0; i < digest.size(); ++i) {
        int const high = hex_value(hex[2 * i]), low = hex_value(hex[2 * i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        digest[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return digest;
}

std::string hex_of(Digest const& digest) {
    std::string hex;
    for (unsigned const byte : digest) hex += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    return hex;
}

Token const* token_of(std::span<Token const> tokens, std::string_view text) {
    auto const digest = digest_of(text);
    Token const* found = nullptr;
    for (auto const& token : tokens)
        if (is_same_digest(token.digest, digest)) found = &token;
    return text.empty() ? nullptr : found;
}

bool is_same_secret(std::string_view one, std::string_view other) {
    return !one.empty() && is_same_digest(digest_of(one), digest_of(other));
}

void Sessions::open(std::string_view secret, std::string form_token, Digest const& token, SteadyTime now) {
    std::erase_if(sessions_, [now](auto const& entry) { return now >= entry.second.end; });
    auto const is_of_token = [&](auto const& entry) { return entry.second.token == token; };
    while (static_cast<std::size_t>(std::ranges::count_if(sessions_, is_of_token)) >= of_token_max) {
        auto oldest = sessions_.end();
        for (auto at = sessions_.begin(); at != sessions_.end(); ++at)
            if (is_of_token(*at) && (oldest == sessions_.end() || at->second.end < oldest->second.end)) oldest = at;
        sessions_.erase(oldest);
    }
    sessions_[digest_of(secret)] = {token, std::move(form_token), now + lifetime};
}

Sessions::Session const* Sessions::find(Digest const& secret, SteadyTime now) const {
    auto const found = sessions_.find(secret);
    return found == sessions_.end() || now >= found->second.end ? nullptr : &found->second;
}

void Sessions::close(std::string_view secret) { sessions_.erase(digest_of(secret)); }

void Sessions::keep(std::span<Token const> tokens) {
    std::erase_if(sessions_, [tokens](auto const& entry) {
        return std::ranges::none_of(tokens, [&](Token const& token) { return token.digest == entry.second.token; });
    });
}

std::size_t Sessions::count(SteadyTime now) const {
    return static_cast<std::size_t>(std::ranges::count_if(sessions_, [now](auto const& entry) { return now < entry.second.end; }));
}

}   // namespace garner::admin
