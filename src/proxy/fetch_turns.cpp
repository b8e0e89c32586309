#include "proxy/fetch_turns.hpp"

#include <algorithm>

namespace garner::proxy {

milliseconds FetchTurns::delay(Origin const& origin, SteadyTime now) {
    if (origin.running.size() < most) return milliseconds{0};
    auto const decisive = std::next(origin.running.begin(), static_cast<std::ptrdiff_t>(origin.running.size() - most));
    return std::max(std::chrono::ceil<milliseconds>(*decisive + young - now), milliseconds{0});
}

net::awaitable<FetchTurns::Turn> FetchTurns::take(Fingerprint key, net::Executor executor) {
    auto& origin = origins_[key];
    for (auto limit = delay(origin, steady_now()); limit > milliseconds{0}; limit = delay(origin, steady_now())) {
        net::Waiter waiter(executor);
        auto const place = origin.waiting.insert(origin.waiting.end(), waiter.handle());
        co_await waiter.wait(limit);
        origin.waiting.erase(place);
    }
    co_return Turn(*this, key, origin.running.insert(origin.running.end(), steady_now()));
}

void FetchTurns::end(Fingerprint key, std::list<SteadyTime>::iterator begun) {
    auto const found = origins_.find(key);
    auto& origin = found->second;
    origin.running.erase(begun);
    for (auto const& waiting : origin.waiting) waiting.wake(net::Wake::ready);   // each checks again
    if (origin.waiting.empty() && origin.running.empty()) origins_.erase(found);
}

}   // namespace garner::proxy
