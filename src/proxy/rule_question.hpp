// Questions to the access rules without a running proxy: for tests in the configuration and the `rules` commands.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/access_rules.hpp"
#include "proxy/client.hpp"
#include "proxy/options.hpp"
#include "proxy/target.hpp"

namespace garner::auth {
class Groups;
}

namespace garner::proxy {

struct RuleQuestion {
    WallTime at{};
    IpAddress source = IpAddress::v4(127, 0, 0, 1);
    std::uint16_t listener = 0;                              // a port of `listen`; 0: the first forward proxy's
    std::optional<http::Identity> identity = std::nullopt;   // nothing: the client has not logged in
    std::string method = {};                                 // empty: CONNECT for https, as browsers send it, else GET
    std::string url = {};                                    // absolute, or "host:port" of CONNECT
    std::optional<IpAddress> destination =
        std::nullopt;                       // of the connection; nothing: that of the host, if it is an address or localhost
    std::vector<std::string> fields = {};   // "User-Agent: curl/7.88"
};

/// "allow", "deny", "login", "undecided".
std::string_view name_of(http::Decision::Verdict);

/// Asks the rules as a request does. Reuses its memory: one inquiry for many questions. The options and groups must outlive it.
/// Not thread-safe.
class RuleInquiry {
public:
    /// A user is also a member of those `groups` that list its name; nullptr: of none.
    RuleInquiry(Options const&, http::OwnAddresses own, auth::Groups const* groups = nullptr);
    RuleInquiry(RuleInquiry const&) = delete;

    /// Copies the question. Returns why the proxy would reject the request for its form; empty if it would not. facts() are
    /// valid until the next question.
    std::string ask(RuleQuestion const&);

    // After ask() without a fault:
    /// The complete decision, with blocked destinations if the address is known. needs_destination: it is not, and the rules
    /// depend on it. The proxy may still refuse what is allowed without a known address.
    http::Decision decide() const;
    http::RuleRequest const& facts() const { return facts_; }
    /// The proxy answers it by a page of its own: of refusals, or an internal path at the port of a listener.
    bool is_own_page() const;
    std::optional<IpAddress> const& destination() const { return destination_; }

private:
    FixedOrigin const* choose_listener(std::uint16_t port);
    std::string read_fields();
    std::optional<IpAddress> destination_without_dns() const;

    Options const& options_;
    http::OwnAddresses own_;
    auth::Groups const* groups_;
    std::vector<std::unique_ptr<FixedOrigin>> origins_;   // of each listener; nullptr: a forward proxy
    RuleQuestion question_;
    Client client_;
    std::string target_text_;
    http::RequestHead head_;
    Target target_;
    http::RuleRequest facts_;
    std::optional<IpAddress> destination_;
};

}   // namespace garner::proxy
