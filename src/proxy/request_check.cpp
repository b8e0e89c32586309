#include "proxy/request_check.hpp"

#include <utility>

#include "net/address.hpp"
#include "proxy/internal.hpp"
#include "proxy/known_admissions.hpp"
#include "proxy/via.hpp"
#include "util/text.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;
using Verdict = RequestCheck::Verdict;

std::optional<Verdict> RequestCheck::check() {
    auto const& head = request_.head();
    auto const& framing = request_.client.begin_body();
    if (framing.refusal) return refused(framing.status, framing.refusal, "RFC 9112 message framing");
    if (auto const* fault = read_target(head, request_.only_origin(), request_.target))
        return refused(http::has_unsupported_scheme(head.target) ? 501 : 400, fault, "RFC 9112 request target");
    if (request_.bumped_origin)
        if (auto const verdict = check_inside()) return *verdict;
    if (head.method == Method::connect && !request_.client.body_done())
        return refused(400, "CONNECT with a body", "RFC 9110 9.3.6");
    if (is_loop(head, request_.options->via_name, request_.options->limits.max_hops))
        return refused(508, "The request has passed this proxy before, or has passed too many proxies (limits.hops_max).", "Via");
    if (head.target == "*" && !request_.only_origin()) {
        auto decision = request_.options->access.decide(request_.facts(), std::nullopt);
        request_.record.note_rule(decision);
        return decision.denied() ? denied(decision) : Verdict::own_answer;
    }
    if (is_refusals_page(request_.target, head.method, *request_.options)) return Verdict::internal;
    if (is_internal(request_.target, *request_.services.own, request_.options->pac)) return check_internal();
    request_.control = http::parse_request_cache_control(head.fields);
    if (request_.intercepted_origin && !name_.decide_at_once()) return check_unverified();
    apply_reload_rule();
    auto const verdict = check_access();
    return verdict == Verdict::go_on ? prepare() : verdict;
}

/// Inside a decrypted tunnel.
std::optional<Verdict> RequestCheck::check_inside() {
    auto const& bumped = *request_.bumped_origin;
    if (is_misdirected(request_.head(), bumped))
        return refused(421, "The request is for another host than the tunnel that it came through.", "RFC 9110 7.4");
    if (!bumped.refusal) return std::nullopt;
    if (!bumped.refusal->logged_rule.empty()) request_.record.set_rule(*bumped.refusal);
    return refused(bumped.refusal->status, bumped.refusal->what, bumped.refusal->rule);
}

/// Before DNS is asked for the host of an intercepted request. A client without access must not make this proxy resolve names. The
/// rules deny a verified host less often than any other.
std::optional<Verdict> RequestCheck::check_unverified() {
    missing_ = Missing::origin;
    auto const known = std::exchange(request_.target.proof, net::DnsProof::recent);
    auto const decision = admission_of(request_).decision;
    request_.target.proof = known;
    if (!decision.denied()) return std::nullopt;
    request_.record.note_rule(decision);
    return denied(decision);
}

/// If a rule needs the destination and the host is a name, it is resolved first: a hit must not bypass a deny.
std::optional<Verdict> RequestCheck::check_access() {
    using enum http::Decision::Verdict;
    for (;;) {
        auto* const known = request_.scratch.admissions;
        auto const admission = known ? known->admit(request_) : admission_of(request_);
        auto const& decision = admission.decision;
        request_.addresses.matter = admission.source_matters;
        request_.record.note_rule(decision);
        if (decision.denied()) return denied(decision);
        request_.addresses.permitted = decision.allowed() ? admission.destination : std::nullopt;
        if (decision.verdict == needs_identity) {
            auto const verdict = require_login();
            if (verdict || !request_.identity) return verdict;
            continue;
        }
        bool const verifies = admission.source_matters && user_may_matter() && login_.look() == LoginCheck::State::unknown;
        missing_ = verifies ? Missing::user_if_valid : Missing::names;
        if (verifies || decision.verdict == needs_destination) return std::nullopt;
        return Verdict::go_on;
    }
}

/// The rules depend on the destination. A stored object may have come from an address for which they need the user, too.
bool RequestCheck::user_may_matter() const {
    return !request_.identity && !has_tried_login_ && request_.options->logins && !request_.accelerated_origin;
}

/// Nothing: the identity is known, or check_login() comes next.
std::optional<Verdict> RequestCheck::require_login() {
    auto const state = login_.look();
    if (state == LoginCheck::State::unknown) missing_ = Missing::user;
    return judge(state);
}

/// Nothing: the identity is known, or the credentials must be verified.
std::optional<Verdict> RequestCheck::judge(LoginCheck::State state) {
    using enum LoginCheck::State;
    if (state == known || state == unknown) return std::nullopt;
    request_.record.texts.reason = login_.reason();
    login_fields_ = login_.fields(state);
    auto const verdict = refuse_login(state);
    refusal_.fields = login_fields_;
    return verdict;
}

Verdict RequestCheck::refuse_login(LoginCheck::State state) {
    using enum LoginCheck::State;
    if (state == limited)
        return refused(429, "Too many logins from this address have failed. Wait a minute.", "auth.failures_per_minute");
    if (state == unavailable) return refused(503, "The login cannot be checked now.", "auth");
    request_.record.tag = ResultTag::tcp_denied;
    // RFC 9110 15.5.8: a 407 needs a challenge.
    if (login_fields_.empty()) return refused(403, "The rules of this proxy allow known users only.", "auth");
    return refused(407, login_.what(), "auth");
}

net::awaitable<Verdict> RequestCheck::check_further() {
    std::optional<Verdict> verdict;
    while (!verdict) {
        if (missing_ == Missing::names)
            verdict = co_await check_names();
        else if (missing_ == Missing::origin)
            verdict = co_await check_origin();
        else
            verdict = co_await check_login();
    }
    co_return *verdict;
}

net::awaitable<std::optional<Verdict>> RequestCheck::check_origin() {
    co_await name_.run();
    apply_reload_rule();
    co_return resume_access();
}

/// Credentials that no rule has asked for may be wrong.
net::awaitable<std::optional<Verdict>> RequestCheck::check_login() {
    bool const is_required = missing_ == Missing::user;
    auto const state = co_await login_.verify();
    has_tried_login_ = true;
    if (is_required) {
        auto const verdict = judge(state);
        if (verdict) co_return verdict;
    }
    co_return resume_access();
}

/// The verdict of the rules, now that the user or the origin is known.
std::optional<Verdict> RequestCheck::resume_access() {
    auto const verdict = check_access();
    if (verdict != Verdict::go_on) return verdict;
    return prepare();
}

net::awaitable<std::optional<Verdict>> RequestCheck::check_names() {
    using enum http::Decision::Verdict;
    auto& resolver = request_.services.worker.resolver;
    auto const& host = request_.target.uri.authority.host;
    if (request_.reloads()) resolver.forget_failure(host);
    auto names = co_await resolver.resolve(host, &request_.waiting);
    request_.waiting = {};
    // Stored objects are checked by the address they came from. A fetch meets the resolution failure again, and reports it.
    if (!names->failure.empty()) co_return prepare();
    auto const facts = request_.facts();
    http::Decision decision;
    std::optional<IpAddress> decided;
    for (auto const& address : names->addresses) {
        auto const of_address = request_.permits(facts, net::to_ip(address));
        request_.record.note_rule(of_address);
        if (of_address.allowed()) co_return prepare();
        if (decision.verdict == needs_identity) continue;
        decision = of_address;
        decided = net::to_ip(address);
    }
    if (decision.verdict != needs_identity) co_return denied(decision, decided);
    co_return require_login();
}

/// The destination for the rules is the local address that the client connected to. Other caches and clients that fetch the root
/// certificate do not log in.
Verdict RequestCheck::check_internal() {
    auto const decision = request_.options->access.decide(request_.facts(), request_.client.own_address());
    request_.record.note_rule(decision);
    return decision.denied() ? denied(decision) : Verdict::internal;
}

Verdict RequestCheck::prepare() {
    auto const& head = request_.head();
    bool const counts_hops = head.method == Method::trace || head.method == Method::options;
    if (counts_hops && head.fields.has(Name::max_forwards) && parse_decimal(head.fields.first(Name::max_forwards)) == 0u)
        return Verdict::own_answer;
    request_.key = request_.services.cache.key(request_.target.key_text);
    return Verdict::go_on;
}

void RequestCheck::refuse_misses() {
    constexpr auto what = "The rules of this proxy allow this client stored responses only.";
    refusal_ = {504, what, "misses", cache::FailureKind::not_stored};
}

void RequestCheck::refuse_to_fetch() {
    constexpr auto what = "The client asked for a stored response only (only-if-cached), and no fresh one is stored.";
    refusal_ = {504, what, "only-if-cached", cache::FailureKind::not_stored};
}

Verdict RequestCheck::refused(std::uint16_t status, std::string_view what, std::string_view rule) {
    refusal_ = {status, what, rule};
    request_.record.answer = Answer::refused;
    request_.close = request_.close || status == 400 || status == 501 || !request_.client.body_done();
    return Verdict::refused;
}

Verdict RequestCheck::denied(http::Decision const& decision, std::optional<IpAddress> const& destination) {
    if (decision.verdict == http::Decision::Verdict::needs_identity) return *judge(LoginCheck::State::login_needed);
    request_.record.tag = ResultTag::tcp_denied;
    request_.close = true;   // a denied client keeps no connection
    request_.record.set_rule(decision, destination);
    note_unknown_groups();
    return refused(403, "The rules of this proxy do not allow the request.", request_.record.texts.rule);
}

/// For the log: the directory could not tell the groups, so that a deny by group has matched, or an allow has not.
void RequestCheck::note_unknown_groups() {
    auto const* const identity = request_.identity.get();
    if (!identity || identity->unknown_groups.empty()) return;
    auto& reason = request_.record.texts.reason;
    reason = "The groups of " + identity->user + " are unknown (" + identity->why_unknown + "), and the rules deny in doubt";
}

void RequestCheck::apply_reload_rule() {
    auto const& caching = request_.options->caching;
    if (!request_.control.is_reload() || caching.rules.empty()) return;
    request_.reload_ignored = ignores_reload(caching, request_.control, request_.facts());
    if (request_.reload_ignored) request_.control.forget_reload();
}

}   // namespace garner::proxy
