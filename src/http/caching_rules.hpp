// Caching rules: how responses to matching requests are cached.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/matcher.hpp"
#include "util/clock.hpp"

namespace garner::http {

enum class Reload : std::uint8_t { honour, ignore };

/// How responses to matching requests are cached. An unset member changes nothing.
struct CachingRule {
    Matcher match;                   // no destination, user or group
    std::vector<std::string> type;   // media types of the response, lower case: "image/png", "image/*"
    std::string name;                // "caching.rules[0]"

    std::optional<bool> never;                 // true: not stored
    std::optional<milliseconds> default_ttl;   // for responses without freshness information
    std::optional<milliseconds> ttl_min;
    std::optional<milliseconds> ttl_max;
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
