#include "share/line.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace garner::share {

namespace {

constexpr Bytes piece_max = 64 * KiB;
constexpr Bytes piece_min = 2 * KiB;
constexpr milliseconds piece_time{10};   // a piece takes the line for about this long
// The limit for flows with credit, which overdraw the line instead of waiting: the waits of a short transfer would add up.
constexpr milliseconds overdraft_time{20};
constexpr double recent_seconds = 3;   // the average of "bytes a second"

Bytes bytes_in(Bytes rate, milliseconds time) { return rate / 1'000 * static_cast<Bytes>(time.count()); }

std::uint32_t clock_ms(SteadyTime now) {
    return static_cast<std::uint32_t>(std::chrono::duration_cast<milliseconds>(now.time_since_epoch()).count());
}

/// The clock of one worker may be read just before that of another: less than a minute backwards is no time.
double recent_after(float recent, std::uint32_t since_ms) {
    constexpr std::uint32_t backwards = UINT32_MAX - 60'000;
    if (since_ms > backwards) return static_cast<double>(recent);
    return static_cast<double>(recent) * std::exp(-static_cast<double>(since_ms) / 1e3 / recent_seconds);
}

}   // namespace

void Line::configure(Settings const& settings, SteadyTime now) {
    rate_ = settings.rate;
    piece_ = settings.rate == 0 ? piece_max : std::clamp(bytes_in(settings.rate, piece_time), piece_min, piece_max);
    auto const burst = std::max(bytes_in(settings.rate, settings.burst), piece_.load());
    MutexLock const lock(mutex_);
    queue_.set_credit(settings.credit);
    bucket_.configure(settings.rate, burst, now);
    overdraft_ = std::min(bytes_in(settings.rate, overdraft_time), settings.credit);
}

void Line::set_weight(LineFlow& flow, float weight) {
    MutexLock const lock(mutex_);
    queue_.set_weight(flow, weight);
}

bool Line::charge(LineFlow& flow, Bytes bytes, SteadyTime now) {
    net::WakeHandles woken;
    bool is_paid;
    {
        MutexLock const lock(mutex_);
        note(flow, bytes, now);
        bucket_.refill(now);
        serve_all(woken);
        is_paid = may_pass(flow, bytes);
        if (is_paid) {
            queue_.charge(flow, bytes);
            bucket_.take(bytes);
        }
    }
    if (!woken.empty()) net::wake_all(std::move(woken), net::Wake::ready);
    return is_paid;
}

bool Line::may_pass(LineFlow const& flow, Bytes bytes) const {
    if (queue_.waits(flow)) return false;
    if (queue_.empty() && bucket_.is_free()) return true;
    return queue_.is_behind(flow, bytes) && bucket_.debt() < static_cast<double>(overdraft_);
}

void Line::note(LineFlow& flow, Bytes bytes, SteadyTime now) {
    auto const at = clock_ms(now);
    flow.recent_ = static_cast<float>(recent_after(flow.recent_, at - flow.recent_at_ms_) + static_cast<double>(bytes));
    flow.recent_at_ms_ = at;
    flow.total_ += bytes;
    total_ += bytes;
}

void Line::leave_debt(LineFlow& flow, Bytes bytes) {
    MutexLock const lock(mutex_);
    add_debt(flow, bytes);
}

void Line::add_debt(LineFlow& flow, Bytes bytes) {
    flow.owed_ = static_cast<std::uint32_t>(std::min<Bytes>(flow.owed_ + bytes, UINT32_MAX));
}

bool Line::enter(LineFlow& flow, Place& place, Bytes bytes) {
    MutexLock const lock(mutex_);
    place.is_served = false;
    place.old_debt = std::exchange(flow.owed_, 0);
    place.bytes = bytes + place.old_debt;
    if (place.bytes == 0 && !queue_.waits(flow)) return false;
    queue_.add(flow, place);
    return true;
}

void Line::renew(Place& place, net::WakeHandle handle) {
    {
        MutexLock const lock(mutex_);
        if (!place.is_served) {
            place.handle = std::move(handle);
            return;
        }
    }
    handle.wake(net::Wake::ready);
}

bool Line::is_served(Place const& place) const {
    MutexLock const lock(mutex_);
    return place.is_served;
}

bool Line::leave(LineFlow& flow, Place& place) {
    MutexLock const lock(mutex_);
    if (place.is_served) return true;
    queue_.remove(flow, place);
    add_debt(flow, place.old_debt);
    return false;
}

void Line::serve(SteadyTime now) {
    net::WakeHandles woken;
    {
        MutexLock const lock(mutex_);
        bucket_.refill(now);
        serve_all(woken);
    }
    if (!woken.empty()) net::wake_all(std::move(woken), net::Wake::ready);
}

void Line::serve_all(net::WakeHandles& woken) {
    while (!queue_.empty() && bucket_.is_free()) {
        auto& place = static_cast<Place&>(queue_.serve());
        bucket_.take(place.bytes);
        place.is_served = true;
        woken.push_back(std::move(place.handle));
    }
}

bool Line::is_idle(LineFlow const& flow, SteadyTime now) {
    MutexLock const lock(mutex_);
    bucket_.refill(now);
    return flow.owed_ == 0 && queue_.empty() && bucket_.is_full();
}

double Line::tag(LineFlow const& flow) const {
    MutexLock const lock(mutex_);
    return queue_.tag(flow);
}

FlowFigures Line::figures(LineFlow const& flow, SteadyTime now) const {
    MutexLock const lock(mutex_);
    auto const recent = recent_after(flow.recent_, clock_ms(now) - flow.recent_at_ms_);
    return {flow.total_, recent / recent_seconds, queue_.tickets(flow), flow.weight()};
}

FlowFigures Line::figures() const {
    MutexLock const lock(mutex_);
    FlowFigures sum;
    sum.bytes = total_;
    sum.waiting = queue_.tickets();
    return sum;
}

}   // namespace garner::share
