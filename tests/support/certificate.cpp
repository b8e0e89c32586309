#include "support/certificate.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <stdexcept>

namespace garner::test {

namespace {

template <class T, void (*release)(T*)>
struct Release {
    void operator()(T* held) const { release(held); }
};
using Key = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY, EVP_PKEY_free>>;
using Cert = std::unique_ptr<X509, Release<X509, X509_free>>;
using Memory = std::unique_ptr<BIO, Release<BIO, BIO_free_all>>;

std::string text_of(BIO* bio) {
    char* data = nullptr;
    auto const size = BIO_get_mem_data(bio, &data);
    return {data, static_cast<std::size_t>(size)};
}

void add_extension(X509* certificate, int id, std::string const& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
    auto* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
    if (!extension) throw std::runtime_error("certificate extension: " + value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

std::string hash_of_public_key(X509* certificate) {
    unsigned char* der = nullptr;
    auto const size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
    SHA256(der, static_cast<std::size_t>(size), digest.data());
    OPENSSL_free(der);
    std::array<unsigned char, 64> base64;
    auto const length = EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(digest.size()));
    return {reinterpret_cast<char const*>(base64.data()), static_cast<std::size_t>(length)};
}

}   // namespace

std::string to_pem(X509* certificate) {
    Memory bio(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(bio.get(), certificate);
    return text_of(bio.get());
}

Certificate::Certificate(std::string const& name) {
    Key key(EVP_EC_gen("P-256"));
    Cert certificate(X509_new());
    X509_set_version(certificate.get(), 2);
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), reinterpret_cast<std::uintptr_t>(this));
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    auto* subject = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<unsigned char const*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(certificate.get(), subject);
    add_extension(certificate.get(), NID_subject_alt_name, "IP:127.0.0.1,IP:::1,DNS:" + name + ",DNS:localhost");
    add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
    X509_sign(certificate.get(), key.get(), EVP_sha256());

    Memory bio(BIO_new(BIO_s_mem()));
    PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    pem_ = to_pem(certificate.get());
    key_pem_ = text_of(bio.get());
    spki_hash_ = hash_of_public_key(certificate.get());
}

void Certificate::use_in(SSL_CTX* context) const {
    Memory certificate_text(BIO_new_mem_buf(pem_.data(), static_cast<int>(pem_.size())));
    Memory key_text(BIO_new_mem_buf(key_pem_.data(), static_cast<int>(key_pem_.size())));
    Cert certificate(PEM_read_bio_X509(certificate_text.get(), nullptr, nullptr, nullptr));
    Key key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
    SSL_CTX_use_certificate(context, certificate.get());
    SSL_CTX_use_PrivateKey(context, key.get());
}

}   // namespace garner::test
