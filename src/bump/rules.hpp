// The rules of interception: which tunnels Garner decrypts.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/matcher.hpp"

namespace garner::bump {

enum class Action : std::uint8_t {
    splice,      // relay the tunnel's bytes without inspection
    bump,        // decrypt the tunnel, and treat its requests like https:// URLs in absolute-form
    terminate,   // end the connection
    refuse       // end it with an alert: no rule has this action, see Otherwise
};

/// The treatment of a tunnel that a rule bumps, but whose first bytes do not allow that. The client chooses these bytes.
enum class Otherwise : std::uint8_t {
    refuse,
    splice   // a client can avoid each rule that bumps
};

struct Rule {
    Action action = Action::splice;
    http::Matcher match;         // source, host, port, listener, time
    std::string name = {};       // "bump.rules[2]: bump"
    std::string matchers = {};   // as configured, {"host":".example.com"}: for logs and explanations, not for clients
};

/// The decision of the rules. The views live as long as the Rules.
struct Verdict {
    Action action = Action::splice;
    std::string_view rule = {};       // the name of the deciding rule; empty: no rule matches
    std::string_view matchers = {};   // matchers of the deciding rule
    bool listed = false;              // spliced although the rule bumps: the host is on the shipped list (splice_list.hpp)
};

/// Rules in order; the first match decides. No match: splice.
struct Rules {
    std::vector<Rule> all = {};
    bool splice_list = true;   // hosts of the shipped list are spliced where a rule would bump them
    Otherwise otherwise = Otherwise::refuse;

    /// Decides by the CONNECT request alone. Allocates nothing.
    Verdict decide(http::RuleRequest const&) const;
    /// False if every tunnel is spliced, so that none needs a look.
    bool any_applies() const;
    bool any_bumps() const;
    /// "to example.com, .example.org"; "to all hosts, but not those of the shipped splice list"; "in tunnels that match bump.rules[0]
    /// {"source":"10.2.0.0/16"}"; empty if no rule bumps.
    std::string text_of_bumped() const;
    /// The hosts of the rules that bump, each once. Empty if one of them bumps any host, or if none bumps.
    std::vector<http::HostPattern> bumped_hosts() const;
};

}   // namespace garner::bump
