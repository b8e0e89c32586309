// Access rules: the requests that are served, and those that are denied. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/matcher.hpp"
#include "http/rule_request.hpp"
#include "util/ip.hpp"

namespace garner::http {

class AccessIndex;

struct AccessRule {
    bool allow = false;
    Matcher match;
    std::string place;           // "access[2]: deny"
    std::string matchers = {};   // as configured, {"host":".example.com"}: for logs and explanations, not for clients
    std::string name = {};       // given by the operator, may be empty
    std::string because = {};    // the operator's reason, shown to refused clients; may be empty

    /// In doubt, a deny rule matches and an allow rule does not.
    Matcher::Doubt doubt() const { return allow ? Matcher::Doubt::fails : Matcher::Doubt::matches; }
    Matcher::Result matches(RuleRequest const& request, IpAddress const* destination) const {
        return match.matches(request, destination, doubt());
    }
    /// True if this rule, when it comes first, leaves the other one no request. False in doubt.
    bool covers(AccessRule const& other) const;
    /// "access[2]: deny", or with a name "exams (access[2]: deny)", the form of logs and error pages.
    std::string label() const;
};

/// A rule that decides about no request.
struct DeadRule {
    static constexpr std::size_t none = SIZE_MAX;
    std::size_t rule = 0;    // its index
    std::size_t by = none;   // the first earlier rule that leaves it no request; none: the rule itself matches no request
    std::string why = {};    // "access[0] matches every request"
};
/// The dead rules among the first 2,000, in their order. The comparison takes the square of their number.
std::vector<DeadRule> find_dead_rules(std::span<AccessRule const>);

/// The rules' decision, and the rule that decided. The views live as long as the AccessRules.
struct Decision {
    enum class Verdict : std::uint8_t {
        allow,
        deny,
        needs_destination,   // resolve the name, then ask again with the address
        needs_identity       // ask the client to log in, then ask again with its identity
    };
    Verdict verdict = Verdict::deny;
    // Set when an allow rule opens a destination that is blocked by default. A `host` that is a name opens nothing: the owner
    // of the name chooses its address in the DNS.
    bool opens_address = false;       // the rule names `destination`, or the address itself as `host`; localhost on loopback
    bool opens_port = false;          // the rule names `port`
    std::string_view rule = {};       // the place of the deciding rule, or "default: clients on loopback only"
    std::string_view matchers = {};   // matchers, name and reason of the deciding rule
    std::string_view name = {};
    std::string_view because = {};
    char const* closed = nullptr;   // deny although the rule allows: the default that blocks it, a literal
    bool closed_port = false;       // `closed` is about the port, not the address
    static constexpr std::uint32_t no_rule = UINT32_MAX;
    std::uint32_t index = no_rule;   // the deciding rule's index; no_rule: a default decides

    bool allowed() const { return verdict == Verdict::allow; }
    bool denied() const { return verdict == Verdict::deny; }
    /// One line for the log: "CONNECT to a port other than 443 (access[0]: allow all)".
    std::string text() const;
    /// One line for the client, without the rule's matchers, which show networks and names: "CONNECT to a port other than 443
    /// (access[0]: allow)"; a rule with a name: "exams (access[2]: deny)".
    std::string text_for_client() const;
    /// "access[0]: allow all", "exams (access[2]: deny) {"source":"10.4.0.0/16"}"
    std::string whole_rule() const;
    /// "access[0]"; empty if no rule decides.
    std::string_view place() const;
};

/// The addresses of this machine and its listening endpoints.
struct OwnAddresses {
    std::vector<IpAddress> interfaces;   // blocked unless a rule opens them
    std::vector<IpEndpoint> listening;   // never reached through the proxy; "::" and 0.0.0.0: every own address
};

/// Rules in order; the first match decides. Without rules or a match, clients on loopback and clients of accelerators are
/// allowed, all others denied. Immutable; deciding allocates nothing.
class AccessRules {
public:
    AccessRules() = default;
    explicit AccessRules(std::vector<AccessRule> rules);

    /// Decides before the origin's address is known (`destination` empty) or with it. Does not check the blocked
    /// destinations. Without a destination an allow also applies to a cache hit. The result is also needs_destination if
    /// the URL may be stored only because a rule opened a blocked destination to other clients. needs_identity: the first rule
    /// that may match needs the user, and all rules before it are decided.
    Decision decide(RuleRequest const&, std::optional<IpAddress> destination) const;

    /// The complete decision on a connection to this address: rules, own listening endpoints, blocked destinations.
    /// `destination` must be the address that is connected to. Never needs_destination. `private_closed`: private networks
    /// are blocked, too.
    Decision permits(RuleRequest const&, IpAddress const& destination, OwnAddresses const&, bool private_closed = false) const;

    std::span<AccessRule const> rules() const { return rules_; }
    /// Found once, because that takes time.
    std::span<DeadRule const> dead() const { return dead_; }
    bool empty() const { return rules_.empty(); }
    /// True if there are rules, and they judge all requests alike that a client (an address and a listener) sends for one origin.
    /// Only a CONNECT differs.
    bool are_about_origins() const { return about_origins_; }

private:
    Decision first_match(RuleRequest const&, IpAddress const* destination) const;
    Decision by_rule(std::size_t index, RuleRequest const&, IpAddress const* destination) const;
    bool opened_to_others(RuleRequest const&) const;

    std::vector<AccessRule> rules_;
    std::vector<DeadRule> dead_;
    std::shared_ptr<AccessIndex const> index_;   // nullptr: few rules
    bool about_origins_ = false;
    /// Blocked destinations that an allow rule opens for every request.
    struct Opens {
        bool address = false;
        bool port = false;
    };
    std::vector<Opens> opens_;           // by rule
    std::vector<std::size_t> opening_;   // the rules that may open addresses
};

/// Why this origin address is blocked by default, a literal, or nullptr when it is not: 0/8, 127/8, 169.254/16, "::", ::1,
/// fe80::/10 and `own`; also the v4-mapped, v4-compatible, NAT64 (64:ff9b::/96, RFC 6052; 64:ff9b:1::/48, RFC 8215), 6to4
/// (2002::/16) and Teredo (2001::/32) forms of these.
char const* closed_destination(IpAddress const&, std::span<IpAddress const> own = {});

/// Why this address is not public, a literal, or nullptr: RFC 1918, fc00::/7, shared (RFC 6598), multicast, reserved,
/// documentation and benchmark networks, and addresses of cloud services; also the forms embedded in IPv6.
char const* private_destination(IpAddress const&);

/// Why the request's port is blocked by default, a literal; nullptr when it is not. CONNECT may use port 443 only; other
/// methods no port of another protocol, except for an accelerator's origin, which may use any.
char const* blocked_port(RuleRequest const&);

/// True when a connection to there would reach one of this proxy's listening endpoints, in any of those forms too.
bool is_own_listener(IpAddress const&, std::uint16_t port, OwnAddresses const&);
/// True if that holds for all of these addresses, and there is one.
bool are_own_listeners(std::span<IpAddress const>, std::uint16_t port, OwnAddresses const&);

}   // namespace garner::http
