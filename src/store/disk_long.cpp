#include "store/disk_long.hpp"

#include "store/disk_fill.hpp"
#include "util/clock.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {

namespace {

constexpr milliseconds retry_pause{2};
constexpr unsigned tries_for_room = 2'500;   // for one record

}   // namespace

bool LongWrites::is_for(Object::Parts const& parts) const {
    return parts.body && parts.body->size() > at_once_max && parts.body->is_resident() && !is_on_disk(core_, *parts.body);
}

NotStored LongWrites::take(Object::Parts const& parts) {
    auto job = std::make_shared<Job>(Object::make(parts, nullptr));
    auto const bytes = parts.body->size();
    MutexLock const lock(mutex_);
    if (stopping_ || (waiting_ > 0 && waiting_ + bytes > core_.limits().buffer)) return NotStored::too_slow;
    waiting_ += bytes;
    jobs_.push_back(std::move(job));
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    changed_.notify_one();
    return NotStored::none;
}

bool LongWrites::is_idle() const {
    MutexLock const lock(mutex_);
    return jobs_.empty();
}

bool LongWrites::forget(std::string_view key) {
    MutexLock const lock(mutex_);
    bool waited = false;
    for (auto const& job : jobs_) {
        if (job->gone || job->object->key() != key) continue;
        job->gone = waited = true;
    }
    return waited;
}

std::vector<ObjectPtr> LongWrites::waiting() const {
    MutexLock const lock(mutex_);
    std::vector<ObjectPtr> objects;
    for (auto const& job : jobs_)
        if (!job->gone) objects.push_back(job->object);
    return objects;
}

void LongWrites::stop() {
    {
        MutexLock const lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void LongWrites::run() {
    MutexLock const lock(mutex_);
    for (;;) {
        while (!stopping_ && jobs_.empty()) changed_.wait(mutex_);
        if (jobs_.empty()) return;
        auto job = jobs_.front();
        auto const why = write(*job);
        bool const gone = job->gone;
        waiting_ -= job->object->body()->size();
        jobs_.pop_front();
        MutexUnlock const unlocked(mutex_);
        if (!gone) told_(why, job->object->parts());
        job = nullptr;   // frees its bytes without the lock
    }
}

/// The head record is written under the lock, so that an object purged before stays removed.
NotStored LongWrites::write(Job const& job) {
    auto const parts = job.object->parts();
    WrittenPieces written;
    {
        MutexUnlock const unlocked(mutex_);
        written = write_pieces(core_, *parts.body, [&](unsigned tries) { return wait_for_room(job, tries); });
    }
    auto why = written.why;
    for (unsigned tries = 0; why == NotStored::none && !job.gone; ++tries) {
        why = write_head(core_, parts, written);
        if (why != NotStored::too_slow) break;
        MutexUnlock const unlocked(mutex_);
        if (wait_for_room(job, tries)) why = NotStored::none;
    }
    return why;
}

/// False when waiting is no longer useful.
bool LongWrites::wait_for_room(Job const& job, unsigned tries) {
    std::this_thread::sleep_for(retry_pause);
    MutexLock const lock(mutex_);
    return tries < tries_for_room && !job.gone;
}

}   // namespace garner::store::disk
