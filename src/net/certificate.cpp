#include "net/certificate.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "net/pem.hpp"
#include "util/check.hpp"
#include "util/text.hpp"

namespace garner::net {
namespace {

using Chain = std::vector<std::shared_ptr<X509>>;

constexpr char const* order_mend = "write the server's certificate first, then each intermediate after the certificate it issued";
constexpr char const* strength_mend = "request a certificate for a new key: openssl genpkey -algorithm EC -pkeyopt "
                                      "ec_paramgen_curve:P-256 -out NEW.key";

/// "certificate 2 (CN = Example CA)", counted from 1.
std::string ordinal(Chain const& chain, std::size_t index) {
    return "certificate " + std::to_string(index + 1) + " (" + subject_of(chain[index].get()) + ")";
}

Result<void> check_key_pair(Chain const& chain, EVP_PKEY* key, CertificateFiles const& files) {
    auto const is_pair = [&](auto const& certificate) { return X509_check_private_key(certificate.get(), key) == 1; };
    auto const found = std::ranges::find_if(chain, is_pair);
    ERR_clear_error();
    if (found == chain.begin()) return {};
    if (found == chain.end())
        return Fault{"the key does not belong to " + ordinal(chain, 0) + " of " + files.chain,
                     "name the key that this certificate was requested with", files.key};
    return Fault{"wrong order: the key belongs to " + ordinal(chain, static_cast<std::size_t>(found - chain.begin())), order_mend,
                 files.chain};
}

bool has_issued(X509* issuer, X509* subject) {
    return X509_check_issued(issuer, subject) == X509_V_OK && X509_verify(subject, X509_get0_pubkey(issuer)) == 1;
}

Result<void> check_order(Chain const& chain, std::string const& file) {
    for (std::size_t i = 1; i < chain.size(); ++i) {
        auto const issues_previous = [&](auto const& one) { return has_issued(one.get(), chain[i - 1].get()); };
        auto const issuer = std::find_if(chain.begin() + static_cast<std::ptrdiff_t>(i), chain.end(), issues_previous);
        ERR_clear_error();
        auto const index = static_cast<std::size_t>(issuer - chain.begin());
        if (index == i) continue;
        if (issuer != chain.end())
            return Fault{"wrong order: " + ordinal(chain, index) + " issued " + ordinal(chain, i - 1) + " but does not follow it",
                         order_mend, file};
        return Fault{"broken chain: " + ordinal(chain, i) + " did not issue " + ordinal(chain, i - 1),
                     "append the intermediates that the CA publishes for the server's certificate, and no others", file};
    }
    return {};
}

/// Empty if TLS 1.2 and 1.3 can sign with the key (RFC 8446 4.2.3), else the reason.
std::string unusable(EVP_PKEY* key) {
    constexpr std::array curves{"prime256v1", "secp384r1", "secp521r1"};
    std::array<char, 64> curve{};
    switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_RSA:
    case EVP_PKEY_RSA_PSS: {
        int const bits = EVP_PKEY_get_bits(key);
        return bits >= 2'048 ? "" : "RSA key of " + std::to_string(bits) + " bits; TLS needs at least 2048";
    }
    case EVP_PKEY_ED25519:
    case EVP_PKEY_ED448: return "";
    case EVP_PKEY_EC:
        EVP_PKEY_get_group_name(key, curve.data(), curve.size(), nullptr);
        if (std::ranges::count(curves, std::string_view(curve.data()), [](auto* name) { return std::string_view(name); }))
            return "";
        return "EC key on the curve " + std::string(curve.data()) + ", which TLS 1.3 does not have";
    default: return "key of a type that TLS 1.3 does not have";
    }
}

/// The judgement of OpenSSL's security level 2 (112 bits) about the keys and signatures of all certificates.
Result<void> check_strength(Certificate const& certificate, EVP_PKEY* key, std::string const& file) {
    if (auto reason = unusable(key); !reason.empty()) return Fault{std::move(reason), strength_mend, file};
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> const context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
    check(context != nullptr);
    SSL_CTX_set_security_level(context.get(), 2);
    std::unique_ptr<SSL, decltype(&SSL_free)> const ssl(SSL_new(context.get()), &SSL_free);
    check(ssl != nullptr);
    ERR_clear_error();
    if (certificate.use(ssl.get()) == 1) return {};
    auto const* reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return Fault{std::string("OpenSSL refuses the certificate or its chain: ") + (reason ? reason : "unknown reason"),
                 "request one with keys of at least 2048 (RSA) or 256 (EC) bits, signed with SHA-256 or stronger", file};
}

}   // namespace

Certificate::Certificate(std::vector<std::shared_ptr<X509>> const& chain, std::shared_ptr<EVP_PKEY> key)
    : leaf_(chain.at(0)), intermediates_(sk_X509_new_null(), [](STACK_OF(X509) * stack) { sk_X509_pop_free(stack, X509_free); }),
      key_(std::move(key)), names_(server_names(leaf_.get())), subject_(subject_of(leaf_.get())),
      not_after_(net::not_after(leaf_.get())) {
    for (std::size_t i = 1; i < chain.size(); ++i) {
        X509_up_ref(chain[i].get());
        check(sk_X509_push(intermediates_.get(), chain[i].get()) > 0);
    }
}

std::string Certificate::fingerprint() const {
    std::string all = fingerprint_of(leaf_.get());
    for (int i = 0; i < sk_X509_num(intermediates_.get()); ++i) all += fingerprint_of(sk_X509_value(intermediates_.get(), i));
    return all;
}

bool Certificate::matches(std::string_view server_name) const {
    auto const name = lower_case(server_name);
    return std::ranges::count(names_, name) > 0 || std::ranges::count(names_, wildcard_for(name)) > 0;
}

int Certificate::use(SSL* ssl) const { return SSL_use_cert_and_key(ssl, leaf_.get(), key_.get(), intermediates_.get(), 1); }

std::string wildcard_for(std::string_view server_name) {
    auto const dot = server_name.find('.');
    return dot == npos || dot == 0 ? std::string() : "*" + std::string(server_name.substr(dot));
}

Result<std::shared_ptr<Certificate const>> read_certificate(CertificateFiles const& files) {
    auto const chain_text = read_pem_file(files.chain);
    if (!chain_text) return chain_text.fault();
    auto const chain = certificates_in(*chain_text, files.chain);
    if (!chain) return chain.fault();
    auto const key_text = read_pem_file(files.key);
    if (!key_text) return key_text.fault();
    auto const key = private_key_in(*key_text, files.key);
    if (!key) return key.fault();

    if (auto const pair = check_key_pair(*chain, key->get(), files); !pair) return pair.fault();
    if (auto const order = check_order(*chain, files.chain); !order) return order.fault();
    auto certificate = std::make_shared<Certificate const>(*chain, *key);
    if (auto const strength = check_strength(*certificate, key->get(), files.chain); !strength) return strength.fault();
    return certificate;
}

std::optional<Fault> key_file_notice(std::string const& file) {
    struct stat status;
    if (::stat(file.c_str(), &status) != 0 || (status.st_mode & (S_IROTH | S_IWOTH)) == 0) return std::nullopt;
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", status.st_mode & 07777u);
    return Fault{"every user of this machine may read or change the private key (mode " + std::string(mode) + ")",
                 "chmod o= " + file, file};
}

}   // namespace garner::net
