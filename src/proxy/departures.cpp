#include "proxy/departures.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "proxy/moved_client.hpp"
#include "proxy/services.hpp"

namespace garner::proxy {

namespace {

constexpr std::size_t descriptors_at_once = 200;   // SCM_RIGHTS takes 253
constexpr Bytes bytes_at_once = 56 * KiB;          // a message has at most 64 KiB

}   // namespace

void Departures::add(Services& from, MovingClient client) {
    ++from.drain.departing;
    Departure departure{std::move(client), &from};
    if (auto const ended = keep(departure)) return resume(std::move(departure), *ended);
    wake_();
}

/// Takes it, unless no further one leaves.
std::optional<Departures::Next> Departures::keep(Departure& departure) {
    MutexLock const lock(mutex_);
    if (!ended_) waiting_.push_back(std::move(departure));
    return ended_;
}

void Departures::end(Next next) {
    MutexLock const lock(mutex_);
    ended_ = next;
}

std::vector<Departure> Departures::take() {
    std::vector<Departure> some;
    std::size_t descriptors = 0;
    Bytes bytes = 0;
    MutexLock const lock(mutex_);
    while (!waiting_.empty()) {
        auto const& state = waiting_.front().client.state;
        descriptors += state.descriptors();
        bytes += state.bytes();
        if (!some.empty() && (descriptors > descriptors_at_once || bytes > bytes_at_once)) break;
        some.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
    }
    return some;
}

void Departures::close(Departure departure) {
    net::asio::post(departure.from->worker.io, [from = departure.from] { --from->drain.departing; });
}

void Departures::resume(Departure departure, Next next) {
    auto& from = *departure.from;
    net::asio::post(from.worker.io, [&from, next, client = std::move(departure.client)]() mutable {
        --from.drain.departing;
        serve_moved(from, std::move(client), next);
    });
}

}   // namespace garner::proxy
