#include "net/deadline.hpp"

namespace garner::net {

void Deadline::arm(milliseconds delay) {
    expired_ = false;
    auto ticks = static_cast<std::uint64_t>((delay + DeadlineWheel::tick_length - milliseconds{1}) / DeadlineWheel::tick_length);
    tick_ = wheel_.now_ + ticks + 1;   // + 1: the current tick has already begun
    if (linked() && slot_tick_ <= tick_) return;
    unlink();
    wheel_.place(*this);
}

void DeadlineWheel::place(Deadline& deadline) {
    deadline.slot_tick_ = std::min(deadline.tick_, now_ + slots - 1);
    wheel_[deadline.slot_tick_ % slots].push_back(deadline);
}

void DeadlineWheel::start() {
    begun_ = steady_now();
    running_ = true;
    schedule();
}

void DeadlineWheel::stop() {
    running_ = false;
    timer_.cancel();
}

void DeadlineWheel::schedule() {
    timer_.expires_at(begun_ + tick_length * (now_ + 1));
    timer_.async_wait([this](Error error) {
        if (error || !running_) return;
        advance();
        schedule();
    });
}

void DeadlineWheel::advance() {
    auto target = static_cast<std::uint64_t>((steady_now() - begun_) / tick_length);
    while (now_ < target) run_slot(++now_);
    if (tick_action_) tick_action_(tick_owner_);
}

void DeadlineWheel::run_slot(std::uint64_t tick) {
    List<Deadline> due;
    due.take_all(wheel_[tick % slots]);
    while (Deadline* deadline = due.pop_front()) {
        if (deadline->tick_ == Deadline::never) continue;
        if (deadline->tick_ > tick) {
            place(*deadline);
            continue;
        }
        deadline->tick_ = Deadline::never;
        deadline->expired_ = true;
        deadline->action_(deadline->owner_);
    }
}

}   // namespace garner::net
