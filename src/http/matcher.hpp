// The conditions of a rule. Pure: a matcher sees only the members of RuleRequest and the destination.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/certificate_pattern.hpp"
#include "http/host_set.hpp"
#include "http/name_set.hpp"
#include "http/network_set.hpp"
#include "http/port_range.hpp"
#include "http/rule_request.hpp"
#include "http/text_pattern.hpp"
#include "http/time_window.hpp"

namespace garner::http {

struct Matcher;

/// A matcher of the section `matchers`. Shared by all rules that use it.
struct NamedMatcher {
    std::string name;
    std::shared_ptr<Matcher const> matcher;
};

/// Every member that is given must match, by any one of its values. No members: all requests.
struct Matcher {
    NetworkSet source = {};
    NetworkSet destination = {};   // the address that is connected to
    HostSet host = {};
    std::vector<PortRange> port = {};
    std::vector<PortRange> listener = {};               // the port the client connected to
    std::vector<CertificatePattern> certificate = {};   // names in the client's certificate
    std::vector<std::string> method = {};               // case-sensitive (RFC 9110 9.1), see Doubt
    std::vector<std::string> url_contains = {};         // case-sensitive
    std::vector<TextPattern> url_matches = {};
    std::vector<TimeWindow> time = {};
    std::vector<TextPattern> host_matches = {};           // the host without a final dot
    std::vector<TextPattern> decoded_url_matches = {};    // see decoded_once
    std::vector<TextPattern> decoded_path_matches = {};   // path and query; CONNECT has none
    std::vector<FieldPattern> header = {};                // see Doubt for a field with several lines
    std::vector<std::string> content_type = {};           // media types of the request, lower case: "image/png", "image/*"
    NameSet user = {};
    NameSet group = {};
    std::vector<NamedMatcher> is = {};       // all of them match
    std::vector<NamedMatcher> is_not = {};   // none of them matches
    char const* never = nullptr;             // the key of a list that is empty: no request matches; a literal

    /// The value of a condition that cannot be decided for certain. `matches` in deny rules, `fails` in allow rules: an escape in
    /// the URL must not evade a rule (origins differ in their reading of the escaped and the unescaped URL, and conditions on the URL
    /// need either or both), nor a path that origins resolve (see ResolvedUrls; `fails` looks at them if a segment ".." is in it), nor must a second line of a field (header and content_type need one reading, or each) or
    /// a method in another case, and a client that is never asked to log in must not pass as a user. An unverified host matches no
    /// condition on host or URL with `fails`; with `matches` it counts like another host.
    enum class Doubt : std::uint8_t { matches, fails };
    /// The result of a matcher is the one of its members' results that comes first in this list.
    enum class Result : std::uint8_t {
        no,
        needs_destination,   // the other members match or need an identity
        needs_identity,      // the other members match
        yes
    };
    Result matches(RuleRequest const& request, IpAddress const* destination, Doubt doubt = Doubt::matches) const {
        return judge(request, destination, doubt).result;
    }

    /// The result, and the member that decides it: its key, a literal; empty for `yes`.
    struct Judgement {
        Result result = Result::yes;
        char const* by = "";
    };
    Judgement judge(RuleRequest const&, IpAddress const* destination, Doubt) const;
    /// All members that do not match, or cannot be decided: "source", "is office: source".
    std::vector<std::string> failing(RuleRequest const&, IpAddress const* destination, Doubt) const;

    /// Checks only members that are equal for every request of this URL. True in doubt.
    bool may_match_url(RuleRequest const&, Doubt doubt = Doubt::matches) const;

    /// Matches every request.
    bool matches_all() const;
    /// Matches every request that `other` matches. False in doubt.
    bool covers(Matcher const& other) const;

    enum class Member : std::uint8_t {
        destination,
        user,
        group,
        port,
        request,        // any member about the request inside a tunnel: method, URL, fields
        doubtful,       // any member that Doubt changes
        beyond_origin   // any member that can tell two requests of one client for one origin apart
    };
    /// True if this matcher, or one that it uses by `is`, has the member; `negated`: also by `not`.
    bool has(Member, bool negated = true) const;

private:
    template <class Visit>
    bool each_member(RuleRequest const&, IpAddress const* destination, Doubt, Visit&& visit) const;
    Result users(RuleRequest const&, Doubt) const;
    Result groups(RuleRequest const&, Doubt) const;
};

/// The minutes of the week in any of the windows.
IntervalSet<std::uint32_t> minutes_of(std::vector<TimeWindow> const& windows);

/// The media type of a Content-Type field's value is one of these, in lower case: "image/png", "image/*".
bool is_media_type_among(std::string_view content_type, std::vector<std::string> const& types);

}   // namespace garner::http
