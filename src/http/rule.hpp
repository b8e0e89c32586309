// Rules: access rules and caching rules. Pure: a rule sees only the members of RuleRequest.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/certificate_pattern.hpp"
#include "http/message.hpp"
#include "http/uri.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"
#include "util/result.hpp"

namespace re2 {
class RE2;
}

namespace garner::http {

/// The facts of a request for rules. Views: they live as long as the request's bytes.
struct RuleRequest {
    IpAddress client;
    Method method = Method::get;
    std::string_view method_text = "GET";
    Scheme scheme = Scheme::http;
    std::string_view host;   // any case, IPv6 without brackets
    std::uint16_t port = 80;
    std::string_view url;         // normal form (append_normalised); "host:port" for CONNECT
    std::string_view plain_url;   // append_unescaped(url), if it differs; else empty
    WallTime now{};
    std::uint16_t listener = 0;                      // the port the client connected to
    bool accelerated = false;                        // the listener is an accelerator's
    std::span<std::string const> certificate = {};   // the names in the client's certificate
};

/// A host name, or with a leading dot a domain: ".example.com" is example.com and every name below it. The comparison
/// ignores case and one final dot; an IP address is compared as an address, in any spelling.
class HostPattern {
public:
    /// Nothing when `text` is empty, only a dot, has a byte that no host name has, or is_mistaken_ipv4.
    static std::optional<HostPattern> parse(std::string_view text);
    bool matches(std::string_view host) const;
    /// The original text in lower case.
    std::string const& text() const { return text_; }
    friend bool operator==(HostPattern const&, HostPattern const&) = default;

private:
    std::string text_;
    std::optional<IpAddress> address_;
};

/// Ports from `first` to `last`, both included.
struct PortRange {
    std::uint16_t first = 1;
    std::uint16_t last = 65'535;
    static std::optional<PortRange> parse(std::string_view text);   // "443", "8000-8999"
    bool contains(std::uint16_t port) const { return first <= port && port <= last; }
    friend bool operator==(PortRange const&, PortRange const&) = default;
};

/// A regular expression over the URL (RE2 syntax, unanchored, bytes): linear time in the URL's length, 1 MiB at most.
class UrlPattern {
public:
    static constexpr std::size_t text_max = 1'024;
    /// A fault if RE2 refuses it, or if it is empty or longer than text_max.
    static Result<UrlPattern> parse(std::string_view text);
    bool matches(std::string_view url) const;
    std::string const& text() const;

private:
    std::shared_ptr<re2::RE2 const> expression_;
};

/// Local time in the week: "Mon-Fri 08:00-18:00", "Sat,Sun", "22:00-06:00". One of the two parts may be left out. The end
/// is exclusive. Hours past midnight belong to the day on which the window begins.
class TimeWindow {
public:
    static std::optional<TimeWindow> parse(std::string_view text);
    bool contains(WallTime) const;
    /// Takes a local weekday (0 is Sunday) and minute of the day.
    bool contains(unsigned weekday, unsigned minute) const;

private:
    std::uint8_t days_ = 0x7f;   // bit 0: Sunday
    std::uint16_t begin_ = 0;    // minutes after midnight
    std::uint16_t end_ = 24 * 60;
};

/// A rule's conditions. Every non-empty member must match, by any one of its values. No members: all requests.
struct Matcher {
    std::vector<IpNetwork> source = {};
    std::vector<IpNetwork> destination = {};   // the address that is connected to
    std::vector<HostPattern> host = {};
    std::vector<PortRange> port = {};
    std::vector<PortRange> listener = {};               // the port the client connected to
    std::vector<CertificatePattern> certificate = {};   // names in the client's certificate
    std::vector<std::string> method = {};               // case-sensitive, like methods (RFC 9110 9.1)
    std::vector<std::string> url_contains = {};         // case-sensitive
    std::vector<UrlPattern> url_matches = {};
    std::vector<TimeWindow> time = {};

    /// Whether url_contains and url_matches need either or both of the forms of the URL, escaped and unescaped: origins
    /// differ in their reading.
    enum class Forms : std::uint8_t { either, both };
    enum class Result : std::uint8_t { no, yes, needs_destination };
    /// needs_destination only when all other members match and the matcher has a destination but none is given.
    Result matches(RuleRequest const&, IpAddress const* destination, Forms forms = Forms::either) const;
    /// Checks only members that are equal for every request of this URL: host, port, url_contains, url_matches.
    bool may_match_url(RuleRequest const&, Forms forms = Forms::either) const;
    /// Matches every request.
    bool matches_all() const {
        return source.empty() && destination.empty() && host.empty() && port.empty() && listener.empty() && certificate.empty() &&
               method.empty() && url_contains.empty() && url_matches.empty() && time.empty();
    }

private:
    bool has_url_part(RuleRequest const&, Forms) const;
    bool has_url_pattern(RuleRequest const&, Forms) const;
};

struct AccessRule {
    bool allow = false;
    Matcher match;
    std::string name;            // "access[2]: deny"
    std::string matchers = {};   // as configured, {"host":".example.com"}: for logs and explanations, not for clients

    /// An escape must not bypass a rule: an allow rule needs both forms of the URL, a deny rule either one.
    Matcher::Forms forms() const { return allow ? Matcher::Forms::both : Matcher::Forms::either; }
    Matcher::Result matches(RuleRequest const& request, IpAddress const* destination) const {
        return match.matches(request, destination, forms());
    }
};

/// The rules' decision, and the rule that decided. The views live as long as the AccessRules.
struct Decision {
    enum class Verdict : std::uint8_t {
        allow,
        deny,
        needs_destination   // resolve the name, then ask again with the address
    };
    Verdict verdict = Verdict::deny;
    // Set when an allow rule opens a destination that is blocked by default. A `host` opens nothing: the owner of the name
    // chooses its address in the DNS.
    bool opens_address = false;     // the rule names `destination`
    bool opens_port = false;        // the rule names `port`
    std::string_view rule;          // the deciding rule's name, or "default: clients on loopback only"
    std::string_view matchers;      // the deciding rule's
    char const* closed = nullptr;   // deny although the rule allows: the default that blocks it, a literal

    bool allowed() const { return verdict == Verdict::allow; }
    bool denied() const { return verdict == Verdict::deny; }
    /// One line for the log: "CONNECT to a port other than 443 (access[0]: allow all)".
    std::string text() const;
    /// One line for the client, without the rule's matchers, which show networks and names: "CONNECT to a port other than 443
    /// (access[0]: allow)".
    std::string text_for_client() const;
    /// "access[0]: allow all"
    std::string whole_rule() const;
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
    /// the URL may be stored only because a rule opened a blocked destination to other clients.
    Decision decide(RuleRequest const&, std::optional<IpAddress> destination) const;

    /// The complete decision on a connection to this address: rules, own listening endpoints, blocked destinations.
    /// `destination` must be the address that is connected to. Never needs_destination. `private_closed`: private networks
    /// are blocked, too.
    Decision permits(RuleRequest const&, IpAddress const& destination, OwnAddresses const&, bool private_closed = false) const;

    std::span<AccessRule const> rules() const { return rules_; }
    bool empty() const { return rules_.empty(); }

private:
    bool opened_to_others(RuleRequest const&) const;

    std::vector<AccessRule> rules_;
    bool any_opens_ = false;   // addresses
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

enum class Reload : std::uint8_t { honour, ignore };

/// How responses to matching requests are cached. An unset member changes nothing.
struct CachingRule {
    Matcher match;                   // no destination
    std::vector<std::string> type;   // media types, lower case: "image/png", "image/*"
    std::string name;                // "caching.rules[0]"

    std::optional<bool> never;                 // true: not stored
    std::optional<milliseconds> default_ttl;   // for responses without freshness information
    std::optional<milliseconds> min_ttl;
    std::optional<milliseconds> max_ttl;
    std::optional<milliseconds> negative_ttl;
    std::optional<double> heuristic_factor;   // share of the time since Last-Modified, 0 to 1 (RFC 9111 4.2.2)
    std::optional<Reload> reload;             // ignore: a client's no-cache and max-age=0 are ignored (contrary to 5.2.1)

    /// `content_type` is the response's field value with its parameters; empty when absent, which matches no `type`.
    bool applies(RuleRequest const&, std::string_view content_type) const;
};

/// The first matching rule with `reload` decides; honour when there is none. Rules with a `type` do not count: there is no
/// response yet.
Reload reload_for(std::span<CachingRule const>, RuleRequest const&);

}   // namespace garner::http
