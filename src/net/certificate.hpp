// A certificate with its chain and private key, and the texts that describe certificates.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/options.hpp"
#include "util/clock.hpp"
#include "util/result.hpp"

typedef struct evp_pkey_st EVP_PKEY;
typedef struct ssl_st SSL;
typedef struct x509_st X509;
struct stack_st_X509;

namespace garner::net {

/// A leaf certificate, the intermediates sent with it, and the leaf's private key. Immutable and thread-safe.
class Certificate {
public:
    ~Certificate();
    Certificate(Certificate const&) = delete;
    Certificate& operator=(Certificate const&) = delete;

    /// DNS names and IP addresses of the SAN extension in lower case; the CN if it has none of them (RFC 6125 6.4.4).
    std::vector<std::string> const& names() const { return names_; }
    /// Subject as OpenSSL prints it on one line: "O = Example, CN = proxy.example".
    std::string const& subject() const { return subject_; }
    WallTime not_after() const { return not_after_; }
    /// Compares the name (in any case, without the root's dot) with names(). "*.example.org" matches exactly one label in
    /// place of the asterisk (RFC 6125 6.4.3).
    bool matches(std::string_view server_name) const;
    /// Makes this the certificate of one TLS session, before its ServerHello or ClientCertificate is sent. Returns 1, or 0
    /// with OpenSSL's error queue filled.
    int use(SSL*) const;

private:
    friend Result<std::shared_ptr<Certificate const>> read_certificate(CertificateFiles const&);
    Certificate() = default;
    X509* leaf_ = nullptr;
    stack_st_X509* intermediates_ = nullptr;
    EVP_PKEY* key_ = nullptr;
    std::vector<std::string> names_;
    std::string subject_;
    WallTime not_after_;
};

/// Reads and checks both files. Fault::where is the path of the faulty file. Validity dates are not checked.
Result<std::shared_ptr<Certificate const>> read_certificate(CertificateFiles const&);

/// Names of a client: DNS names (lower case), URIs and e-mail addresses of the SAN extension; the CN if it has none of them.
/// May be empty.
std::vector<std::string> identity_names(X509*);

/// The end of the certificate's validity period.
WallTime not_after(X509*);

inline constexpr std::chrono::days expiry_notice_time{14};

/// "expired on 2026-11-22" or "expires in 9 days, on 2026-12-04", within expiry_notice_time before the end; else nothing.
std::optional<std::string> expiry_notice(WallTime not_after, WallTime now);

/// A notice if every user of the machine may read or write the private key file; Fault::where is its path.
std::optional<Fault> key_file_notice(std::string const& file);

}   // namespace garner::net
