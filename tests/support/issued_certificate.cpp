#include "support/issued_certificate.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <stdexcept>
#include <string_view>

#include "support/certificate.hpp"

namespace garner::test {

namespace {

EVP_PKEY* new_key(std::string const& kind) {
    if (kind.starts_with("RSA-")) return EVP_RSA_gen(std::stoul(kind.substr(4)));
    if (kind == "ED25519") return EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
    return EVP_EC_gen(kind.c_str());
}

void extend(X509* certificate, X509* issuer, int id, std::string const& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    auto* const extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
    if (!extension) throw std::runtime_error("certificate extension: " + value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

std::string key_text(EVP_PKEY* key, EVP_CIPHER const* cipher) {
    std::shared_ptr<BIO> const bio(BIO_new(BIO_s_mem()), &BIO_free_all);
    constexpr std::string_view password = "secret";
    PEM_write_bio_PKCS8PrivateKey(bio.get(), key, cipher, password.data(), static_cast<int>(password.size()), nullptr, nullptr);
    char* data = nullptr;
    auto const size = BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

}   // namespace

IssuedCertificate::IssuedCertificate(CertificateRequest const& request, IssuedCertificate const* issuer)
    : key_(new_key(request.key), &EVP_PKEY_free), certificate_(X509_new(), &X509_free) {
    static std::atomic<long> serial = 1;
    if (!key_) throw std::runtime_error("no key of kind " + request.key);
    auto* const certificate = certificate_.get();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
    X509_gmtime_adj(X509_getm_notBefore(certificate), request.valid_from);
    X509_gmtime_adj(X509_getm_notAfter(certificate), request.valid_until);
    if (!request.common_name.empty())
        X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                   reinterpret_cast<unsigned char const*>(request.common_name.c_str()), -1, -1, 0);
    auto* const signer = issuer ? issuer->x509() : certificate;
    X509_set_issuer_name(certificate, X509_get_subject_name(signer));
    X509_set_pubkey(certificate, key_.get());
    extend(certificate, signer, NID_basic_constraints, request.is_ca ? "critical,CA:TRUE" : "CA:FALSE");
    if (!request.names.empty()) extend(certificate, signer, NID_subject_alt_name, request.names);
    auto* const signing_key = issuer ? issuer->private_key() : key_.get();
    if (X509_sign(certificate, signing_key, EVP_PKEY_is_a(signing_key, "ED25519") ? nullptr : EVP_sha256()) <= 0)
        throw std::runtime_error("certificate cannot be signed");
}

std::string IssuedCertificate::pem() const { return to_pem(x509()); }
std::string IssuedCertificate::key_pem() const { return key_text(private_key(), nullptr); }
std::string IssuedCertificate::encrypted_key_pem() const { return key_text(private_key(), EVP_aes_128_cbc()); }

}   // namespace garner::test
