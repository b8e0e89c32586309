#include "proxy/replica.hpp"

#include <utility>

#include "group/group.hpp"
#include "proxy/group_offer.hpp"

namespace garner::proxy {

net::awaitable<std::string> Replica::wait(Step step) {
    auto end = end_without_wait(step);
    if (end.empty() && state_.follower) {
        bool const whole = co_await follow_to_end();
        if (!whole) end = "failed: the body was truncated";
    }
    if (end.empty()) end = "stored";
    co_return end;
}

void Replica::answer_offer(std::string const& end) {
    if (auto const offered = std::exchange(request_.in_group.offered, nullptr)) offered(not_offered(end));
}

/// Empty: the response is stored, or a follower shows its progress.
std::string Replica::end_without_wait(Step step) {
    auto const& record = request_.record;
    if (step == Step::stream) return std::string("not stored: ") + state_.why_not_stored;
    bool const has_failed = step != Step::deliver || record.answer == Answer::stale || record.answer == Answer::negative;
    if (has_failed) return "failed: " + upstream_.failure().told.reason;
    bool const is_of_other = record.answer == Answer::collapsed;
    bool const was_stored = record.answer == Answer::hit || record.answer == Answer::revalidated;
    auto const refusal = request_.in_group.offered && (was_stored || is_of_other) ? offer_stored() : std::string();
    if (!refusal.empty() || was_stored) return refusal.empty() ? "already stored" : refusal;
    bool const is_stored = record.cache_status.stored || is_of_other;
    return is_stored ? std::string() : "not stored: " + record.texts.reason;
}

/// Offers a response that was stored before, or that another request fetches. Empty, or the reason why not.
std::string Replica::offer_stored() {
    auto const& object = *state_.object;
    auto offer = offer_of(request_, {object.status(), object.head(), object.terms(), object.length()});
    if (!offer) return "not offered: " + offer.fault().what;
    request_.services.group->offer(*std::move(offer), std::exchange(request_.in_group.offered, nullptr));
    return {};
}

/// The pump receives the body. False: it has failed, or nothing keeps it.
net::awaitable<bool> Replica::follow_to_end() {
    using State = store::Body::State;
    auto& follower = *state_.follower;
    request_.head_sent = true;   // no error page follows
    for (;;) {
        auto const seen = follower.view().version;
        auto const body = state_.object->body();
        if (!body) co_return true;   // another fetch has stored it whole
        auto const state = body->state();
        if (state == State::complete) co_return true;
        if (state == State::failed || follower.dropped()) co_return false;
        follower.read_up_to(body->size());
        bool const grows = co_await delivery_.wait_for_growth(follower, seen, request_.options->deadlines.fill);
        if (!grows) co_return false;
    }
}

}   // namespace garner::proxy
