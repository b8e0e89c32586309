#include "store/interim_disk.hpp"

#include <thread>
#include <utility>

#include "net/waiter.hpp"

namespace garner::store {

namespace {

constexpr milliseconds interim_patience{5'000};   // as DiskStore::settled()
constexpr milliseconds interim_pause{5};

}   // namespace

InterimDisk::InterimDisk(DiskStore const* former)
    : options_(former ? former->options() : DiskOptions()), stats_(former ? former->stats() : DiskStats()),
      first_sequence_(former ? former->first_sequence() : 0) {
    if (former) stats_.state = DiskStats::State::recovering;
}

bool InterimDisk::pass_on(std::shared_ptr<DiskStore> next) {
    MutexLock const lock(mutex_);
    if (too_many_) return false;
    for (auto const& key : removed_) next->forget(key);
    for (auto const& line : noted_) (void)next->note(line);
    removed_.clear();
    noted_.clear();
    next_ = std::move(next);
    return true;
}

void InterimDisk::pass_on_to_empty(std::shared_ptr<DiskStore> next) {
    MutexLock const lock(mutex_);
    next_ = std::move(next);
}

NotStored InterimDisk::store(Object::Parts const& parts) {
    forget(parts.key);
    return NotStored::failing;
}

std::unique_ptr<DiskFill> InterimDisk::begin(std::string_view, std::optional<Bytes>, DiskFill::Of, NotStored& why) {
    why = NotStored::failing;
    return nullptr;
}

/// It is unknown whether the closed store had it.
bool InterimDisk::forget(std::string_view key) {
    MutexLock const lock(mutex_);
    if (next_) return next_->forget(key);
    too_many_ = too_many_ || removed_.size() == removals_max;
    if (too_many_)
        removed_.clear();
    else
        removed_.emplace_back(key);
    return true;
}

bool InterimDisk::note(std::string_view line) {
    MutexLock const lock(mutex_);
    if (next_) return next_->note(line);
    too_many_ = too_many_ || noted_.size() == removals_max;
    if (!too_many_) noted_.emplace_back(line);
    return true;
}

std::shared_ptr<DiskStore> InterimDisk::next() const {
    MutexLock const lock(mutex_);
    return next_;
}

net::awaitable<bool> InterimDisk::settled(Survives what, net::Executor executor) {
    auto const until = steady_now() + interim_patience;
    auto next = this->next();
    while (!next && steady_now() < until) {
        net::Waiter waiter(executor);
        co_await waiter.wait(interim_pause);
        next = this->next();
    }
    if (!next) co_return false;
    co_return co_await next->settled(what, executor);
}

bool InterimDisk::wait_until_settled(Survives what) {
    auto const until = steady_now() + interim_patience;
    auto next = this->next();
    while (!next && steady_now() < until) {
        std::this_thread::sleep_for(interim_pause);
        next = this->next();
    }
    return next && next->wait_until_settled(what);
}

}   // namespace garner::store
