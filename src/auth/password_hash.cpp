#include "auth/password_hash.hpp"

#include <crypt.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "auth/secret_base64.hpp"
#include "auth/md5_crypt.hpp"
#include "util/text.hpp"

namespace garner::auth {
namespace {

constexpr std::string_view apr1 = "$apr1$", sha = "{SHA}";
constexpr std::size_t sha_size = 20;

bool is_one_of(char c, std::string_view set) { return set.find(c) != npos; }
bool is_of_crypt(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return is_alpha(c) || is_digit(c) || is_one_of(c, "./"); });
}

/// "$2y$05$" and 53 characters.
char const* fault_of_bcrypt(std::string_view hash) {
    constexpr unsigned cost_max = 15;
    bool const is_whole =
        hash.size() == 60 && is_digit(hash[4]) && is_digit(hash[5]) && hash[6] == '$' && is_of_crypt(hash.substr(7));
    if (!is_whole) return "has a malformed bcrypt hash";
    auto const cost = parse_decimal(hash.substr(4, 2));
    if (*cost < 4 || *cost > cost_max) return "has a bcrypt hash with a cost that is not between 4 and 15";
    return nullptr;
}

/// "$6$", an optional "rounds=N$", a salt, "$" and the hash.
char const* fault_of_sha_crypt(std::string_view hash) {
    constexpr std::uint64_t rounds_max = 1'000'000;
    constexpr std::string_view rounds = "rounds=";
    std::size_t const size = hash[1] == '5' ? 43 : 86;
    auto rest = hash.substr(3);
    if (rest.starts_with(rounds)) {
        auto const end = std::min(rest.find('$'), rest.size());
        auto const count = parse_decimal(rest.substr(rounds.size(), end - rounds.size()));
        if (!count || end == rest.size()) return "has a malformed SHA-crypt hash";
        if (*count > rounds_max) return "has a SHA-crypt hash with more than 1,000,000 rounds";
        rest.remove_prefix(end + 1);
    }
    auto const dollar = rest.find('$');
    bool const is_whole =
        dollar != npos && dollar <= 16 && rest.size() - dollar - 1 == size && is_of_crypt(rest.substr(dollar + 1));
    return is_whole ? nullptr : "has a malformed SHA-crypt hash";
}

/// "$y$", parameters, "$", a salt, "$" and 43 characters. The second parameter is the cost, "9" by default.
char const* fault_of_yescrypt(std::string_view hash) {
    auto const parameters = hash.substr(3, hash.find('$', 3) - 3);
    auto const last = hash.rfind('$');
    bool const is_whole = parameters.size() >= 3 && last > 3 + parameters.size() && hash.size() - last - 1 == 43 &&
                          is_of_crypt(parameters) && is_of_crypt(hash.substr(last + 1));
    if (!is_whole) return "has a malformed yescrypt hash";
    if (parameters[0] != 'j') return "has a yescrypt hash of an uncommon flavour";
    if (!is_one_of(parameters[1], "./0123456789ABCDE")) return "has a yescrypt hash with a cost above 10";
    return nullptr;
}

char const* fault_of_md5_crypt(std::string_view hash) {
    auto const last = hash.rfind('$');
    auto const begin = hash.find('$', 1) + 1;
    bool const is_whole = last >= begin && last - begin <= 8 && hash.size() - last - 1 == 22 &&
                          is_of_crypt(hash.substr(last + 1)) && hash.substr(begin, last - begin).find('$') == npos;
    return is_whole ? nullptr : "has a malformed MD5-crypt hash";
}

char const* fault_of_sha(std::string_view hash) {
    auto const decoded = decode_base64(hash.substr(sha.size()));
    return decoded && decoded->size() == sha_size ? nullptr : "has a malformed {SHA} hash";
}

struct HashRow {
    std::string_view prefix;
    char const* (*fault)(std::string_view);
};
constexpr HashRow known_hashes[]{
    {"$2a$", fault_of_bcrypt},   {"$2b$", fault_of_bcrypt},   {"$2y$", fault_of_bcrypt},
    {"$5$", fault_of_sha_crypt}, {"$6$", fault_of_sha_crypt}, {"$y$", fault_of_yescrypt},
    {"$1$", fault_of_md5_crypt}, {apr1, fault_of_md5_crypt},  {sha, fault_of_sha},
};

bool equal(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

struct WipeCrypt {
    void operator()(crypt_data* data) const {
        OPENSSL_cleanse(data, sizeof *data);
        delete data;
    }
};

}   // namespace

char const* fault_of_hash(std::string_view hash) {
    auto const row = std::ranges::find_if(known_hashes, [&](HashRow const& one) { return hash.starts_with(one.prefix); });
    if (row != std::end(known_hashes)) return row->fault(hash);
    if (hash.starts_with('$') || (hash.starts_with('{') && hash.find('}') != npos)) return "has a hash of an unknown kind";
    return hash.size() == 13 && is_of_crypt(hash) ? "has a DES hash, which is too weak" : "has a password in plain text";
}

bool matches_hash(Secret const& password, std::string const& hash) {
    if (hash.starts_with(sha)) return equal(base64_sha1(password.view()), std::string_view(hash).substr(sha.size()));
    if (hash.starts_with(apr1)) return equal(apr1_hash(password.view(), hash), hash);
    std::unique_ptr<crypt_data, WipeCrypt> const data(new crypt_data());
    char const* const computed = ::crypt_r(password.c_str(), hash.c_str(), data.get());
    return computed && equal(computed, hash);
}

}   // namespace garner::auth
