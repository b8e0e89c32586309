#include "cache/cache.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace garner::cache {

void Cache::set_disk(store::DiskStore* disk) {
    disk_.set({std::shared_ptr<void>(), disk});
    if (!disk) return;
    fetches_.supersession().begin_behind(*disk);
    restore_invalidations(*disk);
}

void Cache::exchange_disk(std::shared_ptr<store::DiskStore> disk) {
    if (disk) fetches_.supersession().begin_behind(*disk);
    if (disk) restore_invalidations(*disk);
    disk_.set(std::move(disk));
    memory_.pass_locks();
}

bool Cache::purge(Key const& key, Fill const* but) {
    bool found = fetches_.supersession().purge(key, but);
    auto const twin = twin_text(key.text);
    if (!twin.empty()) found |= fetches_.supersession().purge(this->key(twin), nullptr);
    return found;
}

bool Cache::purge(std::string_view url) {
    bool found = false;
    std::string text;
    for (auto const partition : partitions) {
        write_key_text(partition, url, text);
        found |= purge(key(text));
    }
    return found;
}

// ---- invalidations ----

void Cache::invalidate(Invalidation const& what) {
    auto const now = wall_now();
    auto const number = memory_.invalidations.accept(what, now, [this] { return fetches_.supersession().next(); });
    note({what, number, now});
}

void Cache::invalidate_before_purge(Invalidation const& what) {
    memory_.invalidations.accept_purged(what, wall_now(), [this] { return fetches_.supersession().next(); });
}

void Cache::raise_watermark() {
    memory_.invalidations.raise_watermark(wall_now(), [this] { return fetches_.supersession().next(); });
}

void Cache::configure(GroupOptions const& options) {
    memory_.invalidations.configure(options, [this] { return fetches_.supersession().next(); });
}

/// A store that is closed meanwhile has a successor already.
void Cache::note(Noted const& noted) {
    auto const line = line_of(noted);
    for (auto disk = disk_.store(); disk && !disk->note(line);) {
        auto next = disk_.store();
        if (next == disk) return;   // the program ends
        disk = std::move(next);
    }
}

/// Lines that cannot be read may have been about anything.
void Cache::restore_invalidations(store::DiskStore const& disk) {
    std::vector<Noted> all;
    for (auto const& line : disk.notes()) {
        auto noted = noted_in(line);
        if (!noted) noted = Noted{invalidation_of_all(false), disk.first_sequence(), wall_now()};
        noted->number = std::min(noted->number, last_number());
        all.push_back(*std::move(noted));
    }
    memory_.invalidations.restore(all, [this] { return fetches_.supersession().next(); });
}

Bytes longest_body(Cache const& cache) {
    auto const disk = cache.disk().store();
    return std::max(cache.memory().object_max(), disk ? disk->options().object_max : 0);
}

http::StoreRefusal refusal_of(Cache const& cache, Bytes body) {
    bool const not_admitted = body <= longest_body(cache);
    return not_admitted ? http::StoreRefusal::not_admitted : http::StoreRefusal::too_large;
}

void Cache::reconfigure(Options const& options) {
    memory_.reconfigure(options);
    disk_.reconfigure();
}

}   // namespace garner::cache
