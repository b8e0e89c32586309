#include "proxy/cache_side.hpp"

#include "proxy/refresh.hpp"
#include "proxy/way.hpp"

namespace garner::proxy {

using http::Name;

namespace {

// How often a follower of a slow leader repeats the lookup, to find responses of parallel fetches.
constexpr int looks_again_max = 8;
constexpr milliseconds loop_wait{1'000};    // how long a request of another cache waits for a fetch here
constexpr milliseconds tree_wait{10'000};   // the wait for an offered object: trees have loops only while members come and go

}   // namespace

// ---- lookup ----

Step CacheSide::look() {
    auto& cache = request_.services.cache;
    state_.found = cache.lookup(request_.query(collapse()));
    return state_.found.may_be_elsewhere ? Step::look_on_disk : check_source();
}

net::awaitable<Step> CacheSide::look_on_disk() {
    auto const query = request_.query(collapse());
    auto const here = request_.executor();
    co_await request_.services.cache.look_on_disk(state_.found, query, here);
    co_return check_source();
}

/// A response from an address that is denied to this client is also denied from the store, even if DNS has changed. An
/// object that came through a peer has no address if no rule needed the address then.
Step CacheSide::check_source() {
    auto const& object = state_.found.object;
    if (!object || !request_.addresses.matter) return decide();
    if (object->source().is_unspecified()) return Step::resolve_source;
    return request_.may_have(*object) ? decide() : deny();
}

net::awaitable<Step> CacheSide::resolve_source() {
    bool const allowed = co_await upstream_.sources().may_use_peers();
    co_return allowed ? decide() : deny();
}

Step CacheSide::deny() {
    auto& found = state_.found;
    auto const source = found.object->source();
    check_.denied(request_.permits(request_.facts(), source), source);
    found.lead.drop();
    return Step::refuse;
}

Step CacheSide::decide() {
    auto& found = state_.found;
    auto const known = without_asking(found.kind, found.object.get(), request_.head(), request_.control, request_.options->caching);
    auto const may_have_misses = [&] { return request_.may_have_misses(); };
    auto const hears_of_failure = [&] { return failed_.is_remembered(); };
    auto const action = after_lookup(known, found.follow != nullptr, may_have_misses, hears_of_failure);
    if (action == Action::refresh) start_refresh();
    if (known == Action::fetch) note_miss();
    if (action >= Action::tell_failure) return ask(action);
    found.lead.drop();
    switch (action) {
    case Action::deliver: return deliver(false);
    case Action::refresh: return deliver(true);
    case Action::deliver_offline: return deliver_offline();
    case Action::pass: state_.bypass = http::Bypass::authorization; return Step::pass;
    case Action::only_if_cached: check_.refuse_to_fetch(); return Step::refuse;
    default: check_.refuse_misses(); return Step::refuse;
    }
}

Step CacheSide::ask(Action action) {
    state_.lead = std::move(state_.found.lead);
    state_.stale = std::move(state_.found.object);
    return action == Action::tell_failure ? Step::answer_known : action == Action::follow ? Step::follow : Step::fetch;
}

/// A range of an offered object is a part of the whole that this cache fetches in any case.
cache::Collapse CacheSide::collapse() const {
    bool const fetches_whole = request_.head().fields.has(Name::range) && request_.is_offered();
    return collapse_of(request_.head(), request_.control, request_.options->caching, fetches_whole);
}

void CacheSide::start_refresh() {
    auto& services = request_.services;
    bool const room = services.background.refreshing < services.shared.refreshes_max;
    // The response to a client with connections of its own may be for its user only.
    bool const shares = request_.client.client()->own_connections == 0;
    if (state_.found.lead && room && shares && !failed_.is_remembered())
        Refresh::start(request_, std::move(state_.found.lead), state_.found.object);
}

Step CacheSide::deliver(bool refreshes) {
    auto& found = state_.found;
    auto& record = request_.record;
    if (found.answer.reuse != http::Reuse::fresh) {
        record.say(found.answer.why());
        request_.services.counters.stale_used.add(refreshes ? StaleUse::while_revalidate : StaleUse::max_stale);
    }
    record.cache_status.hit = true;
    record.cache_status.ttl = found.answer.ttl;
    record.answer = Answer::hit;
    record.tag = found.from_disk ? ResultTag::tcp_hit : ResultTag::tcp_mem_hit;
    if (found.object->terms().negative) {
        record.answer = Answer::negative;
        record.tag = ResultTag::tcp_negative_hit;
        record.say("negative");
    }
    request_.record_rule_override(found.object->terms());
    state_.object = std::move(found.object);
    return Step::deliver;
}

Step CacheSide::deliver_offline() {
    auto& record = request_.record;
    record.cache_status.hit = true;
    record.cache_status.ttl = state_.found.answer.ttl;
    record.say(text(StaleUse::offline));
    request_.services.counters.stale_used.add(StaleUse::offline);
    record.answer = Answer::stale;
    record.tag = ResultTag::tcp_offline_hit;
    state_.object = std::move(state_.found.object);
    return Step::deliver;
}

void CacheSide::note_miss() {
    auto const& found = state_.found;
    auto& record = request_.record;
    record.tag = request_.control.no_cache ? ResultTag::tcp_client_refresh_miss : ResultTag::tcp_miss;
    auto const [fwd, reason] = why_forwarded(found);
    record.cache_status.fwd = fwd;
    if (found.kind == cache::Lookup::Kind::stale) record.cache_status.ttl = found.answer.ttl;
    if (!reason) return;
    record.say(http::text(*reason));
    request_.services.counters.not_fresh.add(*reason);
}

// ---- collapsed requests ----

net::awaitable<Step> CacheSide::follow() {
    auto const fill = std::move(state_.found.follow);
    auto const& deadlines = request_.options->deadlines;
    auto& follower = state_.follower;
    follower.emplace(fill);
    if (auto const* const account = request_.line_account()) follower->pay_as(account->own(), account->own_cap());
    auto patience = deadlines.fill;
    if (upstream_.sources().may_be_in_a_loop()) patience = std::min(patience, request_.is_offered() ? tree_wait : loop_wait);
    auto const begun = steady_now();
    bool const waited = looks_again_ > 0;
    auto const beside_at = waited ? begun : begun + patience_with_leader();
    for (;;) {
        auto view = follower->view();
        if (follower->promoted()) co_return co_await lead_after(fill);
        if (auto const step = step_after(view, *fill)) co_return *step;
        if (view.phase == cache::FillView::Phase::failed) {
            request_.record.cache_status.collapsed = true;
            follower.reset();
            co_return co_await failed_.answer(std::move(view.failure));
        }
        auto const now = steady_now();
        auto const silent_since = std::max(waited ? request_.started : begun, fill->last_in_line(now));
        auto const give_up = silent_since + patience;
        if (now >= give_up && patience >= deadlines.fill) {
            co_await delivery_.waited_too_long();
            co_return Step::done;
        }
        if (now >= give_up) break;
        if (now >= beside_at) {
            // Before the head, only parallel fetches change the version: one of them may have stored a response.
            if (looks_again(view.version)) co_return look();
            state_.beside = cache::Fill::go_beside(fill, request_.client_network());
            if (state_.beside) break;
        }
        auto const until = now < beside_at ? std::min(beside_at, give_up) : give_up;
        auto const limit = std::chrono::ceil<milliseconds>(until - now);
        if (!co_await delivery_.wait_for_growth(*follower, view.version, limit)) co_return Step::done;
    }
    co_return fetch_alone();
}

/// Nothing: there is no response yet, or the fetch has failed.
std::optional<Step> CacheSide::step_after(cache::FillView const& view, cache::Fill const& fill) {
    using Phase = cache::FillView::Phase;
    if (state_.follower->dropped()) return fetch_alone();
    if (view.phase == Phase::body || view.phase == Phase::complete) {
        if (is_invalidated(view, fill)) return look_anew();
        return is_usable(view, fill) ? join(view) : fetch_alone();
    }
    bool const is_of_other = view.phase == Phase::failed && view.failure.kind == cache::FailureKind::quota;
    if (view.phase == Phase::look_again || is_of_other) {   // the quotas of other clients have ended the fetch
        state_.follower.reset();
        return look();
    }
    if (view.phase != Phase::refused) return std::nullopt;
    request_.record.texts.reason = view.reason;
    return fetch_alone();
}

/// The fetch began before an invalidation of its response.
bool CacheSide::is_invalidated(cache::FillView const& view, cache::Fill const& fill) const {
    return static_cast<bool>(request_.services.cache.invalidations.judge(*view.object, fill.asked()));
}

Step CacheSide::look_anew() {
    state_.follower.reset();
    state_.stale = nullptr;
    return look();
}

bool CacheSide::is_usable(cache::FillView const& view, cache::Fill const& fill) const {
    auto const& terms = view.object->terms();
    auto const answer = http::may_reuse(terms, request_.control, wall_now());
    bool const is_vouched = request_.services.cache.invalidations.is_vouched_for(*view.object);
    bool const recent = answer.reuse == http::Reuse::fresh || (state_.stale && http::is_recent_enough(answer, request_.control));
    return request_.may_have(*view.object) && recent && is_vouched && fill.selects(request_.head().fields) && !terms.no_cache &&
           !request_.control.no_cache;
}

Step CacheSide::join(cache::FillView const& view) {
    auto& record = request_.record;
    record.cache_status.collapsed = true;
    record.answer = Answer::collapsed;
    record.tag = ResultTag::tcp_cf_hit;
    request_.record_rule_override(view.object->terms());
    state_.object = view.object;
    return Step::deliver;
}

/// The leader has passed the fill to this request, or has failed. Its failure counts as that of a request just like this
/// one.
net::awaitable<Step> CacheSide::lead_after(cache::FillPtr const& fill) {
    state_.lead = state_.follower->take_lead();
    state_.follower.reset();
    auto failure = fill->failure_of(failed_.witness());
    if (!failure) co_return Step::fetch;
    request_.record.cache_status.collapsed = true;
    co_return co_await failed_.answer(std::move(*failure), true);
}

bool CacheSide::looks_again(std::uint64_t version) {
    if (looks_again_ >= looks_again_max || std::exchange(looked_at_, version) == version) return false;
    ++looks_again_;
    state_.follower.reset();
    return true;
}

/// The fill's response does not match this request: fetches at once, in parallel.
Step CacheSide::fetch_alone() {
    state_.follower.reset();
    request_.record.tag = ResultTag::tcp_cf_miss;
    auto& stale = state_.stale;
    if (stale && request_.services.cache.invalidations.judge(*stale).is_hard()) stale = nullptr;
    state_.lead = request_.services.cache.lease(request_.key, state_.stale);
    return Step::fetch;
}

milliseconds CacheSide::patience_with_leader() const {
    return follow_patience(request_.options->caching.follow_patience, request_.services.first_bytes.usual(request_.origin()));
}

}   // namespace garner::proxy
