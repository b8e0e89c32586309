#include "icp/htcp_auth.hpp"

#include <array>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "util/big_endian.hpp"
#include "util/check.hpp"

namespace garner::icp::htcp {

namespace {

constexpr std::string_view key_name = "garner-sha256";
constexpr std::size_t digest_size = 32;
using Digest = std::array<unsigned char, digest_size>;

Digest digest_of(std::string_view secret, std::uint8_t minor, Auth const& auth, std::string_view data) {
    std::string covered;
    append_big_endian(std::uint16_t{minor}, covered);   // MAJOR is 0
    append_big_endian(auth.time, covered);
    append_big_endian(auth.expires, covered);
    covered += data;
    put_text(covered, auth.key_name);
    Digest digest;
    unsigned size = 0;
    auto const* bytes = reinterpret_cast<unsigned char const*>(covered.data());
    auto const* made =
        HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes, covered.size(), digest.data(), &size);
    check(made && size == digest_size);
    return digest;
}

std::string_view text_of(Digest const& digest) { return {reinterpret_cast<char const*>(digest.data()), digest.size()}; }

std::uint32_t seconds_of(WallTime time) { return static_cast<std::uint32_t>(unix_seconds(time)); }

}   // namespace

void seal(std::string& message, std::string_view secret, WallTime now) {
    if (secret.empty()) {
        append_big_endian(static_cast<std::uint16_t>(auth_absent), message);
        return finish(message);
    }
    Auth auth;
    auth.time = seconds_of(now);
    auth.expires = seconds_of(now + signature_life);
    auth.key_name = key_name;
    auto const minor = static_cast<std::uint8_t>(message[header_size - 1]);
    auto const digest = digest_of(secret, minor, auth, std::string_view(message).substr(header_size));
    std::string section;
    append_big_endian(auth.time, section);
    append_big_endian(auth.expires, section);
    put_text(section, auth.key_name);
    put_text(section, text_of(digest));
    append_big_endian(static_cast<std::uint16_t>(sizeof(std::uint16_t) + section.size()), message);
    message += section;
    finish(message);
}

Verdict judge(Message const& message, std::string_view secret, WallTime now) {
    if (secret.empty()) return Verdict::good;
    if (!message.auth) return Verdict::missing;
    auto const& auth = *message.auth;
    if (auth.key_name != key_name || auth.signature.size() != digest_size) return Verdict::bad;
    auto const wanted = digest_of(secret, message.minor, auth, message.data);
    if (CRYPTO_memcmp(wanted.data(), auth.signature.data(), digest_size) != 0) return Verdict::bad;
    // The times count only if they are covered by a valid signature.
    constexpr std::int64_t apart = signature_life.count();
    bool const over = unix_seconds(now) > std::int64_t{auth.expires} + apart;
    bool const early = std::int64_t{auth.time} > unix_seconds(now) + apart;
    return over || early ? Verdict::expired : Verdict::good;
}

}   // namespace garner::icp::htcp
