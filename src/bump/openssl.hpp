// Owners of OpenSSL's objects.
#pragma once
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <memory>

namespace garner::bump {

template <auto release>
struct Release {
    void operator()(auto* held) const { release(held); }
};

using X509Pointer = std::unique_ptr<X509, Release<X509_free>>;
using NamePointer = std::unique_ptr<X509_NAME, Release<X509_NAME_free>>;
using ExtensionPointer = std::unique_ptr<X509_EXTENSION, Release<X509_EXTENSION_free>>;
using OctetsPointer = std::unique_ptr<ASN1_OCTET_STRING, Release<ASN1_OCTET_STRING_free>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY_free>>;
using BioPointer = std::unique_ptr<BIO, Release<BIO_free_all>>;

}   // namespace garner::bump
