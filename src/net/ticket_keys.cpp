#include "net/ticket_keys.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <string_view>

#include "util/check.hpp"

namespace garner::net {
namespace {

int keys_index() {
    static int const index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

bool set_mac_key(EVP_MAC_CTX* mac, TicketKey& key) {
    char digest[] = "SHA256";
    OSSL_PARAM const parameters[]{OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key.mac.data(), key.mac.size()),
                                  OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
    return EVP_MAC_CTX_set_params(mac, parameters) == 1;
}

// The values that OpenSSL expects.
constexpr int ticket_failed = -1, ticket_unknown = 0, ticket_accepted = 1, ticket_accepted_and_renewed = 2;

int prepare_to_encrypt(TicketKeys& keys, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac) {
    auto key = keys.current(steady_now());
    std::ranges::copy(key.name, name);
    auto const* const aes = EVP_aes_256_cbc();
    bool const good = RAND_bytes(iv, EVP_CIPHER_get_iv_length(aes)) == 1 &&
                      EVP_EncryptInit_ex(cipher, aes, nullptr, key.cipher.data(), iv) == 1 && set_mac_key(mac, key);
    return good ? ticket_accepted : ticket_failed;
}

int prepare_to_decrypt(TicketKeys& keys, SSL* ssl, unsigned char const* name, unsigned char const* iv, EVP_CIPHER_CTX* cipher,
                       EVP_MAC_CTX* mac) {
    auto found = keys.find(std::span<std::uint8_t const, 16>(name, 16), steady_now());
    if (!found) return ticket_unknown;
    auto& key = found->key;
    bool const good = EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key.cipher.data(), iv) == 1 && set_mac_key(mac, key);
    if (!good) return ticket_failed;
    // A TLS 1.3 client uses a ticket once (RFC 8446 C.4) and so needs a new one each time.
    return found->is_current && SSL_version(ssl) < TLS1_3_VERSION ? ticket_accepted : ticket_accepted_and_renewed;
}

int prepare(SSL* ssl, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac, int encrypts) {
    auto& keys = *static_cast<TicketKeys*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), keys_index()));
    return encrypts ? prepare_to_encrypt(keys, name, iv, cipher, mac) : prepare_to_decrypt(keys, ssl, name, iv, cipher, mac);
}

}   // namespace

TicketKey TicketKey::random() {
    TicketKey key;
    check(RAND_bytes(key.name.data(), static_cast<int>(key.name.size())) == 1);
    check(RAND_priv_bytes(key.cipher.data(), static_cast<int>(key.cipher.size())) == 1);
    check(RAND_priv_bytes(key.mac.data(), static_cast<int>(key.mac.size())) == 1);
    return key;
}

TicketKey::~TicketKey() {
    OPENSSL_cleanse(cipher.data(), cipher.size());
    OPENSSL_cleanse(mac.data(), mac.size());
}

TicketKey TicketKeys::current(SteadyTime now) {
    MutexLock const lock(mutex_);
    rotate(now);
    return keys_.front();
}

std::optional<TicketKeys::Found> TicketKeys::find(std::span<std::uint8_t const, 16> name, SteadyTime now) {
    MutexLock const lock(mutex_);
    rotate(now);
    auto const found = std::ranges::find_if(keys_, [&](TicketKey const& key) { return std::ranges::equal(key.name, name); });
    if (found == keys_.end()) return std::nullopt;
    return Found{*found, found == keys_.begin()};
}

void TicketKeys::rotate(SteadyTime now) {
    auto const periods = std::max<std::int64_t>((now - since_) / period, 0);
    // Made at the first use, because random bytes need OpenSSL's ciphers (TlsContext::make).
    auto const replaced = made_ ? std::min(static_cast<std::size_t>(periods), keys) : keys;
    for (std::size_t i = keys; i-- > replaced;) keys_[i] = keys_[i - replaced];
    for (std::size_t i = 0; i < replaced; ++i) keys_[i] = TicketKey::random();
    made_ = true;
    since_ += periods * period;
}

TicketKeys::State TicketKeys::state(SteadyTime now) {
    MutexLock const lock(mutex_);
    rotate(now);
    State state;
    for (auto const& key : keys_) {
        state.bytes.append(key.name.begin(), key.name.end());
        state.bytes.append(key.cipher.begin(), key.cipher.end());
        state.bytes.append(key.mac.begin(), key.mac.end());
    }
    state.age = std::chrono::duration_cast<milliseconds>(now - since_);
    return state;
}

bool TicketKeys::restore(State const& state, SteadyTime now) {
    if (state.bytes.size() != keys * key_bytes || state.age < milliseconds{0} || state.age > period * keys) return false;
    MutexLock const lock(mutex_);
    auto from = state.bytes.begin();
    auto const read = [&from](auto& part) {
        std::copy_n(from, part.size(), part.begin());
        from += static_cast<std::ptrdiff_t>(part.size());
    };
    for (auto& key : keys_) read(key.name), read(key.cipher), read(key.mac);
    made_ = true;
    since_ = now - state.age;
    return true;
}

void TicketKeys::use_in(SSL_CTX* context) {
    check(SSL_CTX_set_ex_data(context, keys_index(), this) == 1);
    check(SSL_CTX_set_tlsext_ticket_key_evp_cb(context, &prepare) == 1);
    SSL_CTX_set_timeout(context, ticket_lifetime.count());
}

}   // namespace garner::net
