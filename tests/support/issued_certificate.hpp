// Certificates of every kind, valid and faulty, issued by each other.
#pragma once
#include <memory>
#include <string>

typedef struct x509_st X509;
typedef struct evp_pkey_st EVP_PKEY;

namespace garner::test {

struct CertificateRequest {
    std::string common_name = "leaf";   // empty: none
    std::string names;                  // SAN in OpenSSL's form: "DNS:proxy.test,IP:127.0.0.1"; empty: none
    bool is_ca = false;
    long valid_from = -3'600;   // seconds from now
    long valid_until = 90 * 86'400;
    std::string key = "P-256";   // or another curve, "RSA-1024", "RSA-2048", "ED25519"
};

class IssuedCertificate {
public:
    /// Signed by `issuer`, or by itself. Throws std::runtime_error if OpenSSL cannot make it.
    explicit IssuedCertificate(CertificateRequest const& request, IssuedCertificate const* issuer = nullptr);

    X509* x509() const { return certificate_.get(); }
    EVP_PKEY* private_key() const { return key_.get(); }
    std::string pem() const;
    std::string key_pem() const;
    std::string encrypted_key_pem() const;

private:
    std::shared_ptr<EVP_PKEY> key_;
    std::shared_ptr<X509> certificate_;
};

}   // namespace garner::test
