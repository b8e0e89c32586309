#include "app/removals.hpp"

#include <algorithm>
#include <vector>

#include "cache/key.hpp"
#include "cache/restoration.hpp"
#include "store/successor_disk.hpp"

namespace garner::app {

/// All messages of a batch but the last one have the number of the batch before.
Result<void> FormerRemovals::remove(takeover::Json const& message) {
    auto const removed = takeover::forget_of(message);
    if (!removed) return removed.fault();
    for (auto const& key : removed->keys) purge(key);
    if (removed->everything || everything_) everything_ = !remove_everything();
    owed_ = owed_ || removed->number > number_ || takeover::what_of(message) == "go";
    power_ = power_ || removed->power;
    number_ = std::max(number_, removed->number);
    return {};
}

void FormerRemovals::settle() {
    if (!owed_) return;
    if (everything_) everything_ = !remove_everything();
    if (everything_) return;
    auto const disk = cache_.disk().store();
    if (disk && !disk->wait_until_settled(power_ ? store::Survives::power : store::Survives::process)) return;
    if (conversation_->try_send(takeover::settled(number_)) != control::Sent::done) return;
    owed_ = power_ = false;
}

/// A line that this version does not know may be about any object.
void FormerRemovals::invalidate(std::string_view line) const {
    auto const noted = cache::noted_in(line);
    cache_.invalidate(noted ? noted->what : cache::invalidation_of_all(false));
}

void FormerRemovals::purge(std::string_view key) const {
    if (key.starts_with(store::SuccessorDisk::note_mark)) return invalidate(key.substr(1));
    auto const url = cache::url_of(key);
    if (!url.empty()) cache_.purge(cache_.key(url));
}

/// False if the disk store does not know all its objects yet.
bool FormerRemovals::remove_everything() const {
    cache::Restoration::end_all(cache_.memory());
    for (auto const& key : cache_.memory().fetches()) purge(key);
    std::vector<store::ObjectPtr> objects;
    for (cache::MemoryTier::Walk walk; cache_.memory().walk(walk, objects);) {
    }
    for (auto const& object : objects) purge(object->key());
    auto const disk = cache_.disk().store();
    if (!disk) return true;
    std::vector<store::DiskStore::Listed> listed;
    disk->list_waiting(listed);
    for (auto at = disk->segment_from(0); at; at = disk->segment_from(at->generation + 1)) disk->list(at->segment, listed);
    for (auto const& object : listed) {
        purge(object.key);
        disk->forget(object.key);
    }
    return disk->stats().state != store::DiskStats::State::recovering;
}

}   // namespace garner::app
