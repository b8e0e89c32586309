// A process that speaks the takeover protocol by a script, with code of its own: the new one, or the old one.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/wire.hpp"

namespace garner::test {

class Partner {
public:
    /// Connects to a process's control socket; throws Trouble.
    explicit Partner(std::string const& path);
    explicit Partner(int descriptor) : descriptor_(descriptor) {}
    Partner(Partner&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)), received_(std::exchange(other.received_, {})) {}
    ~Partner() { end(); }

    /// Closes everything, as a kill does.
    void end();

    bool send(nlohmann::json const& message, std::vector<int> const& descriptors = {});
    /// The next message; null at the end of the conversation, and after `limit`.
    nlohmann::json receive(Millis limit = patience);
    /// Receives messages up to one with this `do`; null if it does not come.
    nlohmann::json until(std::string const& what, Millis limit = patience);
    /// The descriptors that came with messages.
    std::vector<int> const& received() const { return received_; }

    static nlohmann::json hello(unsigned least = 1, unsigned most = 1);
    static nlohmann::json welcome();

private:
    int descriptor_;
    std::vector<int> received_;
};

/// The old side's socket.
class PartnerSocket {
public:
    explicit PartnerSocket(std::string const& path);
    ~PartnerSocket();
    Partner accept() const;
    int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

}   // namespace garner::test
