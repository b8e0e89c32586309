#include "bump/ca_files.hpp"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "io/privileges.hpp"
#include "net/certificate_text.hpp"
#include "net/pem.hpp"
#include "util/bytes.hpp"

namespace garner::bump {
namespace {

using Chain = std::vector<std::shared_ptr<X509>>;

constexpr std::size_t key_file_max = 64 * KiB;
constexpr int rsa_bits_min = 2'048;   // browsers refuse shorter keys
constexpr char const* init_mend = "make a CA with: garner ca init DIR";

Fault cannot_read(std::string const& file) {
    return {std::string("cannot be read: ") + std::strerror(errno), "correct its path, or make the user that runs garner its owner",
            file};
}

Result<void> check_mode(int descriptor, std::string const& file) {
    struct stat status;
    if (::fstat(descriptor, &status) != 0) return cannot_read(file);
    if (!S_ISREG(status.st_mode)) return Fault{"is not a file", "name the file with the CA's private key", file};
    if ((status.st_mode & 077) == 0) return {};
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", status.st_mode & 07777u);
    return Fault{"other users may read or change the CA's private key (mode " + std::string(mode) + ")", "chmod 0600 " + file,
                 file};
}

Result<std::string> read_key_file(std::string const& file) {
    int const descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return cannot_read(file);
    auto checked = check_mode(descriptor, file);
    std::string text(key_file_max, '\0');
    std::size_t size = 0;
    for (ssize_t count = 1; checked && count > 0; size += static_cast<std::size_t>(std::max<ssize_t>(count, 0))) {
        count = ::read(descriptor, text.data() + size, key_file_max - size);
        if (count < 0) checked = cannot_read(file);
    }
    ::close(descriptor);
    if (!checked) return checked.fault();
    if (size == key_file_max) return Fault{"is longer than 64 KiB", "name a PEM file with the CA's private key", file};
    text.resize(size);
    return text;
}

/// Empty if certificates of clients may be signed with the key, else the reason.
std::string unusable(EVP_PKEY* key) {
    std::array<char, 64> curve{};
    if (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA) {
        int const bits = EVP_PKEY_get_bits(key);
        return bits >= rsa_bits_min ? "" : "has an RSA key of " + std::to_string(bits) + " bits; clients need at least 2048";
    }
    if (EVP_PKEY_get_base_id(key) != EVP_PKEY_EC) return "has a key that is neither RSA nor EC";
    EVP_PKEY_get_group_name(key, curve.data(), curve.size(), nullptr);
    for (std::string_view const known : {"prime256v1", "secp384r1", "secp521r1"})
        if (known == curve.data()) return "";
    return "has an EC key on the curve " + std::string(curve.data()) + ", which clients do not support";
}

std::string numbered(Chain const& chain, std::size_t index) {
    return "certificate " + std::to_string(index + 1) + " (" + net::subject_of(chain[index].get()) + ")";
}

bool has_issued(X509* issuer, X509* subject) {
    return X509_check_issued(issuer, subject) == X509_V_OK && X509_verify(subject, X509_get0_pubkey(issuer)) == 1;
}

Result<void> check_chain(Chain const& chain, std::string const& file) {
    for (std::size_t i = 0; i < chain.size(); ++i) {
        bool const may_sign =
            (X509_get_key_usage(chain[i].get()) & KU_KEY_CERT_SIGN) != 0;   // all bits if it has no such extension
        if (X509_check_ca(chain[i].get()) != 1 || !may_sign)
            return Fault{numbered(chain, i) + " may not sign certificates (it is no CA)", init_mend, file};
        if (auto const reason = unusable(X509_get0_pubkey(chain[i].get())); !reason.empty())
            return Fault{numbered(chain, i) + " " + reason, init_mend, file};
        bool const is_broken = i > 0 && !has_issued(chain[i].get(), chain[i - 1].get());
        ERR_clear_error();
        if (is_broken)
            return Fault{"broken chain: " + numbered(chain, i) + " did not issue " + numbered(chain, i - 1),
                         "write the signing certificate first, then each issuer, the root last", file};
    }
    return {};
}

}   // namespace

Result<std::vector<std::shared_ptr<X509>>> read_ca_chain(std::string const& file) {
    auto const text = net::read_pem_file(file);
    if (!text) return text.fault();
    auto chain = net::certificates_in(*text, file);
    if (!chain) return chain.fault();
    if (auto const good = check_chain(*chain, file); !good) return good.fault();
    return chain;
}

Result<Ca> read_ca(std::string const& chain_file, std::string const& key_file) {
    auto chain = read_ca_chain(chain_file);
    if (!chain) return chain.fault();
    io::forbid_core_dumps();
    auto const text = read_key_file(key_file);
    if (!text) return text.fault();
    auto key = net::private_key_in(*text, key_file);
    if (!key) return key.fault();
    bool const fits = X509_check_private_key(chain->front().get(), key->get()) == 1;
    ERR_clear_error();
    if (!fits)
        return Fault{"is not the key of the first certificate (" + net::subject_of(chain->front().get()) + ") of " + chain_file,
                     "name the key that belongs to it", key_file};
    return Ca{*std::move(chain), *std::move(key)};
}

X509* root_of(std::vector<std::shared_ptr<X509>> const& chain) {
    auto* const last = chain.empty() ? nullptr : chain.back().get();
    return last && X509_check_issued(last, last) == X509_V_OK ? last : nullptr;
}

std::vector<Fault> expiry_notices(std::vector<std::shared_ptr<X509>> const& chain, std::string const& file, WallTime now) {
    std::vector<Fault> notices;
    for (std::size_t i = 0; i < chain.size(); ++i)
        if (auto const notice = net::expiry_notice(net::not_after(chain[i].get()), now))
            notices.push_back({numbered(chain, i) + " " + *notice, init_mend, file});
    return notices;
}

}   // namespace garner::bump
