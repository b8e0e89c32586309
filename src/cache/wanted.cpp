#include "cache/wanted.hpp"

#include <utility>

#include "net/waiter.hpp"

namespace garner::cache {

struct Wanted::Request {
    Request(Wanted& where, std::string_view text, net::Executor executor) : wanted(where), key(text), waiter(executor) {}
    Request(Request const&) = delete;
    ~Request() { wanted.remove(*this); }

    void answer(store::ObjectPtr const& found) {
        object = found;
        waiter.handle().wake(net::Wake::ready);
    }

    Wanted& wanted;
    std::string const key;
    net::Waiter waiter;
    store::ObjectPtr object;   // set before it is woken
};

void Wanted::begin(Ask ask) {
    MutexLock const lock(mutex_);
    ask_ = std::move(ask);
    on_ = true;
}

void Wanted::end() {
    MutexLock const lock(mutex_);
    on_ = false;
    ask_ = nullptr;
    for (auto const& [key, requests] : requests_)
        for (auto* const request : requests) request->answer(nullptr);
    requests_.clear();
}

net::awaitable<store::ObjectPtr> Wanted::load(std::string_view key, net::Executor executor) {
    Request request(*this, key, executor);
    if (!add(request)) co_return nullptr;
    auto const woken = co_await request.waiter.wait(patience);
    if (woken != net::Wake::ready) co_return nullptr;
    co_return std::move(request.object);
}

bool Wanted::add(Request& request) {
    MutexLock const lock(mutex_);
    if (!ask_ || requests_.size() >= most) return false;
    auto const [place, is_new] = requests_.try_emplace(request.key);
    if (is_new && !ask_(request.key)) {
        requests_.erase(place);
        return false;
    }
    place->second.push_back(&request);
    return true;
}

void Wanted::remove(Request const& request) {
    MutexLock const lock(mutex_);
    auto const place = requests_.find(request.key);
    if (place == requests_.end()) return;
    std::erase(place->second, &request);
    if (place->second.empty()) requests_.erase(place);
}

bool Wanted::waits_for(std::string_view key) const {
    MutexLock const lock(mutex_);
    return !requests_.empty() && requests_.contains(std::string(key));
}

void Wanted::answer(std::string_view key, store::ObjectPtr const& object) {
    MutexLock const lock(mutex_);
    if (requests_.empty()) return;
    auto const place = requests_.find(std::string(key));
    if (place == requests_.end()) return;
    for (auto* const request : place->second) request->answer(object);
    requests_.erase(place);
}

}   // namespace garner::cache
