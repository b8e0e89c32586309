// Decides for each tunnel: splice, bump, terminate or refuse. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bump/pinned.hpp"
#include "bump/rules.hpp"
#include "net/client_hello.hpp"

namespace garner::bump {

/// The time for a ClientHello. In protocols in which the server speaks first, the client sends none.
inline constexpr seconds hello_wait{3};

/// The decision about a tunnel and its reason. The views live as long as the Rules.
struct Decision {
    enum class Cause : std::uint8_t {
        rule,            // the rule of `verdict`, or the absence of a match
        pinned,          // clients refused minted certificates of this host
        not_permitted,   // the CA may not sign for this host (name constraints, RFC 5280 4.2.1.10)
        not_tls,         // this and the following reasons: from the client's first bytes
        malformed,
        unfinished,        // no complete ClientHello came within hello_wait
        left,              // the client closed the tunnel before
        name_hidden,       // the ClientHello has another name than the CONNECT request, and ECH
        name_differs,      // it has another name
        no_name,           // it has no name, but the CONNECT request has
        name_terminated,   // a rule terminates tunnels to its name
        no_http            // it offers only protocols that are not HTTP
    };
    Action action = Action::splice;
    Cause cause = Cause::rule;
    Verdict verdict = {};           // decision of the rules
    Otherwise otherwise = {};       // the treatment if the client's first bytes do not allow a bump
    std::optional<Pin> pin = {};    // pinned
    char const* fault = "";         // malformed: the reason, a literal
    std::string server_name = {};   // of the ClientHello; empty: none
    bool has_hello = false;         // the client's first bytes were considered

    /// True while the action also depends on the client's first bytes.
    bool needs_hello() const { return action == Action::bump && !has_hello; }
    /// One line for logs and `garner explain`: "spliced: bump.rules[0]: splice {"host":".example.com"}".
    std::string text() const;
    /// Its last part, without the action: "the ClientHello names no host".
    std::string reason() const;
};

/// The facts about a host that are known before the tunnel is open.
struct HostState {
    std::optional<Pin> pin = {};   // Pins::find
    bool permitted = true;         // the CA's name constraints permit the host
};

/// Decides by the CONNECT request. If the decision needs_hello(), answer 200, read the client's first bytes and pass them to
/// decide_by_hello(). Otherwise it is final, and the tunnel needs no look at its bytes.
Decision decide(Rules const&, http::RuleRequest const&, HostState const&);

/// Completes a decision that needs_hello(). `reading` must not need more bytes.
Decision decide_by_hello(Rules const&, http::RuleRequest const&, Decision const& before, net::ClientHelloReading const& reading);

/// Completes a decision that needs_hello() without a ClientHello. `cause`: unfinished or left.
Decision decide_without_hello(Decision before, Decision::Cause cause);

/// True if a ClientHello with this name (lower case; empty: none) is for the host of the CONNECT request. A client sends no
/// name for an IP address (RFC 6066 3).
bool is_same_host(std::string_view connect_host, std::string_view server_name);

}   // namespace garner::bump
