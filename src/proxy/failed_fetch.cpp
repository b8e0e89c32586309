#include "proxy/failed_fetch.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;

bool FailedFetch::is_remembered() {
    auto& failures = request_.services.cache.memory().failures();
    if (failures.empty()) return false;
    auto known = failures.find(request_.key, steady_now(), witness());
    if (!known || !hears_of(*known, request_.head(), request_.control)) return false;
    failure_ = {std::move(known->failure), FailureCause::none};
    own_ = known->only_for.has_value();
    remembered_for_ = known->left;
    return true;
}

net::awaitable<Step> FailedFetch::answer_known() {
    tell_followers();
    if (may_serve_stale()) co_return serve_stale(StaleUse::unreachable_lately);
    note_held_back();
    auto& record = request_.record;
    record.answer = Answer::negative;
    record.tag = ResultTag::tcp_negative_hit;
    auto const left = std::chrono::ceil<seconds>(remembered_for_).count();
    record.cache_status.hit = true;
    record.cache_status.fwd = http::Fwd::none;
    record.cache_status.ttl = left;
    record.texts.reason = failure_.told.reason;
    auto const retry = "Retry-After: " + std::to_string(left) + "\r\n";
    co_await writer_.error(failure_.told.status, failure_.told.reason, "negative", failure_.told.kind, retry);
    co_return Step::done;
}

net::awaitable<Step> FailedFetch::answer(cache::FetchFailure failure, bool own) {
    failure_ = {std::move(failure), FailureCause::none};
    own_ = own;
    co_return co_await answer();
}

net::awaitable<Step> FailedFetch::answer() {
    if (failure_.told.reason.empty()) failure_ = upstream_.failure();
    co_await upstream_.upload().join();
    upstream_.drop_exchange();   // the origin sees at once that the request was given up
    bool const forbidden = failure_.told.status == 403;
    bool const over_quota = failure_.is_over_quota();
    bool const refused = failure_.is_refusal() || over_quota || failure_.is_over_limit();
    request_.close = request_.close || forbidden;   // a client that gets nothing keeps no connection
    tell_followers();
    if (request_.client_gone || request_.aborted) {
        request_.close = true;
        co_return Step::done;
    }
    if (forbidden || over_quota || failure_.is_over_limit()) note_no_source();
    if (!refused) request_.services.counters.origin_failures.add();
    if (!failure_.is_refusal() && may_serve_stale()) co_return serve_stale(StaleUse::unreachable);
    auto& record = request_.record;
    if (!refused) {
        note_held_back();
        note_stored_copy();
    }
    record.answer = refused ? Answer::refused : Answer::failed;
    record.tag = refused ? ResultTag::tcp_denied : state_.stale ? ResultTag::tcp_refresh_fail_err : ResultTag::tcp_miss;
    record.cache_status.ttl.reset();
    record.texts.reason = failure_.told.reason;
    co_await writer_.error(failure_.told.status, failure_.told.reason, decisive_rule(), failure_.told.kind, failure_.fields);
    co_return Step::done;
}

/// The rule or cause that decided, for Cache-Status and the error page.
std::string_view FailedFetch::decisive_rule() const {
    if (failure_.is_over_limit()) return failure_.limit;
    switch (failure_.told.status) {
    case 400:
    case 408: return "request body";
    case 403: return request_.record.texts.rule;
    case 407: return "peers[].login";
    case 429: return "quotas";
    default: return decided_by(failure_.cause);
    }
}

/// A rule forbade the connection: no source was asked, except for a peer that came before.
void FailedFetch::note_no_source() {
    auto& record = request_.record;
    record.hierarchy = Hierarchy::none;
    record.texts.source.clear();
    record.cache_status.source = {};
    if (!upstream_.went_out()) record.cache_status.fwd = http::Fwd::none;
}

/// The origin's failures are passed on to the followers. The next follower leads instead in three cases: the client
/// disconnected; this client has no right to the response or no seat for a connection, which the next one may have; or this
/// client's own request may have caused the failure and no other client has met it.
void FailedFetch::tell_followers() {
    auto lead = std::move(state_.lead);
    bool const left = (request_.client_gone || request_.aborted) && failure_.cause == FailureCause::none;
    if (left || failure_.is_refusal() || failure_.is_over_quota() || failure_.is_over_limit())
        lead.drop();
    else if (own_)
        lead.fail_alone(failure_.told, witness());
    else
        lead.fail(failure_.told);
}

bool FailedFetch::may_serve_stale() const {
    auto const kind = http::StaleOnErrorKind::unreachable;
    auto const& invalidations = request_.services.cache.invalidations;
    return state_.stale && invalidations.may_serve_stale_on_error(*state_.stale, request_.control, wall_now(), kind);
}

/// The client's own directives keep it from the stored response.
void FailedFetch::note_stored_copy() {
    if (!state_.stale) return;
    auto const& invalidations = request_.services.cache.invalidations;
    auto const now = wall_now();
    http::RequestCacheControl const none;
    bool const is_fresh = invalidations.may_reuse(*state_.stale, state_.stale->terms(), none, now).reuse == http::Reuse::fresh;
    auto const kind = http::StaleOnErrorKind::unreachable;
    if (!is_fresh && !invalidations.may_serve_stale_on_error(*state_.stale, none, now, kind)) return;
    failure_.told.reason.append(failure_.told.reason.ends_with('.') ? "" : ".")
        .append(" A stored copy exists: a request without Cache-Control and Pragma gets it.");
}

/// The stored response must be validated, and cannot be: 504, as for must-revalidate (RFC 9111 5.2.2.2).
void FailedFetch::note_held_back() {
    auto const& invalidations = request_.services.cache.invalidations;
    if (!state_.stale || !invalidations.holds_back(*state_.stale)) return;
    auto& told = failure_.told;
    told.status = 504;
    if (told.reason.ends_with('.')) told.reason.pop_back();
    told.reason.append(". The stored response is not used: ")
        .append(invalidations.lease.is_current() ? http::text(http::ReuseReason::invalidated_watermark)
                                                 : http::text(http::ReuseReason::held_back))
        .append(".");
}

Step FailedFetch::serve_stale(StaleUse why) {
    if (request_.client.is_absent()) return Step::done;
    auto& record = request_.record;
    request_.services.counters.stale_used.add(why);
    record.answer = Answer::stale;
    record.tag = ResultTag::tcp_refresh_fail_old;
    record.cache_status.hit = true;
    record.cache_status.fwd = http::Fwd::none;
    request_.now = wall_now();
    auto const& invalidations = request_.services.cache.invalidations;
    record.cache_status.ttl = invalidations.may_reuse(*state_.stale, state_.stale->terms(), {}, request_.now).ttl;
    record.say(text(why));
    state_.object = std::move(state_.stale);
    return Step::deliver;
}

/// The client's own credentials or range may have caused the error. A reload would renew a remembered failure without end.
bool FailedFetch::is_never_shared() const {
    auto const& fields = request_.head().fields;
    return fields.has(Name::authorization) || fields.has(Name::range) || request_.reloads();
}

void FailedFetch::remember(cache::Fill const* fill) {
    failure_ = upstream_.failure();
    if (failure_.cause == FailureCause::none || failure_.cause == FailureCause::name || request_.aborted) return;
    // Only one address was tried.
    if (request_.intercepted_origin && failure_.cause == FailureCause::connection) return;
    bool const by_request = failure_.cause == FailureCause::answer;
    own_ = by_request;
    if (by_request && is_never_shared()) return;
    auto const& told = failure_.told;
    bool const waited = told.status == 504;
    // A long poll that got nothing asks again. With a stale object, the next client is better served at once than after the same wait.
    if (by_request && waited && !state_.stale) return;
    bool const of_head_only = by_request && request_.head().method == Method::head;
    std::optional<cache::Witness> by;
    if (by_request) by = witness();
    auto& failures = request_.services.cache.memory().failures();
    auto terms = negative_terms();
    // A refused connection costs one round trip, and the server may listen a moment later: only waits are worth a longer time. Two
    // clients that provoke a failure repeatedly must not extend its time.
    if (by_request || !waited) terms.most = std::min(terms.first, terms.most);
    bool const shared = fill ? fill->remember_failure(told, of_head_only, terms, by)
                             : failures.remember(request_.key, told, of_head_only, terms, steady_now(), by);
    own_ = !shared;
}

cache::NegativeTerms FailedFetch::negative_terms() const {
    auto const& caching = request_.options->caching;
    cache::NegativeTerms terms{caching.negative_first, caching.negative_ttl};
    auto const facts = request_.facts();
    for (auto const& rule : caching.rules) {
        if (!rule.negative_ttl || !rule.applies(facts, {})) continue;
        terms.most = *rule.negative_ttl;
        break;
    }
    if (!caching.negative_backoff) terms.first = terms.most;
    return terms;
}

/// The next follower leads until two clients have met the error, because this client's own request may have caused it.
void FailedFetch::tell_of_error() {
    auto lead = std::move(state_.lead);
    if (!lead) return;
    auto const status = upstream_.head().status;
    auto const told = "The origin responded with " + std::to_string(status) + ".";
    cache::FetchFailure failure{status, told, cache::FailureKind::origin_error};
    if (remember_error(*lead.fill(), failure))
        lead.fail(std::move(failure));
    else
        lead.fail_alone(std::move(failure), witness());
}

/// Remembers nothing without followers: the origin may have recovered when a single client retries. True when the followers
/// are told.
bool FailedFetch::remember_error(cache::Fill const& fill, cache::FetchFailure const& failure) {
    constexpr milliseconds lasts{1'000};
    if (fill.stale() || fill.followers() == 0 || is_never_shared()) return false;
    auto terms = negative_terms();
    terms.first = terms.most = std::min(terms.most, lasts);
    bool const of_head_only = request_.head().method == Method::head;
    return fill.remember_failure(failure, of_head_only, terms, witness());
}

}   // namespace garner::proxy
