// A self-signed certificate for loopback, valid for an hour, created on demand.
#pragma once
#include <memory>
#include <string>

typedef struct ssl_ctx_st SSL_CTX;
typedef struct x509_st X509;

namespace garner::test {

class Certificate {
public:
    /// For 127.0.0.1, ::1, localhost and `name`; self-signed, so that it is its own CA file.
    explicit Certificate(std::string const& name = "localhost");

    /// PEM; without spki_hash().
    Certificate(std::string pem, std::string key_pem) : pem_(std::move(pem)), key_pem_(std::move(key_pem)) {}

    std::string const& pem() const { return pem_; }
    std::string const& key_pem() const { return key_pem_; }
    /// Certificate and key in one PEM text, as nginx takes them.
    std::string pem_with_key() const { return pem_ + key_pem_; }
    /// SHA-256 of the public key in base 64, as Chromium's --ignore-certificate-errors-spki-list wants it.
    std::string const& spki_hash() const { return spki_hash_; }
    void use_in(SSL_CTX*) const;

private:
    std::string pem_;
    std::string key_pem_;
    std::string spki_hash_;
};

std::string to_pem(X509*);

}   // namespace garner::test
