#include "icp/liveness.hpp"

namespace garner::icp {

std::string_view name_of(Health health) {
    switch (health) {
    case Health::alive: return "alive";
    case Health::suspect: return "suspect";
    case Health::dead: return "dead";
    }
    return "";
}

void Liveness::asked(SteadyTime now) {
    if (!silent_since_) silent_since_ = now;
}

bool Liveness::answered(SteadyTime now) {
    silent_since_.reset();
    expired_ = 0;
    overdue_ = false;
    waits_ = 0;   // one that replies to queries is waited for: its requests wait only if it does not
    return told_alive(now);
}

bool Liveness::expired(SteadyTime now) {
    ++expired_;
    return told_dead(now);
}

bool Liveness::connect_failed(SteadyTime now) {
    refused_ = true;
    probed_at_ = now;
    return told_dead(now);
}

bool Liveness::connected(SteadyTime now) {
    refused_ = false;
    return told_alive(now);
}

bool Liveness::waited(SteadyTime sent_at, SteadyTime now) {
    if (waits_ > 0 && sent_at < waited_at_) return false;
    if (waits_ == 0 && !refused_) probed_at_ = now - probe_interval;
    ++waits_;
    waited_at_ = now;
    return told_dead(now);
}

bool Liveness::responded(SteadyTime now) {
    waits_ = 0;
    return told_alive(now);
}

bool Liveness::probe_responded(SteadyTime now) { return now - waited_at_ >= probe_interval && responded(now); }

bool Liveness::probe_waited(SteadyTime now) {
    if (waits_ > 0) ++waits_;
    return told_dead(now);
}

Health Liveness::health(SteadyTime now) const {
    // One lost datagram is not silence, however long no other query follows.
    bool const silent = expired_ > 1 && silent_since_ && now - *silent_since_ >= silence_max;
    if (refused_ || silent || expired_ >= unanswered_max || waits_ >= waits_max) return Health::dead;
    return expired_ > 0 || overdue_ || waits_ > 0 ? Health::suspect : Health::alive;
}

Liveness::State Liveness::state(SteadyTime now) const {
    auto const since = [now](SteadyTime time) { return std::chrono::duration_cast<milliseconds>(now - time); };
    State state{.silent_for = std::nullopt,
                .expired = expired_,
                .overdue = overdue_,
                .refused = refused_,
                .probed_before = {},
                .waits = waits_};
    if (silent_since_) state.silent_for = since(*silent_since_);
    if (refused_ || waits_ > 0) state.probed_before = since(probed_at_);
    return state;
}

void Liveness::adopt(State const& state, SteadyTime now) {
    if (state.silent_for) silent_since_ = now - *state.silent_for;
    expired_ = state.expired;
    overdue_ = state.overdue;
    refused_ = state.refused;
    probed_at_ = now - state.probed_before;
    waits_ = state.waits;
    waited_at_ = now;
    told_dead_ = health(now) == Health::dead;
}

bool Liveness::wants_probe(SteadyTime now) const { return (refused_ || waits_ > 0) && now - probed_at_ >= probe_interval; }

void Liveness::probed(SteadyTime now) { probed_at_ = now; }

bool Liveness::told_dead(SteadyTime now) {
    if (told_dead_ || health(now) != Health::dead) return false;
    told_dead_ = true;
    return true;
}

bool Liveness::told_alive(SteadyTime now) {
    if (!told_dead_ || health(now) == Health::dead) return false;
    told_dead_ = false;
    return true;
}

}   // namespace garner::icp
