#include "net/pem.hpp"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "util/check.hpp"

namespace garner::net {
namespace {

using MemoryBio = std::unique_ptr<BIO, decltype(&BIO_free_all)>;

MemoryBio bio_of(std::string const& text) {
    MemoryBio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free_all);
    check(bio != nullptr);
    return bio;
}

bool is_end_of_pem() {
    auto const code = ERR_peek_last_error();
    return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

Fault unreadable(std::string const& file, int error) {
    return {std::string("cannot be read: ") + std::strerror(error),
            "correct its path, or give the user that runs garner read access", file};
}

}   // namespace

Result<std::string> read_pem_file(std::string const& file) {
    int const descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return unreadable(file, errno);
    std::string text;
    ssize_t count = 0;
    do {
        auto const size = text.size();
        text.resize(size + 16 * KiB);
        count = ::read(descriptor, text.data() + size, 16 * KiB);
        text.resize(size + static_cast<std::size_t>(count > 0 ? count : 0));
    } while (count > 0 && text.size() <= pem_file_max);
    int const error = errno;
    ::close(descriptor);
    if (count < 0) return unreadable(file, error);
    if (text.size() > pem_file_max) return Fault{"larger than 4 MiB", "name a PEM file", file};
    return text;
}

Result<std::vector<std::shared_ptr<X509>>> certificates_in(std::string const& pem, std::string const& file) {
    auto const bio = bio_of(pem);
    std::vector<std::shared_ptr<X509>> certificates;
    ERR_clear_error();
    while (auto* read = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) certificates.emplace_back(read, &X509_free);
    bool const at_end = is_end_of_pem();
    ERR_clear_error();
    if (!at_end)
        return Fault{"certificate " + std::to_string(certificates.size() + 1) + " is damaged",
                     "copy the file again from its source", file};
    if (certificates.empty())
        return Fault{"no certificate in PEM format",
                     "name a file with a line -----BEGIN CERTIFICATE-----; convert DER with: openssl x509 -in " + file + " -out " +
                         file + ".pem",
                     file};
    return certificates;
}

Result<std::shared_ptr<EVP_PKEY>> private_key_in(std::string const& pem, std::string const& file) {
    auto const bio = bio_of(pem);
    bool is_encrypted = false;
    auto const refuse = [](char*, int, int, void* asked) {
        *static_cast<bool*>(asked) = true;
        return -1;
    };
    ERR_clear_error();
    std::shared_ptr<EVP_PKEY> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, refuse, &is_encrypted), &EVP_PKEY_free);
    ERR_clear_error();
    if (key) return key;
    if (is_encrypted)
        return Fault{"the private key is encrypted", "decrypt it: openssl pkey -in " + file + " -out " + file + ".decrypted", file};
    if (pem.find("PRIVATE KEY-----") == pem.npos)
        return Fault{"no private key in PEM format", "name a file with a line -----BEGIN PRIVATE KEY-----", file};
    return Fault{"the private key is damaged or of an unknown type", "copy the file again from its source", file};
}

}   // namespace garner::net
