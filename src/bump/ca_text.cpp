#include "bump/ca_text.hpp"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdio>

#include "bump/likeness.hpp"
#include "bump/name_constraints.hpp"
#include "bump/openssl.hpp"
#include "bump/utc.hpp"
#include "net/certificate_text.hpp"
#include "util/check.hpp"

namespace garner::bump {
namespace {

std::string key_text(EVP_PKEY* key) {
    if (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA) return "RSA, " + std::to_string(EVP_PKEY_get_bits(key)) + " bits";
    std::array<char, 64> curve{};
    EVP_PKEY_get_group_name(key, curve.data(), curve.size(), nullptr);
    return std::string("EC, ") + curve.data();
}

std::string path_text(X509* certificate) {
    auto const length = X509_get_pathlen(certificate);
    if (length < 0) return "CAs and servers";
    return length == 0 ? "servers only" : "servers and at most " + std::to_string(length) + " CA below it";
}

std::string text_of(std::shared_ptr<X509> const& certificate, WallTime now) {
    auto* const x509 = certificate.get();
    auto const dates = likeness_of(x509);
    auto const notice = net::expiry_notice(dates.end, now);
    bool const is_root = X509_check_issued(x509, x509) == X509_V_OK;
    return "  subject      " + net::subject_of(x509) + (is_root ? " (root)" : "") + "\n  valid from   " + utc_text(dates.begin) +
           "\n  valid until  " + utc_text(dates.end) + (notice ? " (" + *notice + ")" : "") + "\n  signs for    " +
           NameConstraints({certificate}).text() + "\n  may sign     " + path_text(x509) + "\n  key          " +
           key_text(X509_get0_pubkey(x509)) + "\n  SHA-256      " + fingerprint_of(x509) + "\n";
}

}   // namespace

std::string fingerprint_of(X509* certificate) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned size = 0;
    check(X509_digest(certificate, EVP_sha256(), digest.data(), &size) == 1);
    std::string text;
    for (unsigned i = 0; i < size; ++i) {
        char byte[8];
        std::snprintf(byte, sizeof byte, "%s%02X", i == 0 ? "" : ":", static_cast<unsigned>(digest[i]));
        text += byte;
    }
    return text;
}

std::string ca_text(std::vector<std::shared_ptr<X509>> const& chain, WallTime now) {
    std::string text;
    for (std::size_t i = 0; i < chain.size(); ++i)
        text += "certificate " + std::to_string(i + 1) + " of " + std::to_string(chain.size()) + (i == 0 ? ", which signs" : "") +
                "\n" + text_of(chain[i], now);
    return text;
}

std::string init_text(CaPaths const& paths, std::vector<std::shared_ptr<X509>> const& chain) {
    return "The CA may sign for: " + NameConstraints(chain).text() +
           "\n"
           "Configuration: \"bump\": { \"ca_chain\": \"" +
           paths.chain + "\", \"ca_key\": \"" + paths.key +
           "\", ... }\n"
           "The user that runs Garner must own " +
           paths.key +
           ".\n"
           "Clients must trust " +
           paths.root + ", SHA-256 " + fingerprint_of(chain.back().get()) +
           ".\n"
           "Move " +
           paths.root_key + " to a safe place. The proxy does not need it.\n";
}

std::string pem_of(X509* certificate) {
    BioPointer const bio(BIO_new(BIO_s_mem()));
    check(bio && PEM_write_bio_X509(bio.get(), certificate) == 1);
    char* data = nullptr;
    auto const size = BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

}   // namespace garner::bump
