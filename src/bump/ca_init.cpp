#include "bump/ca_init.hpp"

#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "bump/ca_files.hpp"
#include "bump/ca_text.hpp"
#include "bump/name_constraints.hpp"
#include "bump/openssl.hpp"
#include "io/privileges.hpp"
#include "util/check.hpp"

namespace garner::bump {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::days root_time{3'652}, signing_time{730}, early_begin{1};   // for clients with slow clocks

struct CertificateAndKey {
    std::shared_ptr<X509> certificate;
    std::shared_ptr<EVP_PKEY> key;
};

struct ExtensionText {
    int nid;
    std::string value;   // in OpenSSL's syntax
};

std::string machine_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()).substr(0, 30) : "unknown";
}

void set_random_serial(X509* certificate) {
    std::array<unsigned char, 16> serial;
    check(RAND_bytes(serial.data(), static_cast<int>(serial.size())) == 1);
    serial[0] = static_cast<unsigned char>((serial[0] & 0x3f) | 0x40);   // positive, and always of 16 bytes
    check(ASN1_STRING_set(X509_get_serialNumber(certificate), serial.data(), static_cast<int>(serial.size())) == 1);
}

void add_extension(X509* certificate, X509* issuer, ExtensionText const& text) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    ExtensionPointer const made(X509V3_EXT_nconf_nid(nullptr, &context, text.nid, text.value.c_str()));
    check(made && X509_add_ext(certificate, made.get(), -1) == 1);
}

void set_subject(X509* certificate, std::string const& common_name) {
    auto* const subject = X509_get_subject_name(certificate);
    for (auto const& [nid, value] :
         {std::pair(NID_organizationName, std::string("Garner")), std::pair(NID_commonName, common_name)})
        check(X509_NAME_add_entry_by_NID(subject, nid, MBSTRING_UTF8, reinterpret_cast<unsigned char const*>(value.data()),
                                         static_cast<int>(value.size()), -1, 0) == 1);
}

/// Signed by `issuer`, or by itself.
CertificateAndKey make(std::string const& common_name, std::chrono::days time, std::vector<ExtensionText> const& extensions,
                       CertificateAndKey const* issuer, WallTime now) {
    CertificateAndKey made{{X509_new(), &X509_free}, {EVP_EC_gen("P-256"), &EVP_PKEY_free}};
    auto* const certificate = made.certificate.get();
    check(certificate && made.key && X509_set_version(certificate, X509_VERSION_3) == 1);
    auto const& signer = issuer ? *issuer : made;
    set_random_serial(certificate);
    set_subject(certificate, common_name);
    check(X509_set_issuer_name(certificate, X509_get_subject_name(signer.certificate.get())) == 1);
    ASN1_TIME_set(X509_getm_notBefore(certificate), static_cast<time_t>(unix_seconds(now - early_begin)));
    ASN1_TIME_set(X509_getm_notAfter(certificate), static_cast<time_t>(unix_seconds(now + time)));
    check(X509_set_pubkey(certificate, made.key.get()) == 1);
    for (auto const& extension : extensions) add_extension(certificate, signer.certificate.get(), extension);
    check(X509_sign(certificate, signer.key.get(), EVP_sha256()) > 0);
    return made;
}

CertificateAndKey make_root(WallTime now) {
    return make("Garner root CA of " + machine_name(), root_time,
                {{NID_basic_constraints, "critical,CA:TRUE,pathlen:1"},
                 {NID_key_usage, "critical,keyCertSign,cRLSign"},
                 {NID_subject_key_identifier, "hash"}},
                nullptr, now);
}

CertificateAndKey make_signing(CertificateAndKey const& root, std::vector<http::HostPattern> const& hosts, WallTime now) {
    std::vector<ExtensionText> extensions{{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                                          {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                          {NID_ext_key_usage, "serverAuth"},
                                          {NID_subject_key_identifier, "hash"},
                                          {NID_authority_key_identifier, "keyid:always"}};
    if (!hosts.empty()) extensions.push_back({NID_name_constraints, constraints_for(hosts)});
    return make("Garner interception CA of " + machine_name(), signing_time, extensions, &root, now);
}

// ---- files ----

std::string key_pem_of(EVP_PKEY* key) {
    BioPointer const bio(BIO_new(BIO_s_mem()));
    check(bio && PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
    char* data = nullptr;
    auto const size = BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

Fault cannot_write(std::string const& file, int error) {
    if (error == EEXIST) return {"exists and is not overwritten", "name another directory, or move this file away", file};
    return {std::string("cannot be written: ") + std::strerror(error), "name a directory that you may write to", file};
}

struct NewFile {
    std::string path;
    std::string content;
    mode_t mode = 0600;
};

Result<void> write_new(NewFile const& file) {
    int const descriptor = ::open(file.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file.mode);
    if (descriptor < 0) return cannot_write(file.path, errno);
    bool const written =
        ::write(descriptor, file.content.data(), file.content.size()) == static_cast<ssize_t>(file.content.size()) &&
        ::fsync(descriptor) == 0;
    int const error = written ? 0 : errno;
    ::close(descriptor);
    if (written) return {};
    ::unlink(file.path.c_str());
    return cannot_write(file.path, error);
}

/// Writes all of them or, if one cannot be written, none.
Result<void> write_all(std::vector<NewFile> const& files) {
    for (std::size_t i = 0; i < files.size(); ++i) {
        auto const written = write_new(files[i]);
        if (written) continue;
        for (std::size_t before = 0; before < i; ++before) ::unlink(files[before].path.c_str());
        return written;
    }
    return {};
}

bool exists(std::string const& path) {
    std::error_code error;
    return fs::exists(fs::symlink_status(path, error));
}

Result<CertificateAndKey> root_in(CaPaths const& paths) {
    auto ca = read_ca(paths.root, paths.root_key);
    if (!ca) return ca.fault();
    return CertificateAndKey{ca->chain.front(), ca->key};
}

}   // namespace

CaPaths::CaPaths(std::string const& directory)
    : root(fs::path(directory) / "root.pem"), root_key(fs::path(directory) / "root.key"), chain(fs::path(directory) / "chain.pem"),
      key(fs::path(directory) / "ca.key") {}

Result<void> init_ca(std::string const& directory, std::vector<http::HostPattern> const& hosts, WallTime now) {
    CaPaths const paths(directory);
    for (auto const* path : {&paths.chain, &paths.key})
        if (exists(*path)) return cannot_write(*path, EEXIST);
    io::forbid_core_dumps();   // the keys are in memory
    if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) return cannot_write(directory, errno);
    std::vector<NewFile> files;
    bool const has_root = exists(paths.root) || exists(paths.root_key);
    auto root = has_root ? root_in(paths) : Result<CertificateAndKey>(make_root(now));
    if (!root) return root.fault();
    auto const root_pem = pem_of(root->certificate.get());
    if (!has_root) {
        files.push_back({paths.root_key, key_pem_of(root->key.get())});
        files.push_back({paths.root, root_pem, 0644});
    }
    auto const signing = make_signing(*root, hosts, now);
    files.push_back({paths.key, key_pem_of(signing.key.get())});
    files.push_back({paths.chain, pem_of(signing.certificate.get()) + root_pem, 0644});
    return write_all(files);
}

}   // namespace garner::bump
