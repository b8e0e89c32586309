#include "share/account.hpp"

#include <algorithm>

#include "net/waiter.hpp"

namespace garner::share {

/// The next request of the subject pays what was not paid here.
Account::~Account() {
    for (auto const direction : directions) {
        auto const& side = sides_[index(direction)];
        if (side.owed > 0) shares_.line(direction).leave_debt(subject_->flow(direction), side.owed);
        if (side.capped > 0) cap_->line(direction).leave_debt(cap_->flow(direction), side.capped);
    }
}

std::unique_ptr<Account> Account::another() const { return std::make_unique<Account>(shares_, clock_, subject_, cap_); }

SubjectRef Account::payer(Direction direction) const {
    if (!others_) return subject_;
    auto const& line = shares_.line(direction);
    auto other = others_->payer(line, direction);
    if (!other) return subject_;
    bool const own_is_less = with_own_ && line.tag(subject_->flow(direction)) < line.tag(other->flow(direction));
    return own_is_less ? subject_ : other;
}

void Account::charge(Direction direction, Bytes bytes) {
    if (bytes == 0) return;
    auto const now = steady_now();
    auto& side = sides_[index(direction)];
    auto const payer = this->payer(direction);
    if (!shares_.line(direction).charge(payer->flow(direction), bytes, now)) side.owed += bytes;
    if (cap_ && !cap_->charge(direction, bytes, now)) side.capped += bytes;
}

Bytes Account::piece(Direction direction) const {
    auto const piece = shares_.line(direction).piece();
    return cap_ ? std::min(piece, cap_->line(direction).piece()) : piece;
}

net::awaitable<void> Account::settle(Direction direction) {
    auto const& side = sides_[index(direction)];
    if (side.owed > 0) co_await wait_for_share(direction);
    if (side.capped > 0) co_await wait_for_cap(direction);
}

net::awaitable<void> Account::settle_before_asking() {
    for (auto const direction : directions) {
        co_await wait_for_share(direction);
        if (cap_) co_await wait_for_cap(direction);
    }
}

/// The payer may change while it waits: then it waits with the new one.
net::awaitable<void> Account::wait_for_share(Direction direction) {
    auto& side = sides_[index(direction)];
    auto& line = shares_.line(direction);
    while (!side.aborted) {
        auto const payer = this->payer(direction);
        auto& flow = payer->flow(direction);
        Line::Place place;
        auto const bytes = side.owed;
        if (!line.enter(flow, place, bytes)) co_return;
        bool ends = false;
        for (bool goes_on = true; goes_on;) {
            co_await wait(line, place, side);
            ends = side.aborted || is_useless();
            goes_on = !ends && !line.is_served(place) && this->payer(direction) == payer;
        }
        if (line.leave(flow, place)) {
            side.owed -= bytes;
            co_return;
        }
        if (ends) co_return;
    }
}

net::awaitable<void> Account::wait_for_cap(Direction direction) {
    auto& side = sides_[index(direction)];
    auto& line = cap_->line(direction);
    auto& flow = cap_->flow(direction);
    Line::Place place;
    auto const bytes = side.capped;
    if (side.aborted || !line.enter(flow, place, bytes)) co_return;
    for (bool goes_on = true; goes_on;) {
        co_await wait(line, place, side);
        goes_on = !side.aborted && !is_useless() && !line.is_served(place);
    }
    if (line.leave(flow, place)) side.capped -= bytes;
}

/// The line's clock wakes it. Without a wake it checks again after a while.
net::awaitable<void> Account::wait(Line& line, Line::Place& place, Side& side) {
    net::Waiter waiter(clock_.executor());
    side.waiting = waiter.handle();
    if (others_) others_->wake_on_joining(waiter.handle());
    line.renew(place, waiter.handle());
    clock_.begin(line);
    co_await waiter.wait(net::recheck_interval);
    clock_.end(line);
    side.waiting = {};
}

void Account::abort(Direction direction) {
    auto& side = sides_[index(direction)];
    side.aborted = true;
    side.waiting.wake(net::Wake::shutdown);
}

}   // namespace garner::share
