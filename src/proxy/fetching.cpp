#include "proxy/fetching.hpp"

#include "cache/parts.hpp"
#include "group/group.hpp"
#include "http/unsafe_method.hpp"
#include "http/tags.hpp"
#include "proxy/websocket.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;
using http::StoreRefusal;

namespace {

constexpr char const* unrequested_switch = "The origin responded with 101 to a request without Upgrade.";

bool has_conditions(http::RequestHead const& request) {
    return http::is_conditional(request.fields) || request.fields.has(Name::if_range);
}

}   // namespace

// ---- without the cache ----

net::awaitable<Step> Fetching::pass() {
    auto const why = state_.bypass;
    auto& record = request_.record;
    record.answer = Answer::passed;
    request_.services.counters.passed.add(why);
    record.tag = ResultTag::tcp_miss;
    record.cache_status.fwd = why_forwarded(why);
    record.say(text(why));
    // Registered before the origin is asked: a purge during the fetch must keep the response from being stored.
    if (why == http::Bypass::method && request_.head().method == Method::post)
        state_.lead = request_.services.cache.lease(request_.key, nullptr);
    if (!co_await upstream_.ask(state_.changes)) {
        bool const may_have_changed = upstream_.went_out() && upstream_.upload().sent_whole();
        if (may_have_changed && request_.target.may_use_store() && http::invalidates(request_.head().method, std::nullopt))
            purge_changed(request_.key, request_.target.url);
        co_return co_await failed_.answer();
    }
    if (upstream_.head().status == 101) {
        char const* const refusal = fault_of_switch();
        if (!refusal) {
            co_await tunnel_.switch_protocols();
            co_return Step::done;
        }
        upstream_.fail(502, refusal, cache::FailureKind::invalid, FailureCause::answer);
        co_return co_await failed_.answer();
    }
    if (invalidate()) co_await request_.outlives(store::Survives::process);
    if (state_.lead && upstream_.upload().sent_whole() && http::represents_target(upstream_.head(), request_.target.uri))
        co_return take();
    state_.lead.drop();
    state_.why_not_stored = text(why);
    co_return Step::stream;
}

/// Null if the protocol may be switched after this 101.
char const* Fetching::fault_of_switch() const {
    if (!request_.wants_upgrade()) return unrequested_switch;
    return request_.client.client()->http2 ? fault_of_websocket(request_.head(), upstream_.head()) : nullptr;
}

/// RFC 9111 4.4. True when an object was removed.
bool Fetching::invalidate() {
    if (!request_.target.may_use_store()) return false;   // the response may be another origin's
    auto const& response = upstream_.head();
    if (!http::invalidates(request_.head().method, response.status)) return false;
    bool found = purge_changed(request_.key, request_.target.url);
    for (auto const& url : http::also_invalidated(response, request_.target.uri)) {
        std::string text;
        cache::write_key_text(request_.target.partition(), url, text);
        found |= purge_changed(request_.services.cache.key(text), url);
    }
    return invalidate_groups() || found;
}

/// RFC 9875 3: groups of the origin of the request's target.
bool Fetching::invalidate_groups() {
    if (!request_.options->group.unsafe) return false;
    auto const groups = http::invalidated_groups(upstream_.head());
    for (auto const& group : groups)
        if (auto const what = cache::tag_invalidation(group, request_.target.url, false)) invalidate_here_and_in_group(*what);
    return !groups.empty();
}

/// The client does not wait for the group.
void Fetching::invalidate_here_and_in_group(cache::Invalidation const& what) {
    auto& services = request_.services;
    if (services.group)
        services.group->submit(what);
    else
        services.cache.invalidate(what);
}

/// The mark is set before the purge: the purge also removes an old response that a peer gave before the mark.
bool Fetching::purge_changed(cache::Key const& key, std::string_view url) {
    auto& services = request_.services;
    if (services.agent && !request_.target.accelerated) services.agent->tell_changed(std::string(url));
    bool const found = services.cache.purge(key, state_.lead.fill().get());
    if (services.group && services.cache.invalidations.covers_url(url))
        services.group->submit({.kind = cache::Invalidation::Kind::url, .soft = false, .origin = {}, .text = std::string(url)});
    return found;
}

// ---- for the cache ----

net::awaitable<Step> Fetching::fetch() {
    request_.record.answer = Answer::miss;
    set_conditions();
    auto& lead = state_.lead;
    // Registered before the origin is asked: a purge during the fetch must keep the response from being stored. A response
    // to HEAD can only freshen a stored object.
    if (!lead && (state_.stale || request_.head().method == Method::get))
        lead = request_.services.cache.lease(request_.key, state_.stale);
    if (lead) request_.led = lead.fill();
    note_passing();
    upstream_.sources().ask_who_has_it();
    bool const wants_all = !state_.stale && lead && lead.fill()->leads_others();
    if (wants_all && !storing_.find_parts() && request_.services.cache.disk()) co_await storing_.find_parts_on_disk();
    bool const answered = co_await upstream_.ask(state_.changes);
    co_return answered ? take() : Step::fail;
}

/// Call it after the lease was taken. An invalidation that this does not see has a higher number than the lease, so that the
/// response is not stored. In the other order, a parent that has not heard of the invalidation could give an old response that
/// counts as new.
void Fetching::note_passing() {
    request_.passes_caches = request_.services.cache.invalidations.must_pass_caches(request_.target.url);
}

void Fetching::set_conditions() {
    auto const& head = request_.head();
    // Own conditions together with the client's would change the meaning of the request.
    if (state_.stale && cache::is_incomplete(*state_.stale) && has_conditions(head)) state_.stale = nullptr;
    bool const of_parts = state_.stale && cache::is_incomplete(*state_.stale);
    auto& changes = state_.changes;
    if (state_.stale) {
        request_.scratch.read_head_of(*state_.stale);
        changes.validators = http::validators_of(request_.scratch.stored_head);
    }
    state_.conditional = !changes.validators.empty() && head.method == Method::get;
    if (!state_.conditional) changes.validators = {};
    // A leader needs the whole response, for itself and for its followers. A request that fetches in parallel is sent
    // unchanged, so that the client's own validators work where nothing is stored. A Range that stale parts answer is also
    // sent unchanged.
    bool const leads = state_.lead && state_.lead.fill()->leads_others();
    changes.strip_conditions = !of_parts && (state_.conditional || leads);
    state_.widened = changes.strip_conditions && head.fields.has(Name::range);
}

net::awaitable<Step> Fetching::ask() {
    note_passing();
    bool const answered = co_await upstream_.ask(state_.changes);
    co_return answered ? take() : Step::fail;
}

net::awaitable<Step> Fetching::ask_again() {
    upstream_.finish_exchange();
    state_.conditional = false;
    state_.changes = {};
    state_.changes.strip_conditions = !state_.stale || !cache::is_incomplete(*state_.stale);
    return ask();
}

/// The whole was requested for storing, and the response cannot be stored: asks again for the client's range only.
Step Fetching::ask_for_range() {
    upstream_.finish_exchange();
    state_.widened = state_.conditional = false;
    state_.changes = {};
    state_.stale = nullptr;
    state_.lead = request_.services.cache.lease(request_.key, nullptr);
    return Step::ask;
}

// ---- processing the response ----

Step Fetching::take() {
    auto const& response = upstream_.head();
    if (is_nonsense()) return Step::fail;
    auto& failures = request_.services.cache.memory().failures();
    if (!http::is_stale_if_error_status(response.status) && !failures.empty()) failures.forget(request_.key, steady_now());
    state_.changes.range_lines.clear();
    if (state_.parts && storing_.completes(*state_.parts)) return Step::complete;
    auto const parts = std::exchange(state_.parts, nullptr);
    if (parts && (response.status == 206 || response.status == 416)) return Step::ask_again;
    if (state_.stale && state_.conditional && response.status == 304)
        return http::is_about(response, request_.scratch.stored_head) && !is_outdated_since() ? Step::freshen : Step::ask_again;
    if (stale_stands_in()) {
        failed_.tell_of_error();
        upstream_.finish_exchange();
        return failed_.serve_stale(StaleUse::if_error);
    }
    bool const is_head = request_.head().method == Method::head && response.status == 200;
    if (is_head) storing_.tell_fetches(response, state_.lead.fill().get());
    if (state_.stale && is_head) return Step::take_head;
    return take_new(parts.get());
}

/// A response that is invalid for any request of this kind.
bool Fetching::is_nonsense() {
    auto const status = upstream_.head().status;
    if (status == 101)
        upstream_.fail(502, unrequested_switch, cache::FailureKind::invalid, FailureCause::answer);
    else if (status == 304 && !state_.conditional && !http::is_conditional(request_.head().fields))
        upstream_.fail(502, "The origin responded with 304 to a request without preconditions.", cache::FailureKind::invalid,
                       FailureCause::answer);
    else
        return false;
    return true;
}

/// The stored response was invalidated after the request was sent: a 304 says nothing about the time since. After a hard
/// invalidation no 304 is sufficient.
bool Fetching::is_outdated_since() const {
    auto const& invalidations = request_.services.cache.invalidations;
    auto const asked = state_.lead ? state_.lead.fill()->asked() : state_.stale->sequence();
    return invalidations.judge(*state_.stale, asked) || invalidations.judge(*state_.stale).is_hard();
}

/// RFC 5861 4.
bool Fetching::stale_stands_in() const {
    auto const kind = http::StaleOnErrorKind::error_status;
    return state_.stale && http::is_stale_if_error_status(upstream_.head().status) &&
           request_.services.cache.invalidations.may_serve_stale_on_error(*state_.stale, request_.control, wall_now(), kind);
}

Step Fetching::take_new(store::Object const* parts) {
    auto const& response = upstream_.head();
    if (state_.stale) {
        request_.record.answer = Answer::refreshed;
        request_.record.tag = ResultTag::tcp_refresh_modified;
    }
    auto const& control =
        state_.control.emplace(http::parse_response_cache_control(response.fields, request_.freshness_options({}).targeted));
    auto why = storing_.why_not_stored(response, control, http::StoredAs::answer);
    if (is_provoked(why)) return take_provoked(control);
    if (why == StoreRefusal::none && !state_.lead) why = StoreRefusal::method;
    if (why == StoreRefusal::none) return Step::store;
    state_.why_not_stored = text(why);
    auto const* known = state_.stale ? state_.stale.get() : parts;
    store_nothing(known, control, why);
    return known ? Step::await_removal : pass_on();
}

/// True if the client asked for more than a stored response, and the origin's response would replace it by an error or a redirect.
/// Another field of the request may be the cause.
bool Fetching::is_provoked(StoreRefusal why) const {
    auto const& response = upstream_.head();
    bool const is_good = response.status >= 200 && response.status < 300;
    bool const replaces = why == StoreRefusal::none || http::supersedes(request_.head(), response, *state_.control);
    return state_.stale && request_.record.cache_status.fwd == http::Fwd::request && !is_good && replaces;
}

/// Other clients do not get it. The next request without such a directive asks the origin again, and decides what is stored: a page
/// that is gone, too.
Step Fetching::take_provoked(http::ResponseCacheControl const& control) {
    constexpr auto why = StoreRefusal::status;
    state_.why_not_stored = "provoked by a reload";
    bool const has_followers = state_.lead && state_.lead.fill()->leads_others();
    if (has_followers || !state_.lead) {
        store_nothing(state_.stale.get(), control, why);
        return Step::await_removal;
    }
    request_.services.counters.not_stored.add(why);
    storing_.outdate(std::move(state_.stale));
    return Step::stream;
}

net::awaitable<Step> Fetching::await_removal() {
    co_await request_.outlives(store::Survives::process);
    co_return pass_on();
}

Step Fetching::pass_on() { return state_.widened && upstream_.head().status == 200 ? ask_for_range() : Step::stream; }

/// The response is for this client only: the followers are told, and a superseded object is removed.
void Fetching::store_nothing(store::Object const* known, http::ResponseCacheControl const& control, StoreRefusal why) {
    auto const& response = upstream_.head();
    request_.services.counters.not_stored.add(why);
    // Followers must not each ask an origin that fails. RFC 9111 4.3.3 requires this for a validation.
    if (http::is_stale_if_error_status(response.status))
        failed_.tell_of_error();
    else if (state_.lead)
        state_.lead.refuse(text(why));
    if (known && http::supersedes(request_.head(), response, control)) request_.services.cache.forget(request_.key, *known);
}

}   // namespace garner::proxy
