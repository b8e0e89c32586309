#include "auth/md5_crypt.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>

#include "util/base64.hpp"
#include "util/check.hpp"

namespace garner::auth {
namespace {

constexpr std::string_view magic = "$apr1$";
constexpr std::size_t salt_max = 8;
constexpr unsigned rounds = 1'000;
using Digest = std::array<unsigned char, 16>;

std::string_view bytes_of(Digest const& digest, std::size_t count = 16) {
    return {reinterpret_cast<char const*>(digest.data()), count};
}

/// One context for all rounds.
class Md5 {
public:
    void begin() { check(EVP_DigestInit_ex(context_.get(), EVP_md5(), nullptr) == 1); }
    void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
    Digest end() {
        Digest digest{};
        EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
        return digest;
    }

private:
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

Digest first_round(Md5& md5, std::string_view password, std::string_view salt) {
    md5.begin();
    for (auto const part : {password, salt, password}) md5.add(part);
    auto const inner = md5.end();
    md5.begin();
    for (auto const part : {password, magic, salt}) md5.add(part);
    for (auto left = password.size(); left > 0; left -= std::min<std::size_t>(left, 16))
        md5.add(bytes_of(inner, std::min<std::size_t>(left, 16)));
    for (auto bits = password.size(); bits > 0; bits >>= 1)
        md5.add((bits & 1) != 0 ? std::string_view("\0", 1) : password.substr(0, 1));
    return md5.end();
}

std::string text_of(Digest const& digest) {
    constexpr std::string_view alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    std::string out;
    auto const add = [&](std::uint32_t bits, int count) {
        for (; count > 0; --count, bits >>= 6) out += alphabet[bits & 63];
    };
    for (std::size_t i = 0; i < 5; ++i)
        add(static_cast<std::uint32_t>(digest[i] << 16 | digest[i + 6] << 8 | digest[i == 4 ? 5 : i + 12]), 4);
    add(digest[11], 2);
    return out;
}

}   // namespace

std::string apr1_hash(std::string_view password, std::string_view setting) {
    auto salt = setting.substr(std::min(magic.size(), setting.size()));
    salt = salt.substr(0, std::min(salt.find('$'), salt_max));
    Md5 md5;
    auto digest = first_round(md5, password, salt);
    for (unsigned round = 0; round < rounds; ++round) {
        bool const odd = round % 2 != 0;
        md5.begin();
        md5.add(odd ? password : bytes_of(digest));
        if (round % 3 != 0) md5.add(salt);
        if (round % 7 != 0) md5.add(password);
        md5.add(odd ? bytes_of(digest) : password);
        digest = md5.end();
    }
    auto hash = std::string(magic).append(salt).append("$").append(text_of(digest));
    OPENSSL_cleanse(digest.data(), digest.size());
    return hash;
}

std::string base64_sha1(std::string_view password) {
    std::array<char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    check(EVP_Digest(password.data(), password.size(), reinterpret_cast<unsigned char*>(digest.data()), &size, EVP_sha1(),
                     nullptr) == 1);
    return encode_base64({digest.data(), size});
}

}   // namespace garner::auth
