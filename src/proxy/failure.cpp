// Fetches that failed: what their clients get, what is remembered, and what later requests are told instead of asking again.

#include "proxy/decision.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;

/// A client that asks for the newest wants no old failure either.
bool Transaction::reloads() const { return control_.is_reload(); }

/// True when the last fetch failed so lately that the origin is not asked again; failure_ is its failure then.
bool Transaction::failed_lately() {
    auto& failures = services_.cache.failures();
    if (failures.empty()) return false;
    auto known = failures.find(key_, steady_now(), witness());
    if (!known || !hears_of(*known, client_.head(), control_)) return false;
    failure_ = std::move(known->failure);
    own_failure_ = known->only_for.has_value();
    failure_left_ = known->left;
    return true;
}

net::awaitable<void> Transaction::answer_known_failure(cache::FillLease lead, store::ObjectPtr stale) {
    tell_followers(std::move(lead));
    if (stale && http::may_serve_stale_on_error(stale->terms(), control_, wall_now(), http::StaleOnErrorKind::unreachable))
        co_return co_await serve_stale(std::move(stale), StaleUse::unreachable_lately);
    counted_ = Answer::negative;
    tag_ = ResultTag::tcp_negative_hit;
    auto left = std::chrono::ceil<seconds>(failure_left_).count();
    status_.hit = true;
    status_.fwd = http::Fwd::none;
    status_.ttl = left;
    reason_ = failure_.reason;
    auto retry = "Retry-After: " + std::to_string(left) + "\r\n";
    co_await error(failure_.status, failure_.reason, "negative", retry);
}

/// The cause of an error, as Cache-Status and the page name it; empty where it is this proxy itself.
std::string_view Transaction::decided_by(Fault fault) {
    switch (fault) {
    case Fault::nobodys: return "";
    case Fault::name: return "DNS";
    case Fault::connection: return "connection";
    case Fault::answer: return "origin";
    }
    return "";
}

net::awaitable<void> Transaction::answer_failure(cache::FillLease lead, store::ObjectPtr stale) {
    co_await join_upload();
    drop_exchange();   // the origin hears at once that nobody waits any more
    if (client_gone_ || aborted_) {
        close_ = true;
        tell_followers(std::move(lead));
        co_return;
    }
    bool forbidden = failure_.status == 403;
    close_ = close_ || forbidden;   // a client that gets nothing keeps no connection
    tell_followers(std::move(lead));
    services_.counters.origin_failures.add();
    auto error_kind = http::StaleOnErrorKind::unreachable;
    if (stale && !forbidden && http::may_serve_stale_on_error(stale->terms(), control_, wall_now(), error_kind))
        co_return co_await serve_stale(std::move(stale), StaleUse::unreachable);
    counted_ = forbidden ? Answer::refused : Answer::failed;
    tag_ = forbidden ? ResultTag::tcp_denied : stale ? ResultTag::tcp_refresh_fail_err : ResultTag::tcp_miss;
    status_.ttl.reset();
    reason_ = failure_.reason;
    auto what = failure_.reason;
    bool by_client = failure_.status == 400 || failure_.status == 408;
    std::string_view rule = decided_by(fault_);
    if (by_client) rule = "request body";
    if (forbidden) rule = rule_text_;
    co_await error(failure_.status, what, rule);
}

/// Followers are told of the origin's failures. The next follower leads instead where the client left, where the rules forbid
/// this client what they may allow the next one, and where this client's own request may have caused the failure and no other
/// client has met it.
void Transaction::tell_followers(cache::FillLease lead) {
    bool const left = (client_gone_ || aborted_) && fault_ == Fault::nobodys;
    if (left || failure_.status == 403)
        lead.drop();
    else if (own_failure_)
        lead.fail_alone(failure_, witness());
    else
        lead.fail(failure_);
}

net::awaitable<void> Transaction::serve_stale(store::ObjectPtr stale, StaleUse why) {
    if (client_.nobody()) co_return;
    services_.counters.stale_used.add(why);
    counted_ = Answer::stale;
    tag_ = ResultTag::tcp_refresh_fail_old;
    status_.hit = true;
    status_.fwd = http::Fwd::none;
    now_ = wall_now();
    status_.ttl = std::int64_t{stale->terms().lifetime} - http::current_age(stale->terms(), now_);
    say(text(why));
    co_await deliver(std::move(stale), nullptr);
}

net::awaitable<void> Transaction::fetch_failed(cache::FillLease lead, store::ObjectPtr stale) {
    beside_.drop();
    remember_failure(lead.fill().get());
    co_await answer_failure(std::move(lead), std::move(stale));
}

void Transaction::remember_failure(cache::Fill const* fill) {
    if (fault_ == Fault::nobodys || fault_ == Fault::name || aborted_) return;
    auto const& request = client_.head();
    bool by_request = fault_ == Fault::answer;
    own_failure_ = by_request;
    // Their own credentials or ranges may be what the origin cannot take; and a reload would keep a failure alive for ever.
    bool const never = request.fields.has(Name::authorization) || request.fields.has(Name::range) || reloads();
    if (by_request && never) return;
    bool of_head_only = by_request && request.method == Method::head;
    std::optional<cache::Witness> by;
    if (by_request) by = witness();
    bool shared = true;
    if (fill)
        shared = services_.cache.remember_failure(*fill, key_, failure_, of_head_only, negative_terms(), by);
    else
        shared = services_.cache.failures().remember(key_, failure_, of_head_only, negative_terms(), steady_now(), by);
    own_failure_ = !shared;
}

cache::Witness Transaction::witness() const { return {client_network(), fingerprint_of(client_.head().fields)}; }

cache::NegativeTerms Transaction::negative_terms() const {
    cache::NegativeTerms terms{options_->caching.negative_first, options_->caching.negative_ttl};
    auto facts = rule_request();
    for (auto const& rule : options_->caching.rules) {
        if (!rule.negative_ttl || !rule.applies(facts, {})) continue;
        terms.most = *rule.negative_ttl;
        break;
    }
    if (!options_->caching.negative_backoff) terms.first = terms.most;
    return terms;
}

}  // namespace garner::proxy
