#include "cache/cache.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace garner::cache {

void Cache::set_disk(std::shared_ptr<store::DiskStore> disk) {
    if (disk) {
        numbers.begin_behind(*disk);
        restore_invalidations(*disk);
    }
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
    auto const number = invalidations.accept(what, now);
    note({what, number, now});
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
        noted->number = std::min(noted->number, numbers.last());
        all.push_back(*std::move(noted));
    }
    invalidations.restore(all);
}

Bytes longest_body(Cache const& cache) {
    auto const disk = cache.disk().store();
    return std::max(cache.memory().object_max(), disk ? disk->options().object_max : 0);
}

http::StoreRefusal refusal_of(Cache const& cache, Bytes body) {
    bool const not_admitted = body <= longest_body(cache);
    return not_admitted ? http::StoreRefusal::not_admitted : http::StoreRefusal::too_large;
}

}   // namespace garner::cache
