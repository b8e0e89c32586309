#include "bump/authority.hpp"

#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bump/openssl.hpp"
#include "net/certificate_text.hpp"
#include "util/check.hpp"
#include "util/ip.hpp"

namespace garner::bump {
namespace {

constexpr std::size_t common_name_max = 64;   // ub-common-name (RFC 5280 A.1)

unsigned char const* octets(std::string_view bytes) { return reinterpret_cast<unsigned char const*>(bytes.data()); }

// ---- DER (X.690 8.1) ----

std::string der(char tag, std::string_view content) {
    std::string out(1, tag);
    auto const size = content.size();
    if (size >= 256)
        out += {'\x82', static_cast<char>(size >> 8)};
    else if (size >= 128)
        out += '\x81';
    out += static_cast<char>(size);
    return out.append(content);
}

constexpr char tag_sequence = 0x30;
constexpr char tag_key_identifier = '\x80';   // [0]
constexpr char tag_dns_name = '\x82';         // [2]
constexpr char tag_address = '\x87';          // [7]

// ---- extensions (RFC 5280 4.2.1) ----

constexpr std::string_view no_ca("\x30\x00", 2);                                                  // an empty BasicConstraints
constexpr std::string_view digital_signature("\x03\x02\x07\x80", 4);                              // KeyUsage, bit 0
constexpr std::string_view server_auth("\x30\x0a\x06\x08\x2b\x06\x01\x05\x05\x07\x03\x01", 12);   // id-kp-serverAuth

ExtensionPointer extension(int nid, bool critical, std::string_view value) {
    OctetsPointer const data(ASN1_OCTET_STRING_new());
    check(data && ASN1_OCTET_STRING_set(data.get(), octets(value), static_cast<int>(value.size())) == 1);
    ExtensionPointer made(X509_EXTENSION_create_by_NID(nullptr, nid, critical, data.get()));
    check(made != nullptr);
    return made;
}

std::string general_name(std::string const& name) {
    auto const address = parse_ip(name);
    if (!address) return der(tag_dns_name, name);
    std::string_view const bytes(reinterpret_cast<char const*>(address->bytes.data()), address->bytes.size());
    return der(tag_address, address->is_v4() ? bytes.substr(12) : bytes);
}

ExtensionPointer alternative_names(std::vector<std::string> const& names) {
    std::string all;
    for (auto const& name : names) all += general_name(name);
    return extension(NID_subject_alt_name, false, der(tag_sequence, all));
}

NamePointer name_with(std::string_view common_name) {
    NamePointer made(X509_NAME_new());
    check(made != nullptr);
    check(X509_NAME_add_entry_by_NID(made.get(), NID_commonName, MBSTRING_UTF8, octets(common_name),
                                     static_cast<int>(common_name.size()), -1, 0) == 1);
    check(i2d_X509_NAME(made.get(), nullptr) > 0);   // OpenSSL caches the encoding at its first use, without a lock
    return made;
}

/// The first DNS name that fits into a CN. If there are only addresses, a text that no client takes for a DNS name:
/// name constraints apply to the CN if the SAN extension has no DNS name.
NamePointer subject_with(std::vector<std::string> const& names) {
    auto const fits = [](std::string const& name) { return name.size() <= common_name_max && !parse_ip(name); };
    auto const found = std::ranges::find_if(names, fits);
    return name_with(found == names.end() ? "minted by Garner" : *found);
}

bool is_root(X509* certificate) { return X509_check_issued(certificate, certificate) == X509_V_OK; }

std::shared_ptr<EVP_PKEY> make_signing_key() {
    std::shared_ptr<EVP_PKEY> key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
    check(key != nullptr);
    return key;
}

void set_time(ASN1_TIME* time, WallTime moment) {
    check(ASN1_TIME_set(time, static_cast<time_t>(unix_seconds(moment))) != nullptr);
}

}   // namespace

struct Authority::Issuer {
    NamePointer name;
    std::shared_ptr<EVP_PKEY> key;
    std::vector<std::shared_ptr<X509>> chain = {};   // sent after a leaf
    std::vector<ExtensionPointer> extensions = {};   // extensions that every leaf has

    void add_extensions(std::string_view key_identifier) {
        extensions.push_back(extension(NID_basic_constraints, true, no_ca));
        extensions.push_back(extension(NID_key_usage, true, digital_signature));
        extensions.push_back(extension(NID_ext_key_usage, false, server_auth));
        if (!key_identifier.empty())
            extensions.push_back(
                extension(NID_authority_key_identifier, false, der(tag_sequence, der(tag_key_identifier, key_identifier))));
    }

    static std::shared_ptr<Issuer const> of_ca(std::vector<std::shared_ptr<X509>> const& chain, std::shared_ptr<EVP_PKEY> key) {
        auto* const certificate = chain.at(0).get();
        auto made = std::make_shared<Issuer>();
        made->name.reset(X509_NAME_dup(X509_get_subject_name(certificate)));
        made->key = std::move(key);
        std::ranges::copy_if(chain, std::back_inserter(made->chain), [](auto const& one) { return !is_root(one.get()); });
        auto const* const identifier = X509_get0_subject_key_id(certificate);
        made->add_extensions(identifier ? std::string_view(reinterpret_cast<char const*>(ASN1_STRING_get0_data(identifier)),
                                                           static_cast<std::size_t>(ASN1_STRING_length(identifier)))
                                        : std::string_view());
        return made;
    }

    static std::shared_ptr<Issuer const> throwaway() {
        auto made = std::make_shared<Issuer>();
        made->name = name_with("Garner: the certificate of this site is not trusted");
        made->key = make_signing_key();
        made->add_extensions({});
        return made;
    }
};

Authority::Authority(std::vector<std::shared_ptr<X509>> chain, std::shared_ptr<EVP_PKEY> key,
                     std::shared_ptr<EVP_PKEY> (*make_key)())
    : chain_(std::move(chain)), constraints_(chain_), ca_(Issuer::of_ca(chain_, std::move(key))), make_key_(make_key) {
    check(RAND_bytes(secret_.data(), static_cast<int>(secret_.size())) == 1);
    for (auto const& one : chain_) end_ = std::min(end_, net::not_after(one.get()));
}

Authority::~Authority() = default;

Authority::Tools Authority::tools(Signer signer, WallTime now) {
    auto const today = std::chrono::floor<std::chrono::days>(now);
    MutexLock const lock(mutex_);
    if (!leaf_key_ || leaf_day_ != today) {
        leaf_key_ = make_key_();
        leaf_day_ = today;
    }
    if (signer == Signer::ca) return {leaf_key_, ca_};
    if (!throwaway_) throwaway_ = Issuer::throwaway();
    return {leaf_key_, throwaway_};
}

/// Unique, because clients reject two certificates of one issuer with the same number. It cannot be predicted, as the CA/Browser
/// Forum requires (7.1).
std::array<std::uint8_t, 16> Authority::next_serial() {
    auto const count = minted_++;
    std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest;
    unsigned size = 0;
    check(HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()), reinterpret_cast<unsigned char const*>(&count),
               sizeof count, digest.data(), &size) != nullptr);
    std::array<std::uint8_t, 16> serial;
    std::copy_n(digest.begin(), serial.size(), serial.begin());
    serial[0] = static_cast<std::uint8_t>((serial[0] & 0x3f) | 0x40);   // positive, and always of 16 bytes
    return serial;
}

std::shared_ptr<net::Certificate const> Authority::mint(Likeness const& likeness, Signer signer, WallTime now) {
    auto const [leaf_key, issuer] = tools(signer, now);
    std::shared_ptr<X509> const leaf(X509_new(), &X509_free);
    auto* const made = leaf.get();
    check(made && X509_set_version(made, X509_VERSION_3) == 1);
    auto const serial = next_serial();
    check(ASN1_STRING_set(X509_get_serialNumber(made), serial.data(), static_cast<int>(serial.size())) == 1);
    auto const subject = subject_with(likeness.names);
    check(X509_set_issuer_name(made, issuer->name.get()) == 1 && X509_set_subject_name(made, subject.get()) == 1);
    set_time(X509_getm_notBefore(made), likeness.begin);
    set_time(X509_getm_notAfter(made), signer == Signer::ca ? std::min(likeness.end, end_) : likeness.end);
    check(X509_set_pubkey(made, leaf_key.get()) == 1);
    for (auto const& one : issuer->extensions) check(X509_add_ext(made, one.get(), -1) == 1);
    if (!likeness.names.empty()) check(X509_add_ext(made, alternative_names(likeness.names).get(), -1) == 1);
    check(X509_sign(made, issuer->key.get(), EVP_sha256()) > 0);
    std::vector<std::shared_ptr<X509>> chain{leaf};
    chain.insert(chain.end(), issuer->chain.begin(), issuer->chain.end());
    return std::make_shared<net::Certificate const>(chain, leaf_key);
}

}   // namespace garner::bump
