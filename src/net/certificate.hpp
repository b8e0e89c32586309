// A certificate with its chain and private key.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/certificate_text.hpp"
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
    /// `chain`: the leaf, then its intermediates in the order of issue. Checks nothing.
    Certificate(std::vector<std::shared_ptr<X509>> const& chain, std::shared_ptr<EVP_PKEY> key);
    Certificate(Certificate const&) = delete;
    Certificate& operator=(Certificate const&) = delete;

    /// Lower case: see server_names().
    std::vector<std::string> const& names() const { return names_; }
    /// See subject_of().
    std::string const& subject() const { return subject_; }
    /// The end of the leaf's validity period.
    WallTime not_after() const { return not_after_; }
    /// Differs if the leaf or an intermediate does.
    std::string fingerprint() const;
    /// Compares the name (in any case, without the root's dot) with names(). "*.example.org" matches exactly one label in
    /// place of the asterisk (RFC 6125 6.4.3).
    bool matches(std::string_view server_name) const;
    /// Makes this the certificate of one TLS session, before the session sends its own certificate. Returns 1, or 0 with
    /// OpenSSL's error queue filled.
    int use(SSL*) const;

private:
    std::shared_ptr<X509> leaf_;
    std::shared_ptr<stack_st_X509> intermediates_;   // never null: OpenSSL would then build a chain in each handshake
    std::shared_ptr<EVP_PKEY> key_;
    std::vector<std::string> names_;
    std::string subject_;
    WallTime not_after_;
};

/// "*.example.org" for "www.example.org"; empty if the name has no dot after its first label.
std::string wildcard_for(std::string_view server_name);

/// Reads and checks both files. Fault::where is the path of the faulty file. Validity dates are not checked.
Result<std::shared_ptr<Certificate const>> read_certificate(CertificateFiles const&);

/// A notice if every user of the machine may read or write the private key file; Fault::where is its path.
std::optional<Fault> key_file_notice(std::string const& file);

}   // namespace garner::net
