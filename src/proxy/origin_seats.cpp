#include "proxy/origin_seats.hpp"

#include <algorithm>

#include "proxy/admission.hpp"

namespace garner::proxy {

namespace {

// Seats that other connections of the client give back are looked for in these intervals, which double up to recheck_interval.
constexpr milliseconds first_pause{50};

}   // namespace

void OriginSeat::end() {
    if (auto const seats = std::exchange(seats_, nullptr)) seats->give_back(*this);
}

OriginSeats::OriginSeats(Services& services, IpAddress const& client)
    : services_(services), shared_(services.shared), client_(client) {
    shared_.connections.enter();
}

void OriginSeats::move_to(IpAddress const& client) {
    shared_.clients.leave(client_);
    client_ = client;
}

void OriginSeats::end_connection() {
    is_connected_ = false;
    shared_.connections.leave();
    if (is_own_taken_)
        shared_.connections.enter_extra();
    else
        shared_.clients.leave(client_);
}

OriginSeat OriginSeats::try_take(IpAddress const& client) {
    if (!waiting_.empty() && !is_first(Waiting{.client = counted_client(services_, client)})) return {};
    return take(client);
}

OriginSeat OriginSeats::take(IpAddress const& client) {
    if (!std::exchange(is_own_taken_, true)) return {shared_from_this(), false, client_};
    refused_by_ = enter_extra(services_, client);
    if (!refused_by_.empty()) return {};
    return {shared_from_this(), true, counted_client(services_, client)};
}

void OriginSeats::give_back(OriginSeat const& seat) {
    if (!seat.is_extra_) is_own_taken_ = false;
    if (seat.is_extra_ || !is_connected_) {
        shared_.clients.leave(seat.is_extra_ ? seat.client_ : client_);
        shared_.connections.leave_extra();
    }
    wake_first();
}

bool OriginSeats::is_first(Waiting const& one) const {
    auto const first = std::ranges::find(waiting_, one.client, &Waiting::client);
    return first == waiting_.end() || &*first == &one;
}

void OriginSeats::wake_first() const {
    for (auto const& one : waiting_)
        if (is_first(one)) one.handle.wake(net::Wake::ready);
}

net::awaitable<OriginSeat> OriginSeats::wait(IpAddress client, milliseconds limit, net::WakeHandle& waiting) {
    auto const self = shared_from_this();
    auto const give_up = steady_now() + limit;
    auto const place = waiting_.insert(waiting_.end(), Waiting{.client = counted_client(services_, client)});
    auto pause = first_pause;
    OriginSeat seat;
    for (auto wake = net::Wake::ready; wake == net::Wake::ready || wake == net::Wake::deadline;) {
        bool const tries = is_first(*place);
        if (tries) seat = take(client);
        auto const left = std::chrono::ceil<milliseconds>(give_up - steady_now());
        if (seat || left <= milliseconds{0}) break;
        net::Waiter waiter(services_.worker.io.get_executor());
        waiting = place->handle = waiter.handle();
        auto const most = tries ? std::min(left, pause) : left;
        wake = co_await waiter.wait(most);
        if (tries) pause = std::min(2 * pause, net::recheck_interval);
    }
    waiting = {};
    waiting_.erase(place);
    wake_first();
    co_return seat;
}

CountedAttempts::CountedAttempts(Services& services, IpAddress const& client)
    : shared_(services.shared), client_(counted_client(services, client)), is_on_loopback_(client.is_loopback()) {}

CountedAttempts::~CountedAttempts() {
    while (running_ > 0) leave();
}

bool CountedAttempts::enter() {
    auto const of_client = is_on_loopback_ ? 0 : std::max(shared_.attempts_max / 4, 1u);
    if (shared_.attempts.fetch_add(1, std::memory_order_relaxed) >= shared_.attempts_max ||
        !shared_.attempting.enter(client_, of_client)) {
        shared_.attempts.fetch_sub(1, std::memory_order_relaxed);
        return false;
    }
    ++running_;
    return true;
}

void CountedAttempts::leave() {
    --running_;
    shared_.attempting.leave(client_);
    shared_.attempts.fetch_sub(1, std::memory_order_relaxed);
}

}   // namespace garner::proxy
