#include "cache/cache.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace garner::cache {

void Cache::set_disk(store::DiskStore* disk) {
    disk_.set({std::shared_ptr<void>(), disk});
    if (disk) fetches_.supersession().begin_behind(*disk);
}

void Cache::exchange_disk(std::shared_ptr<store::DiskStore> disk) {
    if (disk) fetches_.supersession().begin_behind(*disk);
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
