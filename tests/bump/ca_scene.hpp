// A certificate authority in a folder of its own, and the verdict of openssl on the certificates that it signs.
#pragma once
#include <openssl/ssl.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bump/authority.hpp"
#include "bump/ca_files.hpp"
#include "bump/ca_init.hpp"
#include "bump/openssl.hpp"
#include "support/certificate.hpp"
#include "support/child.hpp"
#include "support/issued_certificate.hpp"

namespace garner::bump {

struct CaScene {
    test::TempDir folder;
    std::string directory = folder.path("ca");
    CaPaths paths{directory};

    Result<void> init(std::vector<std::string> const& hosts = {}) const {
        std::vector<http::HostPattern> patterns;
        for (auto const& host : hosts) patterns.push_back(*http::HostPattern::parse(host));
        return init_ca(directory, patterns, wall_now());
    }
    std::unique_ptr<Authority> authority() const {
        auto ca = read_ca(paths.chain, paths.key);
        if (!ca) throw std::runtime_error(ca.fault().text());
        return std::make_unique<Authority>(ca->chain, ca->key);
    }
    /// "OK", or the reason for which openssl refuses the certificate for this host. Trusts the root alone.
    std::string verdict(X509* leaf, std::string const& host) const {
        auto const file = folder.write("leaf.pem", test::to_pem(leaf));
        auto const kind = parse_ip(host) ? "-verify_ip" : "-verify_hostname";
        auto const ran = test::run({"openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-no-CApath", "-no-CAstore",
                                    "-CAfile", paths.root, "-untrusted", paths.chain, kind, host, file});
        if (ran.code == 0) return "OK";
        auto const reason = ran.errors.find("lookup: ");
        return reason == npos ? ran.errors : ran.errors.substr(reason + 8, ran.errors.find('\n', reason) - reason - 8);
    }
    static constexpr auto npos = std::string::npos;
};

/// The certificate that a TLS server shows with it.
inline std::shared_ptr<X509> leaf_of(net::Certificate const& certificate) {
    std::unique_ptr<SSL_CTX, Release<SSL_CTX_free>> const context(SSL_CTX_new(TLS_server_method()));
    std::unique_ptr<SSL, Release<SSL_free>> const ssl(SSL_new(context.get()));
    if (certificate.use(ssl.get()) != 1) return nullptr;
    auto* const leaf = SSL_get_certificate(ssl.get());
    X509_up_ref(leaf);
    return {leaf, &X509_free};
}

inline Likeness likeness_for(std::vector<std::string> names, WallTime now = wall_now()) {
    return {std::move(names), now - std::chrono::days(1), now + std::chrono::days(20)};
}

}   // namespace garner::bump
