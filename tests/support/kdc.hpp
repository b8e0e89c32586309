// A Kerberos key distribution centre (MIT) on loopback, and its clients.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/child.hpp"

namespace garner::test {

/// Realm UNI.EXAMPLE with all files in a temporary folder. Throws Trouble if it does not start.
class Kdc {
public:
    static constexpr char const* realm = "UNI.EXAMPLE";
    Kdc();
    ~Kdc();

    void add_user(std::string const& user, std::string const& password) const;
    /// Adds a service such as "HTTP/localhost" and writes its key. Returns the path of the keytab.
    std::string add_service(std::string const& principal) const;
    /// Logs the user in, with a ticket of `lifetime` ("10m"). Returns the environment of the user: KRB5_CONFIG and KRB5CCNAME.
    std::vector<std::string> log_in(std::string const& user, std::string const& password,
                                    std::string const& lifetime = "10m") const;
    /// KRB5_CONFIG and KRB5RCACHENAME, for servers.
    std::vector<std::string> environment() const;
    /// Applies to clients and servers that read the configuration afterwards.
    void set_clock_skew(int seconds) const;
    std::string path(std::string const& name) const { return dir_.path(name); }

private:
    void admin(std::string const& command) const;
    TempDir dir_;
    std::uint16_t port_;
    std::unique_ptr<Child> child_;
};

}   // namespace garner::test
