// The steps of a request: check, lookup, follow or fetch, store, send. Each step is a call of the class that performs it,
// and returns the next step.
#include "proxy/transaction.hpp"

#include "proxy/replica.hpp"

namespace garner::proxy {

using http::Method;

/// Most requests end here. They need no coroutine frame.
bool Transaction::run_at_once() {
    auto const verdict = check_.check();
    if (verdict) step_ = first_step(*verdict);
    if (step_ != Step::deliver || !delivery_.deliver_at_once(state_.object)) return false;
    finish();
    return true;
}

/// A hit from memory needs none of them, and spares making and destroying them.
void Transaction::make_fetching_parts() {
    upstream_.make(request_, writer_);
    tunnel_.make(request_, writer_, upstream_.get());
}

net::awaitable<void> Transaction::run() {
    make_fetching_parts();
    while (step_ < Step::refuse) step_ = co_await take(step_);
    if (step_ != Step::done) co_await end(step_);
    finish();
}

net::awaitable<Step> Transaction::check_further() {
    auto const verdict = co_await check_.check_further();
    co_return first_step(verdict);
}

Step Transaction::first_step(Verdict verdict) {
    if (verdict == Verdict::refused) return Step::refuse;
    if (verdict == Verdict::own_answer) return Step::answer_as_last_hop;
    if (verdict == Verdict::internal) return Step::answer_internally;
    auto const& head = request_.head();
    state_.bypass =
        why_bypassed(head, request_.client.body_framing(), request_.control, request_.target, request_.options->caching);
    if (request_.accepted_fault() != 0) state_.bypass = http::Bypass::certificate;
    // The origin knows the connection's user, also for a request without credentials.
    bool const is_known = request_.client.client()->own_connections != 0 && !request_.control.only_if_cached;
    if (is_known && state_.bypass == http::Bypass::none) state_.bypass = http::Bypass::authorization;
    switch (before_lookup(head.method, state_.bypass, [&] { return request_.may_have_misses(); })) {
    case Action::purge: return Step::purge;
    case Action::tunnel: return Step::tunnel;
    case Action::pass: return Step::pass;
    case Action::refuse_misses: check_.refuse_misses(); return Step::refuse;
    default: return cache_side_.look();
    }
}

/// Performs a step; each returns the next one.
net::awaitable<Step> Transaction::take(Step step) {
    switch (step) {
    case Step::check_further: return check_further();
    case Step::look_on_disk: return cache_side_.look_on_disk();
    case Step::resolve_source: return cache_side_.resolve_source();
    case Step::follow: return cache_side_.follow();
    case Step::answer_known: return failed_.answer_known();
    case Step::pass: return fetching_.pass();
    case Step::fetch: return fetching_.fetch();
    case Step::ask: return fetching_.ask();
    case Step::ask_again: return fetching_.ask_again();
    case Step::complete: return storing_.complete();
    case Step::freshen: return storing_.freshen();
    case Step::take_head: return storing_.take_head();
    case Step::store: return storing_.store();
    case Step::await_removal: return fetching_.await_removal();
    default: return fail();
    }
}

/// No usable response came.
net::awaitable<Step> Transaction::fail() {
    state_.beside.drop();
    failed_.remember(state_.lead.fill().get());
    return failed_.answer();
}

/// The steps that send a response are the last ones. Objects that are not sent are released: a client may read slowly.
net::awaitable<void> Transaction::end(Step step) {
    state_.beside.drop();
    switch (step) {
    case Step::refuse: return refuse();
    case Step::answer_as_last_hop: return own_answers_.answer_as_last_hop();
    case Step::answer_internally: return own_answers_.answer_internally();
    case Step::purge: return own_answers_.purge();
    case Step::tunnel: return tunnel();
    case Step::stream: return pass_through_.stream(state_.why_not_stored);
    default: break;
    }
    state_.stale = nullptr;
    auto* follower = state_.follower ? &*state_.follower : nullptr;
    return delivery_.deliver(std::move(state_.object), follower);
}

net::awaitable<void> Transaction::refuse() {
    auto const& refusal = check_.refusal();
    bool const is_denied = refusal.status == 403 && request_.head().method == Method::connect;
    if (is_denied) {
        auto const& texts = request_.record.texts;
        FixedOrigin::Refusal told{refusal.status, std::string(refusal.what), std::string(refusal.rule), texts.because,
                                  texts.logged_rule};
        bool const shown = co_await tunnel_->show_page(std::move(told));
        if (shown) co_return;
    }
    co_await writer_.error(refusal.status, refusal.what, refusal.rule, refusal.kind, refusal.fields);
}

net::awaitable<void> Transaction::tunnel() {
    bool const led_there = co_await tunnel_->run();
    if (!led_there) co_await failed_.answer();
}

void Transaction::finish() {
    if (upstream_.is_made()) {
        upstream_->drop_exchange();
        if (tunnel_->has_left()) return request_.record.leave(request_);
        if (request_.services.logs() && request_.record.peer.empty()) request_.record.peer = upstream_->peer_text();
    }
    if (!request_.client.body_done()) request_.close = true;
    request_.record.finish(request_);
}

net::awaitable<void> Transaction::go_on(MovingTunnel tunnel) {
    make_fetching_parts();
    (void)request_.client.begin_body();
    (void)read_target(request_.head(), request_.only_origin(), request_.target);
    co_await tunnel_->go_on(std::move(tunnel));
    finish();
}

// ---- requests without a client ----

net::awaitable<bool> Transaction::is_allowed() {
    auto verdict = check_.check();
    if (!verdict) verdict = co_await check_.check_further();
    if (*verdict != Verdict::go_on) co_return false;
    co_return request_.target.may_use_store();
}

net::awaitable<void> Transaction::refresh(cache::FillLease lead, store::ObjectPtr stale) {
    make_fetching_parts();
    bool const allowed = co_await is_allowed();
    if (!allowed) co_return;
    request_.services.counters.refreshes.add();
    state_.lead = std::move(lead);
    state_.stale = std::move(stale);
    auto step = Step::fetch;
    while (step < Step::refuse) step = co_await take(step);
    if (step != Step::done) co_await end(step);
    upstream_->drop_exchange();
}

net::awaitable<std::string> Transaction::replicate(std::function<void(group::SubmissionResult const&)> offered) {
    make_fetching_parts();
    bool const allowed = co_await is_allowed();
    request_.in_group.offered = std::move(offered);
    Replica replica(request_, state_, upstream_.get(), delivery_);
    auto const& refusal = check_.refusal();
    std::string end = "not fetched: " + std::string(refusal.what) + " (" + std::string(refusal.rule) + ")";
    if (allowed) {
        request_.in_group.replicates = true;
        step_ = first_step(Verdict::go_on);
        while (step_ < Step::refuse) step_ = co_await take(step_);
        end = co_await replica.wait(step_);
        state_.beside.drop();
        upstream_->drop_exchange();
    }
    replica.answer_offer(end);
    co_return end;
}

net::awaitable<Rest> Transaction::find_rest(std::span<icp::Source const> sources, std::size_t& at, http::Remainder const& missing,
                                            client::Trouble trouble) {
    make_fetching_parts();
    Rest rest;
    bool const allowed = co_await is_allowed();
    if (!allowed) co_return rest;
    upstream_->sources().assign(sources, at);
    bool found = rest_.may_go_on();
    if (found) found = co_await rest_.go_on_elsewhere(missing, trouble);
    at = upstream_->sources().at();
    if (found) rest = upstream_->hand_over();
    upstream_->drop_exchange();
    co_return rest;
}

// ---- the ends of a connection ----

net::awaitable<void> Transaction::refuse_head(std::uint16_t status, std::string_view why, std::string_view logged) {
    request_.close = true;
    request_.record.texts.reason = logged;
    request_.record.answer = Answer::refused;
    std::string challenges;
    if (status == 407 && !request_.only_origin()) challenges = LoginCheck(request_).fields(LoginCheck::State::login_needed);
    if (!challenges.empty()) {
        co_await writer_.error(status, why, "auth", cache::FailureKind::other, challenges);
    } else {
        if (status == 407) status = 431;
        co_await writer_.error(status, why, "RFC 9112 message syntax");
    }
    finish();
}

void Transaction::abort() {
    request_.aborted = request_.close = true;
    request_.waiting.wake(net::Wake::shutdown);
    if (request_.account) request_.account->abort();
    if (upstream_.is_made()) {
        upstream_->abort();
        tunnel_->abort();
    }
    request_.client.cancel();
}

}   // namespace garner::proxy
