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

SuccessorDisk::SuccessorDisk(DiskStore const* former, std::function<void()> wake, Shorten shorten)
    : InterimDisk(former), wake_(std::move(wake)), shorten_(shorten) {}

void SuccessorDisk::add(std::string_view key) {
    {
        MutexLock const lock(removals_mutex_);
        ++added_;
        everything_ = everything_ || key.size() > key_max || waiting_.size() == removals_max;
        if (everything_)
            waiting_.clear();
        else
            waiting_.emplace(key);
    }
    wake_();
}

/// The number that a wait needs; 0: it need not wait.
std::uint64_t SuccessorDisk::ask(Survives what) {
    std::uint64_t number;
    {
        MutexLock const lock(removals_mutex_);
        if (what == Survives::process && !waits_) return 0;
        power_ = power_ || what == Survives::power;
        number = ++added_;
    }
    wake_();
    return number;
}

std::optional<SuccessorDisk::Removals> SuccessorDisk::take() {
    MutexLock const lock(removals_mutex_);
    if (taken_ == added_) return std::nullopt;
    Removals removals;
    removals.everything = std::exchange(everything_, false);
    Bytes bytes = 0;
    while (!waiting_.empty() && removals.keys.size() < keys_a_message) {
        auto const first = waiting_.begin();
        bytes += first->size();
        if (bytes > bytes_a_message && !removals.keys.empty()) break;
        removals.keys.push_back(std::move(waiting_.extract(first).value()));
    }
    if (waiting_.empty()) {
        taken_ = added_;
        if (std::exchange(power_, false)) removals.what = Survives::power;
    }
    removals.number = taken_;
    return removals;
}

void SuccessorDisk::acknowledge(std::uint64_t number) {
    MutexLock const lock(removals_mutex_);
    if (number <= taken_ && number > acknowledged_) acknowledged_ = number;
}

void SuccessorDisk::begin_to_wait() {
    MutexLock const lock(removals_mutex_);
    waits_ = true;
}

void SuccessorDisk::finish() {
    MutexLock const lock(removals_mutex_);
    finished_ = true;
}

/// It is unknown what the other process has.
bool SuccessorDisk::forget(std::string_view key) {
    InterimDisk::forget(key);   // for this process, if it takes the disk back
    if (!next()) add(shorten_(key));
    return true;
}

bool SuccessorDisk::note(std::string_view line) {
    bool const noted = InterimDisk::note(line);   // for this process, if it takes the disk back
    if (!next()) add(note_mark + std::string(line));
    return noted;
}

SuccessorDisk::Settling SuccessorDisk::answer(std::uint64_t number) const {
    if (next()) return Settling::passed_on;
    MutexLock const lock(removals_mutex_);
    return finished_ || acknowledged_ >= number ? Settling::settled : Settling::waits;
}

net::awaitable<bool> SuccessorDisk::settled(Survives what, net::Executor executor) {
    auto const until = steady_now() + successor_patience;
    auto const number = ask(what);
    auto answer = this->answer(number);
    while (answer == Settling::waits && steady_now() < until) {
        net::Waiter waiter(executor);
        co_await waiter.wait(successor_pause);
        answer = this->answer(number);
    }
    if (answer != Settling::passed_on) co_return answer == Settling::settled;
    auto const next = this->next();
    co_return co_await next->settled(what, executor);
}

bool SuccessorDisk::wait_until_settled(Survives what) {
    auto const until = steady_now() + successor_patience;
    auto const number = ask(what);
    auto answer = this->answer(number);
    while (answer == Settling::waits && steady_now() < until) {
        std::this_thread::sleep_for(successor_pause);
        answer = this->answer(number);
    }
    if (answer != Settling::passed_on) return answer == Settling::settled;
    return next()->wait_until_settled(what);
}

}   // namespace garner::store
