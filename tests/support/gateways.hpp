// Third-party servers, configured to forward each request they accept, so that the test sees how they parse the input.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/child.hpp"

namespace garner::test {

/// A server on a free loopback port that forwards each request to another port, its body complete and with Content-Length. All its
/// responses carry X-Gateway: its own, including refusals, and forwarded ones. Nothing is cached.
class Gateway {
public:
    static std::unique_ptr<Gateway> nginx(std::uint16_t onward);
    static std::unique_ptr<Gateway> apache(std::uint16_t onward);
    static std::unique_ptr<Gateway> node(std::uint16_t onward);
    /// These two send no X-Gateway.
    static std::unique_ptr<Gateway> squid(std::uint16_t onward);
    static std::unique_ptr<Gateway> haproxy(std::uint16_t onward);

    std::string authority() const { return "127.0.0.1:" + std::to_string(port_); }
    std::uint16_t port() const { return port_; }

private:
    using Command = std::function<std::vector<std::string>(std::string const& configuration, TempDir const&)>;
    Gateway(std::string const& configuration, std::uint16_t onward, Command const& command);

    TempDir dir_;
    std::uint16_t port_;
    std::unique_ptr<Child> child_;
};

}   // namespace garner::test
