// What is fetched, and what becomes of the answer: kept, a freshened old one, passed on, or stale in its place.
#include "cache/parts.hpp"
#include "http/cacheability.hpp"
#include "http/gateway.hpp"
#include "http/invalidation.hpp"
#include "proxy/decision.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;

namespace {

bool has_conditions(http::RequestHead const& request) {
    return http::is_conditional(request.fields) || request.fields.has(Name::if_range);
}

cache::FetchFailure origin_answers(std::uint16_t status) {
    return {status, "The origin answers " + std::to_string(status) + "."};
}

}  // namespace

net::awaitable<void> Transaction::fetch(cache::FillLease lead, store::ObjectPtr stale) {
    counted_ = Answer::miss;
    hierarchical_ = true;
    // Beside the client's own conditions ours would ask another question.
    if (stale && cache::is_incomplete(*stale) && has_conditions(client_.head())) stale = nullptr;
    bool of_parts = stale && cache::is_incomplete(*stale);
    http::Validators validators;
    if (stale) {
        read_head_of(*stale);
        validators = http::validators_of(stored_head_);
    }
    conditional_ = !validators.empty() && client_.head().method == Method::get;
    if (!conditional_) validators = {};
    // Who leads wants the whole answer, for itself and for others. What is fetched beside others goes out as it came, so
    // that the client's own validators do their work where nothing is stored; so does the Range that stale parts answer.
    bool leads = lead && lead.leads_others();
    bool whole = !of_parts && (conditional_ || leads);
    widened_ = whole && client_.head().fields.has(Name::range);
    if (!stale && leads) co_await find_parts();
    // Registered before the origin is asked: a purge meanwhile must keep the answer from being stored. To a HEAD it can
    // only freshen.
    if (!lead && (stale || client_.head().method == Method::get)) lead = services_.cache.lease_alone(key_, stale);
    if (lead) led_ = lead.fill();
    if (!co_await ask_sources(validators, whole)) co_return co_await fetch_failed(std::move(lead), std::move(stale));
    co_await take_response(std::move(lead), std::move(stale));
}

net::awaitable<void> Transaction::pass(http::Bypass why) {
    using http::Bypass;
    counted_ = Answer::passed;
    services_.counters.passed.add(why);
    tag_ = ResultTag::tcp_miss;
    status_.fwd = why == Bypass::method             ? http::Fwd::method
                  : why == Bypass::no_store_request ? http::Fwd::request
                                                    : http::Fwd::bypass;
    say(text(why));
    // Registered before the origin is asked: a purge meanwhile must keep the answer from being stored.
    cache::FillLease lead;
    if (why == Bypass::method && client_.head().method == Method::post) lead = services_.cache.lease_alone(key_, nullptr);
    http::Validators unconditional;
    store::ObjectPtr none;
    if (!co_await ask_sources(unconditional, false)) {
        if (went_out_ && sent_whole() && http::invalidates(client_.head().method, std::nullopt))
            purge_changed(key_, target_.url, nullptr);
        co_return co_await answer_failure(std::move(lead), std::move(none));
    }
    if (exchange_->head().status == 101) co_return co_await switch_protocols();
    if (invalidate(lead.fill().get())) co_await outlives(store::DiskStore::Survives::process);
    if (lead && sent_whole() && http::represents_target(exchange_->head(), target_.uri))
        co_return co_await take_response(std::move(lead), std::move(none));
    lead.drop();
    co_await stream_through(text(why));
}

/// RFC 9111 4.4. `own`: the fetch that brought the answer. True when something was there.
bool Transaction::invalidate(cache::Fill const* own) {
    auto const& response = exchange_->head();
    if (!http::invalidates(client_.head().method, response.status)) return false;
    bool found = purge_changed(key_, target_.url, own);
    for (auto const& url : http::also_invalidated(response, target_.uri)) {
        std::string text;
        cache::write_key_text(target_.partition(), url, text);
        found |= purge_changed(services_.cache.key(text), url, own);
    }
    return found;
}

/// The mark is set before the purge: the purge also removes an old answer that a peer gave until then.
bool Transaction::purge_changed(cache::Key const& key, std::string const& url, cache::Fill const* own) {
    if (services_.agent && !target_.accelerated) services_.agent->tell_changed(url);
    return services_.cache.purge(key, own);
}

net::awaitable<void> Transaction::take_response(cache::FillLease lead, store::ObjectPtr stale) {
    auto const& response = exchange_->head();
    if (response.status == 101) {
        failed(502, "The origin switches protocols, and nobody asked it to.", Fault::answer);
        co_return co_await fetch_failed(std::move(lead), std::move(stale));
    }
    if (response.status == 304 && !conditional_ && !http::is_conditional(client_.head().fields)) {
        failed(502, "The origin answers 304 to a request without conditions.", Fault::answer);
        co_return co_await fetch_failed(std::move(lead), std::move(stale));
    }
    if (!http::is_stale_if_error_status(response.status)) services_.cache.failures().forget(key_, steady_now());
    auto parts = std::exchange(parts_, nullptr);
    if (parts) {
        if (completes(*parts)) co_return co_await complete(std::move(lead), std::move(parts));
        bool of_range = response.status == 206 || response.status == 416;
        if (of_range) co_return co_await ask_again(std::move(lead), std::move(stale));
    }
    if (stale && conditional_ && response.status == 304) {
        if (http::is_about(response, stored_head_)) co_return co_await freshen(std::move(lead), std::move(stale));
        co_return co_await ask_again(std::move(lead), std::move(stale));
    }
    if (stale && http::is_stale_if_error_status(response.status) &&
        http::may_serve_stale_on_error(stale->terms(), control_, wall_now(), http::StaleOnErrorKind::error_status)) {
        tell_of_error(std::move(lead));
        finish_exchange();
        co_return co_await serve_stale(std::move(stale), StaleUse::if_error);
    }
    bool const is_head = client_.head().method == Method::head && response.status == 200;
    if (is_head) tell_fetches(response, lead.fill().get());
    if (stale && is_head)
        co_return co_await take_head(std::move(lead), std::move(stale));
    if (stale) {
        counted_ = Answer::refreshed;
        tag_ = ResultTag::tcp_refresh_modified;
    }
    auto control = http::parse_response_cache_control(response.fields, freshness_options({}).targeted);
    using http::StoreRefusal;
    auto why = why_not_stored(response, control, http::Storing::answer);
    if (why == StoreRefusal::none && !lead) why = StoreRefusal::method;
    store::BodyPtr nothing_yet;
    if (why == StoreRefusal::none)
        co_return co_await store_response(std::move(lead), response, control, std::move(nothing_yet));
    auto const* known = stale ? stale.get() : parts.get();
    keep_nothing(std::move(lead), known, control, why);
    if (known) co_await outlives(store::DiskStore::Survives::process);
    if (widened_ && response.status == 200) co_return co_await ask_for_range();
    co_await stream_through(text(why));
}

/// The answer is for this client alone: those who wait for it hear so, and what it shows to be over goes.
void Transaction::keep_nothing(cache::FillLease lead, store::Object const* known,
                               http::ResponseCacheControl const& control, http::StoreRefusal why) {
    auto const& response = exchange_->head();
    services_.counters.not_stored.add(why);
    // The followers must not each ask an origin that is in trouble. RFC 9111 4.3.3 says so of those of a validation.
    bool in_trouble = lead && http::is_stale_if_error_status(response.status);
    if (in_trouble) {
        tell_of_error(std::move(lead));
    } else if (lead) {
        lead.refuse(text(why));
    }
    if (known && http::supersedes(client_.head(), response, control)) services_.cache.forget(key_, *known);
}

/// Followers are told of an error that two clients have met; until then the next follower leads, since this client's own
/// request may have caused the error.
void Transaction::tell_of_error(cache::FillLease lead) {
    if (!lead) return;
    auto failure = origin_answers(exchange_->head().status);
    if (remember_error(*lead.fill(), failure))
        lead.fail(std::move(failure));
    else
        lead.fail_alone(std::move(failure), witness());
}

/// Only while others wait: a single client that asks again may be answered by an origin that has recovered. True when the
/// followers are told.
bool Transaction::remember_error(cache::Fill const& fill, cache::FetchFailure const& failure) {
    constexpr milliseconds lasts{1'000};
    auto const& fields = client_.head().fields;
    bool const is_own = fields.has(Name::authorization) || fields.has(Name::range) || reloads();
    if (fill.stale() || fill.followers() == 0 || is_own) return false;
    auto terms = negative_terms();
    terms.first = terms.most = std::min(terms.most, lasts);
    bool const of_head_only = client_.head().method == Method::head;
    return services_.cache.remember_failure(fill, key_, failure, of_head_only, terms, witness());
}

/// As far as the head tells.
http::StoreRefusal Transaction::why_not_stored(http::ResponseHead const& response,
                                               http::ResponseCacheControl const& control,
                                               http::Storing what) const {
    auto content_type = response.fields.first(Name::content_type);
    auto freshness = freshness_options(content_type);
    http::StoreOptions how;
    how.set_cookie = options_->caching.store_set_cookie;
    how.keeps_errors = freshness.negative_ttl.value_or(0) > 0;
    how.has_own_ttl = freshness.default_ttl > 0 || freshness.min_ttl > 0;
    how.combinable = is_combinable(response);
    how.what = what;
    bool const passes_gateway = !drops_gateway_fields(*options_, target_.accelerated, client_.peer().address);
    how.overrides_method = passes_gateway && http::has_method_override(client_.head().fields);
    how.represents_target = client_.head().method == Method::post && http::represents_target(response, target_.uri);
    auto refusal = http::why_not_store(client_.head(), control_, response, control, how);
    if (refusal != http::StoreRefusal::none) return refusal;
    if (vary_of(response).star) return http::StoreRefusal::vary_too_long;   // with what is added to its Vary
    if (what == http::Storing::answer && is_too_large()) return http::StoreRefusal::too_large;
    if (source().peer && source().peer->options.proxy_only) return http::StoreRefusal::proxy_only;
    bool never = rule_forbids_storing(options_->caching, rule_request(), content_type);
    return never ? http::StoreRefusal::by_rule : http::StoreRefusal::none;
}

bool Transaction::is_too_large() const {
    auto const& framing = exchange_->framing();
    return framing.kind == http::Framing::Kind::length && framing.length > services_.cache.longest_body();
}

http::FreshnessOptions Transaction::freshness_options(std::string_view content_type) const {
    auto freshness = proxy::freshness_options(options_->caching, rule_request(), content_type);
    // RFC 9213 2.2: who is the target is the operator's to say, and by default this proxy is none.
    freshness.targeted = targeted_;
    return freshness;
}

/// RFC 9111 4.3.3: the answer is about another response than ours. The request is repeated without our conditions.
net::awaitable<void> Transaction::ask_again(cache::FillLease lead, store::ObjectPtr stale) {
    finish_exchange();
    conditional_ = false;
    http::Validators none;
    bool whole = !stale || !cache::is_incomplete(*stale);
    if (!co_await ask_sources(none, whole)) co_return co_await fetch_failed(std::move(lead), std::move(stale));
    co_await take_response(std::move(lead), std::move(stale));
}

}  // namespace garner::proxy
