#include "proxy/decision.hpp"

#include <algorithm>

#include "http/hop_by_hop.hpp"
#include "util/text.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;

http::RuleRequest rule_request(http::RequestHead const& request, Target const& target, Client const& client, WallTime now) {
    http::RuleRequest facts;
    facts.client = client.peer.address;
    facts.certificate = client.certificate;
    facts.method = request.method;
    facts.method_text = request.method_text;
    facts.scheme = target.uri.scheme;
    facts.host = target.uri.authority.host;
    facts.port = target.uri.authority.port;
    facts.url = target.url;
    facts.plain_url = target.plain_url;
    facts.resolved = &target.resolved;
    facts.now = now;
    facts.listener = client.listener;
    facts.accelerated = target.accelerated;
    facts.unverified = target.is_unverified();
    facts.fields = &request.fields;
    return facts;
}

http::Decision permits(Options const& options, http::OwnAddresses const& own, Target const& target, http::RuleRequest const& facts,
                       IpAddress const& destination) {
    if (target.accelerated) return options.access.decide(facts, destination);
    return options.access.permits(facts, destination, own, options.private_closed);
}

Admission admit(Options const& options, http::OwnAddresses const& own, Target const& target, http::RuleRequest const& facts) {
    Admission admission;
    admission.decision = options.access.decide(facts, std::nullopt);
    admission.source_matters = admission.decision.verdict == http::Decision::Verdict::needs_destination;
    if (!admission.source_matters) return admission;
    admission.destination = target.destination ? target.destination : target.literal;
    if (admission.destination) admission.decision = permits(options, own, target, facts, *admission.destination);
    return admission;
}

bool wants_upgrade(http::RequestHead const& request, http::Framing const& framing) {
    return http::wants_upgrade(request) && framing.kind == http::Framing::Kind::none;
}

bool ignores_reload(Caching const& caching, http::RequestCacheControl const& control, http::RuleRequest const& facts) {
    return control.is_reload() && http::reload_for(caching.rules, facts) == http::Reload::ignore;
}

http::Bypass why_bypassed(http::RequestHead const& request, http::Framing const& framing, http::RequestCacheControl const& control,
                          Target const& target, Caching const& caching) {
    if (!target.may_use_store()) return http::Bypass::unverified;
    if (wants_upgrade(request, framing)) return http::Bypass::upgrade;
    for (auto const& part : caching.never) {
        auto const has_part = [&](std::string_view url) { return url.find(part) != npos; };
        if (has_part(target.url) || has_part(target.plain_url) || std::ranges::any_of(target.resolved.all(), has_part))
            return http::Bypass::never;
    }
    return http::why_bypass(request, control);
}

cache::Collapse collapse_of(http::RequestHead const& request, http::RequestCacheControl const& control, Caching const& caching,
                            bool fetches_whole) {
    bool const shares = request.method == Method::get && !request.fields.has(Name::authorization) &&
                        (!request.fields.has(Name::range) || caching.range_fetches_whole || fetches_whole) && !control.no_cache;
    return shares ? cache::Collapse::lead_and_follow : cache::Collapse::alone;
}

Action without_asking(cache::Lookup::Kind kind, store::Object const* object, http::RequestHead const& request,
                      http::RequestCacheControl const& control, Caching const& caching) {
    using Kind = cache::Lookup::Kind;
    bool const barred = object && request.fields.has(Name::authorization) && !object->terms().allows_authorization;
    if (barred) return control.only_if_cached ? Action::only_if_cached : Action::pass;
    if (kind == Kind::fresh) return Action::deliver;
    if (kind == Kind::refresh && !caching.offline) return Action::refresh;
    if (object && caching.offline) return Action::deliver_offline;
    return control.only_if_cached ? Action::only_if_cached : Action::fetch;
}

Forwarding why_forwarded(cache::FoundResponse const& found) {
    using http::Fwd;
    if (found.kind == cache::Lookup::Kind::stale)
        return {http::is_by_request(found.answer.reason) ? Fwd::request : Fwd::stale, found.answer.reason};
    return {found.part_missing ? Fwd::partial : found.variant_missing ? Fwd::vary_miss : Fwd::uri_miss, found.removed};
}

http::Fwd why_forwarded(http::Bypass bypass) {
    if (bypass == http::Bypass::method) return http::Fwd::method;
    return bypass == http::Bypass::no_store_request ? http::Fwd::request : http::Fwd::bypass;
}

std::optional<store::Body::Span> lacks(store::Object const& parts, Bytes object_max) {
    auto const length = parts.body()->size();
    auto const missing = parts.body()->missing();
    bool const helps = missing && (missing->first > 0 || missing->last + 1 < length);
    return helps && length <= object_max ? missing : std::nullopt;
}

char const* rule_override(bool reload_ignored, http::Terms const& terms) {
    return reload_ignored ? "rule: reload ignored" : http::text(terms.rule_override);
}

bool hears_of(cache::KnownFailure const& failure, http::RequestHead const& request, http::RequestCacheControl const& control) {
    // A client that sends no-cache gets no remembered failure.
    return !control.is_reload() && (!failure.of_head_only || request.method == Method::head);
}

namespace {

bool concerns_others(http::Field const& field) {
    switch (field.id) {
    case Name::connection:
    case Name::proxy_connection:
    case Name::keep_alive:
    case Name::cache_control:
    case Name::pragma:
    case Name::if_match:
    case Name::if_none_match:
    case Name::if_modified_since:
    case Name::if_unmodified_since:
    case Name::if_range: return true;
    default: return false;
    }
}

}   // namespace

Fingerprint fingerprint_of(http::Fields const& fields) {
    Fingerprint all = 0;
    for (auto const& field : fields)
        if (!concerns_others(field)) all = fingerprint(field.value, fingerprint(field.name, all));
    return all;
}

http::FreshnessOptions freshness_options(Caching const& caching, http::RuleRequest const& facts, std::string_view content_type) {
    http::FreshnessOptions freshness;
    auto clamp = [](milliseconds time) {
        auto whole = std::chrono::duration_cast<seconds>(time).count();
        return static_cast<http::DeltaSeconds>(std::clamp<std::int64_t>(whole, 0, http::delta_seconds_max));
    };
    freshness.default_ttl = clamp(caching.default_ttl);
    freshness.heuristic_error_max = clamp(std::min(caching.negative_first, caching.negative_ttl));
    // Backwards, so that the first of two rules for the same setting decides.
    for (auto at = caching.rules.rbegin(); at != caching.rules.rend(); ++at) {
        auto const& rule = *at;
        if (!rule.applies(facts, content_type)) continue;
        if (rule.default_ttl) freshness.default_ttl = clamp(*rule.default_ttl);
        if (rule.ttl_min) freshness.ttl_min = clamp(*rule.ttl_min);
        if (rule.negative_ttl) freshness.negative_ttl = clamp(*rule.negative_ttl);
        if (rule.ttl_max) freshness.ttl_max = clamp(*rule.ttl_max);
        if (rule.heuristic_factor) freshness.heuristic_factor = *rule.heuristic_factor;
    }
    return freshness;
}

bool drops_gateway_fields(Options const& options, bool accelerated, IpAddress const& sender) {
    using enum ForwardedReceived;
    auto const received = options.forwarded_received;
    bool const drops = received == remove || (received == by_listener && accelerated);
    return drops && !is_among(sender, options.forwarded_trust);
}

bool rule_forbids_storing(Caching const& caching, http::RuleRequest const& facts, std::string_view content_type) {
    for (auto const& rule : caching.rules)
        if (rule.never && rule.applies(facts, content_type)) return *rule.never;
    return false;
}

}   // namespace garner::proxy
