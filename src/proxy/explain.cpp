#include "proxy/explain.hpp"

#include <algorithm>

#include "auth/authenticator.hpp"
#include "group/group.hpp"
#include "http/partial.hpp"
#include "http/range.hpp"
#include "http/validation.hpp"
#include "net/address.hpp"
#include "proxy/challenge.hpp"
#include "proxy/internal.hpp"
#include "proxy/server.hpp"
#include "proxy/via.hpp"
#include "proxy/way.hpp"
#include "util/text.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;

namespace {

bool asks_for_login(http::Decision const& decision) { return decision.verdict == http::Decision::Verdict::needs_identity; }

/// The user of the question with its groups, or the user of its address, as in LoginCheck::look. nullptr: none.
std::shared_ptr<http::Identity const> identity_of(ExplainQuestion const& question, auth::Authenticator& logins, WallTime now) {
    using enum auth::Authenticator::Asks;
    auto const asks = question.asks_others ? directory : none;
    if (!question.identity) {
        auto facts = logins.facts_without_credentials(question.client, {}, now);
        return facts.user.empty() ? nullptr : logins.describe(std::move(facts), now, asks);
    }
    if (question.identity->user.empty()) return std::make_shared<http::Identity const>(*question.identity);
    auto identity = *logins.describe({.user = lower_case(question.identity->user)}, now, asks);
    for (auto const& group : question.identity->groups)
        if (std::ranges::find(identity.groups, group) == identity.groups.end()) identity.groups.push_back(group);
    std::erase_if(identity.unknown_groups, [&](auto const& one) { return std::ranges::count(identity.groups, one) > 0; });
    return std::make_shared<http::Identity const>(std::move(identity));
}

/// `interception`: the treatment of the tunnel, such as "bumped: bump.rules[2]: bump".
char const* why_tunnelled(std::string_view interception) {
    if (interception.starts_with("bumped")) return "requests inside are inspected, and cached like other https:// requests";
    if (interception.starts_with("terminated")) return "the tunnel is closed at once";
    return "the contents of the tunnel are neither inspected nor cached";
}

/// A ClientHello with this server name that offers all versions of HTTP.
net::ClientHelloReading hello_with(std::string_view server_name) {
    net::ClientHelloReading reading{.state = net::ClientHelloReading::State::hello};
    reading.hello.server_name = lower_case(http::without_final_dot(server_name));
    return reading;
}

/// The port in "127.0.0.1:3128", "[::]:3128".
std::uint16_t port_of(std::string_view address) {
    return static_cast<std::uint16_t>(parse_decimal(address.substr(address.rfind(':') + 1)).value_or(0));
}

/// The first one that intercepts; empty if none does.
std::string intercepting_listener(Server const& server) {
    auto const places = server.listen_addresses();
    auto const found = std::ranges::find_if(places, [](auto const& one) { return one.intercept != net::Intercept::off; });
    return found == places.end() ? std::string() : found->address;
}

/// Matches NameCheck. Without a query to DNS an unknown name counts as unverified.
net::DnsProof proof_of(Server& server, Target const& target, bool asks_dns) {
    using enum net::DnsProof;
    std::string const host(target.uri.authority.host);
    if (auto const literal = parse_ip(host)) return *literal == *target.destination ? recent : none;
    auto const known = server.name_history().proof(host, *target.destination, steady_now());
    if (known == recent || !asks_dns) return known;
    auto const names = resolve_on_worker(server, host);
    auto const leads = [&](net::Address const& address) { return net::to_ip(address) == *target.destination; };
    return names && std::ranges::any_of(names->addresses, leads) ? recent : known;
}

std::string silent_voters(Server& server) {
    auto const state = server.group() ? server.group()->state() : std::nullopt;
    return state && !state->current ? " (" + state->why + ")" : std::string();
}

std::optional<group::GroupState::OfferRow> offer_of(Server& server, std::string_view url) {
    auto const state = server.group() && server.group()->is_offered(url) ? server.group()->state() : std::nullopt;
    if (!state) return {};
    auto const found = std::ranges::find(state->offers, url, &group::GroupState::OfferRow::url);
    return found == state->offers.end() ? std::nullopt : std::optional(*found);
}

std::string why_missing(cache::Peek const& found, std::vector<http::CachingRule const*> const& rules) {
    // Matches rule_forbids_storing.
    auto const deciding = std::ranges::find_if(rules, [](auto const* rule) { return rule->never.has_value(); });
    if (deciding != rules.end() && *(*deciding)->never) return "not stored: " + (*deciding)->name + " (never)";
    if (found.removed) return found.invalidated;
    if (found.part_missing) return "the range is only partly stored";
    if (found.parts) return "only parts of the object are stored";
    if (found.variant_missing) return "no stored variant matches this request";
    bool const marked = found.kind == cache::Lookup::Kind::hit_for_pass;
    return marked ? "not stored; the last response was uncacheable: " + std::string(found.hit_for_pass_reason) : "not stored";
}

/// Builds the explanation of one question.
class Explainer {
public:
    Explainer(Server& server, ExplainQuestion const& question) : server_(server), question_(question) {
        out_.options = server.options();
        out_.now = wall_now();
    }

    Explanation run() {
        bool const is_valid = read_request() && choose_listener() && read_target_of_request();
        if (is_valid) decide();
        if (is_valid) explain_line();
        if (is_valid) out_.offer = offer_of(server_, target_.url);
        return std::move(out_);
    }

private:
    bool fault(std::string what) {
        out_.fault = std::move(what);
        return false;
    }

    bool would_refuse(std::string_view why) { return fault("the proxy would reject this request: " + std::string(why)); }

    /// Parses the request with the proxy's own parser, so that it is refused for the same reasons.
    bool read_request() {
        http::UriError error;
        auto const uri = http::parse_absolute(question_.url, error);
        if (!uri) return fault("the URL is not valid (write it like http://example.com/page): " + std::string(error.refusal));
        uri_ = *uri;
        out_.method = question_.method;
        if (out_.method.empty()) out_.method = uri_.scheme == http::Scheme::https && !question_.accelerated ? "CONNECT" : "GET";
        if (!http::is_token(out_.method)) return fault("the method is not valid");
        bool has_host = false;
        std::string fields;
        for (auto const& line : question_.fields) {
            http::Field field;
            if (auto const* refusal = http::parse_field_line(line, field))
                return fault("\"" + line + "\" is not a field like \"Accept: text/html\": " + refusal);
            has_host = has_host || field.id == Name::host;
            fields += line + "\r\n";
        }
        std::string host;
        http::append_host(uri_, host);
        std::string target = question_.url;
        if (out_.method == "CONNECT") {
            std::string const name(uri_.authority.host);
            target = (uri_.authority.ipv6 ? "[" + name + "]" : name) + ":" + std::to_string(uri_.authority.port);
        }
        if (!has_host) fields.insert(0, "Host: " + host + "\r\n");
        text_ = out_.method + " " + target + " HTTP/1.1\r\n" + fields + "\r\n";
        std::size_t scanned = 0;
        auto const parsed = http::parse_request_head(text_, out_.options->limits.head, scanned, request_);
        if (parsed.kind == http::HeadParse::Kind::complete) return true;
        return would_refuse(parsed.refusal ? parsed.refusal : "incomplete head");
    }

    bool choose_listener() {
        if (question_.intercepted) {
            out_.listener.address = intercepting_listener(server_);
            origin_ = intercepted_origin(uri_.scheme, {*question_.intercepted, uri_.authority.port});
            return !out_.listener.address.empty() || fault("no listener intercepts");
        }
        std::string there;
        for (auto const& place : server_.listen_addresses()) {
            if (place.intercept != net::Intercept::off) continue;
            if (question_.accelerated != (place.origin != nullptr)) continue;
            std::string asked;
            http::append_host(uri_, asked);
            bool const meant = !place.origin || http::same_origin(uri_, place.origin->uri) || asked == place.address;
            if (meant) {
                origin_ = place.origin;
                target_.secure = place.secure();
                out_.listener.address = place.address;
                out_.listener.origin = origin_ ? origin_->text : std::string();
                return true;
            }
            there += " " + place.origin->text;
        }
        if (!question_.accelerated) return fault("no listener is a forward proxy: add --accelerator");
        return fault(there.empty() ? "no listener is an accelerator"
                                   : "no accelerator has the origin of this URL; there are accelerators for" + there);
    }

    bool read_target_of_request() {
        framing_ = http::request_framing(request_);
        if (framing_.refusal) return would_refuse(framing_.refusal);
        auto const* refusal = read_target(request_, origin_.get(), target_);
        if (refusal) return would_refuse(refusal);
        bool const has_hello = request_.method == Method::connect;
        return has_hello || !question_.server_name ||
               fault("sni is for a tunnel: CONNECT, or an https URL through a forward proxy");
    }

    void decide() {
        auto const& options = *out_.options;
        out_.url = target_.url;
        out_.partition = target_.partition();
        client_ = {.peer = {question_.client, 0}, .listener = port_of(out_.listener.address), .secure = target_.secure};
        identity_ = identity_of(question_, server_.logins(), out_.now);
        if (target_.destination) {
            out_.listener.destination = target_.destination->text();
            target_.proof = proof_of(server_, target_, question_.asks_others);
            out_.listener.unverified = target_.is_unverified();
            if (!identity_) identity_ = std::make_shared<http::Identity const>();   // such a client logs in to no proxy
        }
        facts_ = rule_request(request_, target_, client_, out_.now);
        facts_.identity = identity_.get();
        out_.identity = identity_;
        control_ = http::parse_request_cache_control(request_.fields);
        out_.reload_ignored = ignores_reload(options.caching, control_, facts_);
        if (out_.reload_ignored) control_.forget_reload();
        auto const admission = admit(options, *own_, target_, facts_);
        out_.access = admission.decision;
        out_.bypass = why_bypassed(request_, framing_, control_, target_, options.caching);
        explain_interception();
        look(admission.source_matters);
        judge_rules();
        judge();
        if (!question_.asks_others) return;
        if (wants_addresses() && resolve()) judge();
        if (goes_out()) ask_peers(admission.source_matters);
    }

    /// Matches BumpedTunnel::decide.
    void explain_interception() {
        auto const& options = out_.options->bump;
        auto const interception = server_.interception();
        bool const is_concerned = request_.method == Method::connect && !target_.destination;
        if (!is_concerned || !interception || !options.rules.any_applies()) return;
        auto const state = interception->state_of(question_.client, target_.uri.authority.host, options, out_.now);
        auto decision = bump::decide(options.rules, facts_, state);
        if (question_.server_name && decision.needs_hello())
            decision = bump::decide_by_hello(options.rules, facts_, decision, hello_with(*question_.server_name));
        out_.interception = decision.text();
        if (decision.action == bump::Action::refuse) tunnel_refusal_ = decision.reason() + " (bump.otherwise)";
    }

    /// Matches open_account.
    void explain_line() {
        auto const& options = *out_.options;
        if (!limits_line(options) || !forwards()) return;
        auto const& limits = options.limits;
        out_.line = place_on_line(options, facts_, first_bits(question_.client, limits.client_prefix4, limits.client_prefix6));
        auto const* const rule = out_.line->quota;
        if (!rule) return;
        out_.quota = server_.quotas().look_up(rule->name, counted_by(rule->each, out_.line->subject, {}), out_.now);
        bool const is_over = out_.quota && out_.quota->state == share::QuotaState::over;
        if (!is_over) return;
        if (out_.outcome == Outcome::revalidate && may_serve_stale()) return say_stored(Outcome::stale, over_text(*out_.quota));
        say(Outcome::refused, over_text(*out_.quota), 429);
    }

    bool forwards() const { return is_fetch() || out_.outcome == Outcome::passed || out_.outcome == Outcome::tunnelled; }

    bool has_peers() const {
        bool const may_use_peers = out_.partition == Partition::forward && !target_.destination;
        return may_use_peers && !server_.mesh().peer_table()->peers.empty();
    }

    /// Matches RequestCheck::check_names and Sources::may_use_peers: a request that goes to peers first needs no addresses,
    /// unless a rule depends on them.
    bool wants_addresses() const {
        bool const is_known = out_.of_connection || out_.name_failure || out_.access.denied();
        bool const connects = forwards() && (!has_peers() || net::is_localhost(target_.uri.authority.host));
        return !is_known && (out_.undecided() || connects);
    }

    /// False when DNS did not answer in time.
    bool resolve() {
        auto const host = std::string(target_.uri.authority.host);
        auto const names = resolve_on_worker(server_, host);
        if (!names) return false;
        if (names->addresses.empty()) {
            look_for_name(host);
            return true;
        }
        for (auto const& address : names->addresses) {
            judge_address(net::to_ip(address));
            if (out_.of_connection->allowed()) break;
        }
        return true;
    }

    bool is_fetch() const { return out_.outcome == Outcome::miss || out_.outcome == Outcome::revalidate; }

    /// True when the request leaves Garner through peers, rather than directly to an accelerator's origin.
    bool goes_out() const {
        bool const closed = out_.of_connection && !out_.of_connection->allowed();
        return forwards() && !closed && has_peers();
    }

    /// Matches Sources::choose.
    void ask_peers(bool source_matters) {
        SourceQuestion const asked{.url = std::string(target_.url),
                                   .host = std::string(target_.uri.authority.host),
                                   .https = target_.uri.scheme == http::Scheme::https,
                                   .hierarchical = is_fetch() && is_hierarchical(request_, control_),
                                   .only_parents = is_fetch() && server_.cache().invalidations.must_pass_caches(target_.url),
                                   .destination = target_.literal,
                                   .source_matters = source_matters};
        out_.sources = explain_sources(server_, asked, facts_);
    }

    void look(bool source_matters) {
        look_for_name(target_.uri.authority.host);
        if (request_.method == Method::connect) return;
        cache::Cache const& cache = server_.cache();
        auto const collapse = collapse_of(request_, control_, out_.options->caching);
        out_.found =
            cache.peek({cache.key(target_.key_text), request_, control_, out_.now, collapse}, out_.bypass == http::Bypass::none);
        auto const& known = out_.found.object ? out_.found.object : out_.found.parts;
        if (!known) return;
        out_.stored_head.assign(known->head()).append("\r\n");
        http::read_stored_head(out_.stored_head, stored_);
        if (source_matters && out_.found.object) out_.of_source = permits(known->source());
        bool const reachable = !source_matters || permits(known->source()).allowed();
        if (!out_.found.object && reachable) look_for_rest(*known);
    }

    void look_for_name(std::string_view host) {
        if (target_.destination) return judge_address(*target_.destination);
        if (auto const literal = parse_ip(host)) return judge_address(*literal);
        std::string name;
        net::write_cached_form(host, name);
        out_.name_failure = server_.network().names().failure_of(name);
    }

    /// Matches RequestCheck::check_names: a login is asked for if an address needs one, and none is allowed without.
    void judge_address(IpAddress const& address) {
        auto const decision = permits(address);
        if (out_.of_connection && asks_for_login(*out_.of_connection) && !decision.allowed()) return;
        out_.of_connection = decision;
        out_.connection = address.text();
    }

    /// Matches Fetching::fetch and Storing::find_parts: a leader fetches the whole response, and of it only the missing bytes.
    void look_for_rest(store::Object const& parts) {
        auto const collapse = collapse_of(request_, control_, out_.options->caching);
        bool const leads = collapse == cache::Collapse::lead_and_follow && out_.found.kind == cache::Lookup::Kind::absent;
        auto const missing = lacks(parts, server_.cache().memory().object_max());
        if (!leads || !missing) return;
        auto const length = parts.body()->size();
        std::string const lines = http::ask_for_missing(stored_, {missing->first, missing->last}, length, out_.now);
        constexpr std::string_view name = "Range: ";
        out_.asks = lines.substr(name.size(), lines.find('\r') - name.size());
    }

    http::Decision permits(IpAddress const& address) const {
        return proxy::permits(*out_.options, *own_, target_, facts_, address);
    }

    void judge_rules() {
        auto const type = stored_.fields.first(Name::content_type);
        for (auto const& rule : out_.options->caching.rules)
            if (rule.applies(facts_, type)) out_.rules.push_back(&rule);
        out_.freshness = freshness_options(out_.options->caching, facts_, type);
    }

    void say(Outcome outcome, std::string why, std::uint16_t status = 0) {
        out_.outcome = outcome;
        out_.why = std::move(why);
        out_.status = status;
        out_.fwd = http::Fwd::none;
    }

    /// Answers from the store, including conditions and ranges. Matches Delivery::deliver.
    void say_stored(Outcome outcome, std::string why) {
        auto const& object = *out_.found.object;
        auto const length = object.length();
        auto status = object.status();
        if (http::answer_conditional(request_, stored_, object.terms(), out_.now) == http::Conditional::not_modified) {
            status = 304;
        } else if (length) {
            auto const kind = http::answer_range(request_, stored_, *length, out_.now).kind;
            if (kind == http::RangeKind::partial) status = 206;
            if (kind == http::RangeKind::unsatisfiable) status = 416;
        }
        say(outcome, std::move(why), status);
    }

    /// Follows the order of Transaction::run.
    void judge() {
        if (is_loop(request_, out_.options->via_name, out_.options->limits.max_hops))
            return say(Outcome::refused, "Via: the proxies form a loop", 508);
        if (is_refusals_page(target_, request_.method, *out_.options)) return say_own();
        if (is_internal(target_, *own_, out_.options->pac)) {
            auto const decision = out_.options->access.decide(facts_, target_.literal);
            return decision.denied() ? say(Outcome::denied, decision.text(), 403) : say_own();
        }
        if (asks_for_login(out_.access)) return say_login(out_.access);
        if (out_.access.denied()) return say(Outcome::denied, out_.access.text(), 403);
        if (out_.undecided() && name_fails()) return say_unresolved();
        bool const decides = out_.access.verdict == http::Decision::Verdict::needs_destination;
        if (decides && out_.of_connection && !out_.of_connection->allowed()) return say_closed();
        switch (before_lookup(request_.method, out_.bypass, [&] { return may_have_misses(out_.options->misses, facts_); })) {
        case Action::tunnel:
            if (!tunnel_refusal_.empty()) return say(Outcome::refused, tunnel_refusal_);
            return judge_asking(Outcome::tunnelled, why_tunnelled(out_.interception), http::Fwd::none);
        case Action::purge: return say(Outcome::refused, "PURGE removes objects and is never served from the cache");
        case Action::pass: return judge_passed(out_.bypass);
        case Action::refuse_misses: return say_misses_refused();
        default: break;
        }
        if (out_.of_source && asks_for_login(*out_.of_source)) return say_login(*out_.of_source);
        if (out_.of_source && !out_.of_source->allowed())
            return say(Outcome::denied, "address that the stored response came from: " + out_.of_source->text(), 403);
        judge_found();
    }

    void judge_passed(http::Bypass bypass) { judge_asking(Outcome::passed, text(bypass), why_forwarded(bypass)); }

    void say_own() { say(Outcome::own, "this proxy answers the request itself"); }

    void judge_found() {
        auto const& found = out_.found;
        auto const known = without_asking(found.kind, found.object.get(), request_, control_, out_.options->caching);
        auto const may = [&] { return may_have_misses(out_.options->misses, facts_); };
        auto const hears = [&] { return found.failure && is_told_of(*found.failure); };
        switch (after_lookup(known, found.follow != nullptr, may, hears)) {
        case Action::refresh:
        case Action::deliver: return judge_delivered(found.object->terms());
        case Action::deliver_offline: return say_stored(Outcome::stale, text(StaleUse::offline));
        case Action::pass: return judge_passed(http::Bypass::authorization);
        case Action::only_if_cached: return say(Outcome::refused, "only-if-cached, but no fresh response is stored", 504);
        case Action::refuse_misses: return say_misses_refused();
        case Action::tell_failure: return judge_failure(found.failure->failure);
        case Action::follow: return say(Outcome::collapsed, "another request is fetching it");
        default: return judge_origin();
        }
    }

    void judge_delivered(http::Terms const& terms) {
        auto const* overridden = rule_override(out_.reload_ignored, terms);
        std::string why = terms.negative ? "negative" : out_.found.answer.why();
        if (!out_.found.invalidated.empty()) why += ", " + out_.found.invalidated;
        auto const outcome = out_.found.answer.reuse == http::Reuse::fresh ? Outcome::hit : Outcome::stale;
        say_stored(outcome, *overridden ? std::string(overridden) : why);
    }

    /// A reload ignores a remembered failure of the name.
    bool name_fails() const { return out_.name_failure && !control_.is_reload(); }

    void say_unresolved() { say(Outcome::failed, "the name could not be resolved: " + out_.name_failure->names->failure, 502); }

    bool may_serve_stale() const {
        auto const& object = out_.found.object;
        return object && server_.cache().invalidations.may_serve_stale_on_error(*object, control_, out_.now,
                                                                                http::StaleOnErrorKind::unreachable);
    }

    void say_misses_refused() { say(Outcome::refused, "misses: this client may receive only stored objects", 504); }

    /// A failure of one client's request applies to that request. A question without fields asks about any request of that
    /// client.
    bool is_told_of(cache::KnownFailure const& failure) const {
        if (!hears_of(failure, request_, control_)) return false;
        if (!failure.only_for) return true;
        auto const& limits = out_.options->limits;
        auto const client = first_bits(question_.client, limits.client_prefix4, limits.client_prefix6);
        bool const any_fields = question_.fields.empty();
        return failure.only_for->client == client && (any_fields || failure.only_for->fields == fingerprint_of(request_.fields));
    }

    void judge_failure(cache::FetchFailure const& failure) {
        if (may_serve_stale()) return say_stored(Outcome::stale, text(StaleUse::unreachable_lately));
        say(Outcome::negative, failure.reason, failure.status);
    }

    void judge_origin() {
        auto const& found = out_.found;
        if (found.object && name_fails() && may_serve_stale()) return say_stored(Outcome::stale, text(StaleUse::unreachable));
        auto const fwd = out_.asks.empty() ? why_forwarded(found).fwd : http::Fwd::partial;
        if (!found.object) return judge_asking(Outcome::miss, why_missing(found, out_.rules), fwd);
        auto why = found.invalidated.empty() || fwd == http::Fwd::request ? std::string(found.answer.why()) : found.invalidated;
        if (found.answer.reason == http::ReuseReason::held_back) why += silent_voters(server_);
        judge_asking(Outcome::revalidate, why, fwd);
    }

    /// The access rules decide last, on the address that is connected to.
    void judge_asking(Outcome outcome, std::string why, http::Fwd fwd) {
        if (name_fails()) return say_unresolved();
        if (out_.of_connection && !out_.of_connection->allowed()) return say_closed();
        say(outcome, std::move(why));
        out_.fwd = fwd;
    }

    /// Matches RequestCheck::refuse_login: without a challenge there is nothing to ask for.
    void say_login(http::Decision const& decision) {
        if (!challenges(*server_.logins().sources()).empty()) return say(Outcome::login, "needs a login: " + decision.text(), 407);
        say(Outcome::denied, "needs a user, and no source of auth takes credentials: " + decision.text(), 403);
    }

    void say_closed() {
        if (asks_for_login(*out_.of_connection)) return say_login(*out_.of_connection);
        say(Outcome::denied, "connecting to the origin at " + out_.connection + ": " + out_.of_connection->text(), 403);
    }

    Server& server_;
    std::shared_ptr<http::OwnAddresses const> own_ = server_.own();
    ExplainQuestion const& question_;
    Explanation out_;
    http::Uri uri_;
    std::string text_;   // of the request; most views point into this text
    http::RequestHead request_;
    http::Framing framing_;
    http::RequestCacheControl control_;
    http::ResponseHead stored_;
    std::shared_ptr<FixedOrigin const> origin_;
    Target target_;
    Client client_;
    std::shared_ptr<http::Identity const> identity_;
    http::RuleRequest facts_;
    std::string tunnel_refusal_;   // after its ClientHello; empty: it is not refused
};

}   // namespace

std::string_view name_of(Outcome outcome) {
    switch (outcome) {
    case Outcome::hit: return "hit";
    case Outcome::stale: return "stale";
    case Outcome::revalidate: return "revalidate";
    case Outcome::collapsed: return "collapsed";
    case Outcome::miss: return "miss";
    case Outcome::negative: return "negative";
    case Outcome::failed: return "failed";
    case Outcome::passed: return "passed";
    case Outcome::tunnelled: return "tunnelled";
    case Outcome::login: return "login";
    case Outcome::refused: return "refused";
    case Outcome::denied: return "denied";
    case Outcome::own: return "own";
    }
    return "";
}

Explanation explain(Server& server, ExplainQuestion const& question) { return Explainer(server, question).run(); }

}   // namespace garner::proxy
