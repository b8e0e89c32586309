// A directory (OpenLDAP's slapd) on loopback.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "support/child.hpp"

namespace garner::test {

/// Suffix dc=uni; cn=admin,dc=uni with the password "admin". `ldif` has the entries below it. Throws Trouble if it does not start.
class Slapd {
public:
    static constexpr char const* admin = "cn=admin,dc=uni";
    explicit Slapd(std::string const& ldif);
    ~Slapd();

    std::string url() const { return "ldap://127.0.0.1:" + std::to_string(port_); }
    /// libldap compares the name of this machine with the certificate if the URL has "localhost".
    std::string tls_url() const { return "ldaps://127.0.0.1:" + std::to_string(tls_port_); }
    /// Its certificate, which is its own CA.
    std::string ca_file() const { return dir_.path("cert.pem"); }
    std::string write(std::string const& name, std::string const& text) const { return dir_.write(name, text); }

    /// Again on the same ports after stop().
    void start();
    void stop();
    void signal(int number) { child_->signal(number); }
    /// Simple binds of this DN since the last start.
    std::size_t binds(std::string const& dn) const;

private:
    TempDir dir_;
    std::uint16_t port_, tls_port_;
    std::unique_ptr<Child> child_;
};

}   // namespace garner::test
