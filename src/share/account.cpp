#include "share/account.hpp"

#include <algorithm>

#include "net/waiter.hpp"

namespace garner::share {

/// The next request of the subject pays what was not paid here.
Account::~Account() {
    leave_lane();
    for (auto const direction : directions) {
        auto const& side = sides_[index(direction)];
        if (side.owed > 0) shares_.line(direction).leave_debt(own_.subject->flow(direction), side.owed);
        leave_cap_debt(direction);
    }
}

std::unique_ptr<Account> Account::another() const { return std::make_unique<Account>(shares_, clock_, own_, cap_); }

Payer Account::payer(Direction direction) const {
    if (!others_) return own_;
    auto const& line = shares_.line(direction);
    auto other = others_->payer(line, direction);
    if (!other) return own_;
    bool const own_is_first = with_own_ && turn_of(own_, line, direction) < turn_of(other, line, direction);
    return own_is_first ? own_ : other;
}

void Account::charge(Direction direction, Bytes bytes) {
    if (bytes == 0) return;
    auto const now = steady_now();
    auto& side = sides_[index(direction)];
    auto const payer = this->payer(direction);
    if (!shares_.line(direction).charge(payer.subject->flow(direction), bytes, now)) side.owed += bytes;
    charge_cap(direction, bytes, now);
    if (payer.quota || lane_ || over_by_) charge_quota(direction, payer, bytes, now);
}

// ---- caps ----

/// Sent bytes are of the request that began the transfer.
std::shared_ptr<Cap> Account::cap(Direction direction) const {
    bool const is_shared = others_ && (with_own_ || direction == Direction::down);
    auto fastest = is_shared ? others_->fastest_cap(direction) : std::nullopt;
    if (!fastest) return cap_;
    bool const own_is_faster = with_own_ && permitted_rate(cap_.get(), direction) >= permitted_rate(fastest->get(), direction);
    return own_is_faster ? cap_ : *std::move(fastest);
}

void Account::charge_cap(Direction direction, Bytes bytes, SteadyTime now) {
    bool const is_received = direction == Direction::down;
    if (is_received) enter_cap(cap(direction));
    auto const& cap = charged(direction);
    if (!cap) return;
    if (is_received && others_) others_->note_charged(*cap, bytes);
    if (!cap->charge(direction, bytes, now)) sides_[index(direction)].capped += bytes;
}

void Account::charge_own_cap(Bytes bytes) {
    constexpr auto down = Direction::down;
    if (bytes > 0 && cap_ && !cap_->charge(down, bytes, steady_now())) sides_[index(down)].capped += bytes;
}

void Account::enter_cap(std::shared_ptr<Cap> cap) {
    if (cap == charged_) return;
    leave_cap_debt(Direction::down);
    charged_ = std::move(cap);
}

/// The next transfer with that cap pays it.
void Account::leave_cap_debt(Direction direction) {
    auto const owed = std::exchange(sides_[index(direction)].capped, 0);
    auto const& cap = charged(direction);
    if (owed > 0) cap->line(direction).leave_debt(cap->flow(direction), owed);
}

// ---- quotas ----

bool Account::may_ask() {
    if (!own_.quota) return true;
    auto const now = wall_now();
    note_state(own_, has_asked_ ? own_.quota->state(now) : own_.quota->begin(now));
    has_asked_ = true;
    return !is_over();
}

void Account::note_state(Payer const& payer, QuotaState state) { over_by_ = state == QuotaState::over ? payer.quota : QuotaRef(); }

void Account::charge_quota(Direction direction, Payer const& payer, Bytes bytes, SteadyTime now) {
    auto const state = payer.quota ? payer.quota->charge(bytes, wall_now()) : QuotaState::within;
    note_state(payer, state);
    if (is_over() && others_) {   // these bytes may have used up the quota of one of several
        auto const next = this->payer(direction);
        note_state(next, next.state(wall_now()));
    }
    enter_lane(state == QuotaState::slow ? payer.quota->lane() : nullptr);
    if (lane_ && !lane_->charge(direction, bytes, now)) sides_[index(direction)].laned += bytes;
}

void Account::enter_lane(std::shared_ptr<Cap> lane) {
    if (lane == lane_) return;
    leave_lane();
    lane_ = std::move(lane);
}

void Account::leave_lane() {
    for (auto const direction : directions) {
        auto const owed = std::exchange(sides_[index(direction)].laned, 0);
        if (owed > 0) lane_->line(direction).leave_debt(lane_->flow(direction), owed);
    }
}

// ---- waits ----

Bytes Account::piece(Direction direction) const {
    auto piece = shares_.line(direction).piece();
    for (auto* const cap : {charged(direction).get(), lane_.get()})
        if (cap) piece = std::min(piece, cap->line(direction).piece());
    return piece;
}

/// The quota may have been used up by another transfer of the subject.
bool Account::is_useless(Direction direction) {
    if (useless_ && useless_()) return true;
    auto const payer = this->payer(direction);
    note_state(payer, payer.state(wall_now()));
    return is_over();
}

net::awaitable<void> Account::settle(Direction direction) {
    auto const& side = sides_[index(direction)];
    if (side.owed > 0) co_await wait_for_share(direction);
    if (side.capped > 0) co_await wait_for_cap(direction);
    if (side.laned > 0) co_await wait_for_lane(direction);
}

net::awaitable<void> Account::settle_before_asking() {
    if (own_.state(wall_now()) == QuotaState::slow) enter_lane(own_.quota->lane());
    for (auto const direction : directions) {
        co_await wait_for_share(direction);
        if (charged(direction)) co_await wait_for_cap(direction);
        if (lane_) co_await wait_for_lane(direction);
    }
}

/// The payer may change while it waits: then it waits with the new one.
net::awaitable<void> Account::wait_for_share(Direction direction) {
    auto& side = sides_[index(direction)];
    auto& line = shares_.line(direction);
    while (!side.aborted) {
        auto const payer = this->payer(direction);
        auto& flow = payer.subject->flow(direction);
        Line::Place place;
        auto const bytes = side.owed;
        if (!line.enter(flow, place, bytes)) co_return;
        bool ends = false;
        for (bool goes_on = true; goes_on;) {
            co_await wait(line, place, side);
            ends = side.aborted || is_useless(direction);
            goes_on = !ends && !line.is_served(place) && this->payer(direction).subject == payer.subject;
        }
        if (line.leave(flow, place)) {
            side.owed -= bytes;
            co_return;
        }
        if (ends) co_return;
    }
}

/// Ends when a faster cap applies, because others have joined.
net::awaitable<void> Account::wait_for_cap(Direction direction) {
    auto& side = sides_[index(direction)];
    auto const cap = charged(direction);
    auto& line = cap->line(direction);
    auto& flow = cap->flow(direction);
    Line::Place place;
    auto const bytes = side.capped;
    bool applies = this->cap(direction) == cap;
    if (side.aborted || !applies || !line.enter(flow, place, bytes)) co_return;
    for (bool goes_on = true; goes_on;) {
        co_await wait(line, place, side);
        applies = this->cap(direction) == cap;
        goes_on = applies && !side.aborted && !is_useless(direction) && !line.is_served(place);
    }
    if (line.leave(flow, place)) side.capped -= bytes;
}

/// Ends when the payer has left the slow lane: by a new window, a reload, or because another one pays now.
net::awaitable<void> Account::wait_for_lane(Direction direction) {
    auto& side = sides_[index(direction)];
    auto const lane = lane_;
    auto& line = lane->line(direction);
    auto& flow = lane->flow(direction);
    Line::Place place;
    auto const bytes = side.laned;
    if (side.aborted || !line.enter(flow, place, bytes)) co_return;
    bool is_slow = true;
    for (bool goes_on = true; goes_on;) {
        co_await wait(line, place, side);
        is_slow = payer(direction).state(wall_now()) == QuotaState::slow;
        goes_on = is_slow && !side.aborted && !is_useless(direction) && !line.is_served(place);
    }
    bool const is_paid = line.leave(flow, place);
    if (is_paid || !is_slow) side.laned -= std::min(side.laned, bytes);
}

/// The line's clock wakes it. Without a wake it checks again after a while.
net::awaitable<void> Account::wait(Line& line, Line::Place& place, Side& side) {
    net::Waiter waiter(clock_.executor());
    side.waiting = waiter.handle();
    auto const others = others_;
    if (others) others->begin_wait(waiter.handle());
    line.renew(place, waiter.handle());
    clock_.begin(line);
    co_await waiter.wait(net::recheck_interval);
    clock_.end(line);
    if (others) others->end_wait();
    side.waiting = {};
}

void Account::abort(Direction direction) {
    auto& side = sides_[index(direction)];
    side.aborted = true;
    side.waiting.wake(net::Wake::shutdown);
}

}   // namespace garner::share
