#include "store/successor_disk.hpp"

#include <thread>
#include <utility>

#include "net/waiter.hpp"

namespace garner::store {

namespace {

constexpr milliseconds successor_patience{5'000};   // as DiskStore::settled()
constexpr milliseconds successor_pause{2};
constexpr std::size_t keys_a_message = 256;
constexpr Bytes bytes_a_message = 24 * KiB;

}   // namespace

SuccessorDisk::SuccessorDisk(DiskStore const* former, std::function<void()> wake) : InterimDisk(former), wake_(std::move(wake)) {}

std::uint64_t SuccessorDisk::add(std::string_view key, Survives what) {
    std::uint64_t number;
    {
        MutexLock const lock(removals_mutex_);
        waiting_.push_back({std::string(key), what});
        number = ++added_;
    }
    wake_();
    return number;
}

std::optional<SuccessorDisk::Removals> SuccessorDisk::take() {
    MutexLock const lock(removals_mutex_);
    if (waiting_.empty()) return std::nullopt;
    Removals removals;
    for (Bytes bytes = 0; !waiting_.empty() && removals.keys.size() < keys_a_message && bytes < bytes_a_message; ++taken_) {
        auto& next = waiting_.front();
        bytes += next.key.size();
        if (next.what == Survives::power) removals.what = Survives::power;
        if (!next.key.empty()) removals.keys.push_back(std::move(next.key));
        waiting_.pop_front();
    }
    removals.number = taken_;
    return removals;
}

void SuccessorDisk::acknowledge(std::uint64_t number) {
    MutexLock const lock(removals_mutex_);
    if (number <= taken_ && number > acknowledged_) acknowledged_ = number;
}

void SuccessorDisk::finish() {
    MutexLock const lock(removals_mutex_);
    finished_ = true;
}

/// It is unknown what the other process has.
bool SuccessorDisk::forget(std::string_view key) {
    InterimDisk::forget(key);   // for this process, if it takes the disk back
    if (!next()) add(key, Survives::process);
    return true;
}

SuccessorDisk::Answer SuccessorDisk::answer(std::uint64_t number) const {
    if (next()) return Answer::passed_on;
    MutexLock const lock(removals_mutex_);
    return finished_ || acknowledged_ >= number ? Answer::settled : Answer::waits;
}

net::awaitable<bool> SuccessorDisk::settled(Survives what, net::Executor executor) {
    auto const until = steady_now() + successor_patience;
    auto const number = add({}, what);
    auto answer = this->answer(number);
    while (answer == Answer::waits && steady_now() < until) {
        net::Waiter waiter(executor);
        co_await waiter.wait(successor_pause);
        answer = this->answer(number);
    }
    if (answer != Answer::passed_on) co_return answer == Answer::settled;
    auto const next = this->next();
    co_return co_await next->settled(what, executor);
}

bool SuccessorDisk::wait_until_settled(Survives what) {
    auto const until = steady_now() + successor_patience;
    auto const number = add({}, what);
    auto answer = this->answer(number);
    while (answer == Answer::waits && steady_now() < until) {
        std::this_thread::sleep_for(successor_pause);
        answer = this->answer(number);
    }
    if (answer != Answer::passed_on) return answer == Answer::settled;
    return next()->wait_until_settled(what);
}

}   // namespace garner::store
