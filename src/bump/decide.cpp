#include "bump/decide.hpp"

#include <algorithm>

#include "bump/utc.hpp"
#include "util/check.hpp"
#include "util/ip.hpp"
#include "util/text.hpp"

namespace garner::bump {
namespace {

using Cause = Decision::Cause;
using Hello = net::ClientHelloReading;

bool speaks_http(net::ClientHello const& hello) {
    return hello.protocols.empty() || hello.offers("h2") || hello.offers("http/1.1");
}

Cause cause_of_other_name(net::ClientHello const& hello) {
    if (hello.server_name.empty()) return Cause::no_name;
    return hello.has_ech ? Cause::name_hidden : Cause::name_differs;
}

Decision with(Decision decision, Action action, Cause cause) {
    decision.action = action;
    decision.cause = cause;
    return decision;
}

/// The first bytes do not allow a bump.
Decision without_bump(Decision const& before, Cause cause) {
    return with(before, before.otherwise == Otherwise::refuse ? Action::refuse : Action::splice, cause);
}

/// The hello names another host: it may be one that a rule terminates.
Decision judge_other_name(Rules const& rules, http::RuleRequest request, Decision const& before, net::ClientHello const& hello) {
    auto decision = without_bump(before, cause_of_other_name(hello));
    if (hello.server_name.empty()) return decision;
    request.host = hello.server_name;
    auto const other = rules.decide(request);
    if (other.action != Action::terminate) return decision;
    decision.verdict = other;
    return with(decision, Action::terminate, Cause::name_terminated);
}

std::string_view verb(Action action) {
    switch (action) {
    case Action::splice: return "spliced";
    case Action::bump: return "bumped";
    case Action::terminate: return "terminated";
    case Action::refuse: return "refused";
    }
    return "";
}

std::string rule_text(Verdict const& verdict) {
    if (verdict.rule.empty()) return "no rule matches";
    return std::string(verdict.rule) + (verdict.matchers.empty() ? "" : " ") + std::string(verdict.matchers);
}

std::string pin_text(Pin const& pin) {
    return std::string(pin.for_all ? "clients refused" : "the client refused") + " minted certificates of this host; until " +
           utc_text(pin.until);
}

}   // namespace

bool is_same_host(std::string_view connect_host, std::string_view server_name) {
    if (connect_host.ends_with('.')) connect_host.remove_suffix(1);
    if (auto const address = parse_ip(connect_host)) return server_name.empty() || parse_ip(server_name) == address;
    return !server_name.empty() && equals_ignoring_case(connect_host, server_name);
}

Decision decide(Rules const& rules, http::RuleRequest const& request, HostState const& state) {
    auto const verdict = rules.decide(request);
    Decision decision{.action = verdict.action, .verdict = verdict, .otherwise = rules.otherwise, .pin = state.pin};
    if (decision.action != Action::bump) return decision;
    if (!state.permitted) return with(decision, Action::splice, Cause::not_permitted);
    return state.pin ? with(decision, Action::splice, Cause::pinned) : decision;
}

Decision decide_by_hello(Rules const& rules, http::RuleRequest const& request, Decision const& before, Hello const& reading) {
    check(before.needs_hello());
    auto decision = before;
    decision.has_hello = true;
    decision.fault = reading.reason;
    auto const& hello = reading.hello;
    decision.server_name = hello.server_name;
    if (reading.state == Hello::State::malformed) return without_bump(decision, Cause::malformed);
    if (reading.state != Hello::State::hello) return without_bump(decision, Cause::not_tls);
    if (!is_same_host(request.host, hello.server_name)) return judge_other_name(rules, request, decision, hello);
    return speaks_http(hello) ? decision : without_bump(decision, Cause::no_http);
}

Decision decide_without_hello(Decision before, Cause cause) {
    check(before.needs_hello());
    before.has_hello = true;
    return without_bump(before, cause);
}

std::string Decision::reason() const {
    switch (cause) {
    case Cause::rule: break;
    case Cause::pinned: return pin ? pin_text(*pin) : "";
    case Cause::not_permitted: return "the name constraints of the CA do not permit this host";
    case Cause::not_tls: return "the client does not speak TLS";
    case Cause::malformed: return std::string("the ClientHello is malformed: ") + fault;
    case Cause::unfinished: return "no complete ClientHello came within " + std::to_string(hello_wait.count()) + " s";
    case Cause::left: return "the client closed the tunnel before its ClientHello ended";
    case Cause::name_hidden: return "the ClientHello names another host than CONNECT and may hide the name (ECH): " + server_name;
    case Cause::name_differs: return "the ClientHello names another host than CONNECT: " + server_name;
    case Cause::no_name: return "the ClientHello names no host";
    case Cause::name_terminated: return "the ClientHello names a host of " + rule_text(verdict);
    case Cause::no_http: return "the client offers no HTTP protocol (ALPN)";
    }
    if (verdict.listed) return "the host is on the shipped splice list, which precedes " + rule_text(verdict);
    return rule_text(verdict);
}

std::string Decision::text() const {
    std::string text(verb(action));
    if (needs_hello()) text += ", if the ClientHello names this host and offers HTTP";
    if (needs_hello() && otherwise == Otherwise::refuse) text += ", otherwise refused";
    text += ": " + reason();
    if (action == Action::refuse) text += " (bump.otherwise; " + rule_text(verdict) + ")";
    return text;
}

}   // namespace garner::bump
