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

/// The hello names another host: it may be one that a rule terminates.
Decision judge_other_name(Rules const& rules, http::RuleRequest request, Decision const& before, net::ClientHello const& hello) {
    auto decision = with(before, Action::splice, cause_of_other_name(hello));
    if (hello.server_name.empty()) return decision;
    request.host = hello.server_name;
    auto const other = rules.decide(request);
    if (other.action != Action::terminate) return decision;
    decision.verdict = other;
    return with(decision, Action::terminate, Cause::name_terminated);
}

std::string_view verb(Action action) {
    return action == Action::bump ? "bumped" : action == Action::splice ? "spliced" : "terminated";
}

std::string rule_text(Verdict const& verdict) {
    if (verdict.rule.empty()) return "no rule matches";
    return std::string(verdict.rule) + (verdict.matchers.empty() ? "" : " ") + std::string(verdict.matchers);
}

std::string pin_text(Pin const& pin) {
    return std::string(pin.for_all ? "clients refused" : "the client refused") + " minted certificates of this host; until " +
           utc_text(pin.until);
}

std::string reason_text(Decision const& decision) {
    switch (decision.cause) {
    case Cause::rule: break;
    case Cause::pinned: return decision.pin ? pin_text(*decision.pin) : "";
    case Cause::not_permitted: return "the name constraints of the CA do not permit this host";
    case Cause::not_tls: return "the client does not speak TLS";
    case Cause::malformed: return std::string("the ClientHello is malformed: ") + decision.fault;
    case Cause::name_hidden: return "the ClientHello names another host than CONNECT and may hide the name (ECH)";
    case Cause::name_differs: return "the ClientHello names another host than CONNECT";
    case Cause::no_name: return "the ClientHello names no host";
    case Cause::name_terminated: return "the ClientHello names a host of " + rule_text(decision.verdict);
    case Cause::no_http: return "the client offers no HTTP protocol (ALPN)";
    }
    if (decision.verdict.listed) return "the host is on the shipped splice list, which precedes " + rule_text(decision.verdict);
    return rule_text(decision.verdict);
}

}   // namespace

bool is_same_host(std::string_view connect_host, std::string_view server_name) {
    if (connect_host.ends_with('.')) connect_host.remove_suffix(1);
    if (auto const address = parse_ip(connect_host)) return server_name.empty() || parse_ip(server_name) == address;
    return !server_name.empty() && equals_ignoring_case(connect_host, server_name);
}

Decision decide(Rules const& rules, http::RuleRequest const& request, HostState const& state) {
    auto const verdict = rules.decide(request);
    Decision decision{.action = verdict.action, .verdict = verdict, .pin = state.pin};
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
    if (reading.state == Hello::State::malformed) return with(decision, Action::splice, Cause::malformed);
    if (reading.state != Hello::State::hello) return with(decision, Action::splice, Cause::not_tls);
    if (!is_same_host(request.host, hello.server_name)) return judge_other_name(rules, request, decision, hello);
    return speaks_http(hello) ? decision : with(decision, Action::splice, Cause::no_http);
}

std::string Decision::text() const {
    auto const condition = needs_hello() ? ", if the ClientHello names this host and offers HTTP" : "";
    return std::string(verb(action)) + condition + ": " + reason_text(*this);
}

}   // namespace garner::bump
