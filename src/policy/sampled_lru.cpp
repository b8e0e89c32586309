#include "policy/sampled_lru.hpp"

#include "util/check.hpp"

namespace garner::policy {

SampledLru::SampledLru(Bytes capacity, std::uint32_t entries)
    : grain_(capacity / entries + 1), objects_(entries + 1u), table_(2u * entries, none) {
    check(entries > 0 && entries <= most_entries);
    for (Index free = free_; free <= entries; ++free) objects_[free].newer = free < entries ? static_cast<Index>(free + 1) : none;
}

bool SampledLru::request(std::uint32_t tag, Bytes size, double room) {
    while (occupied_ > room && objects_[root].newer != root) evict_oldest();
    if (auto const found = table_[find(tag)]; found != none) {
        unlink(found);
        link_newest(found);
        return true;
    }
    auto const bytes = static_cast<float>(bytes_for(size));
    if (bytes > room) return false;
    while (objects_[root].newer != root && (free_ == none || occupied_ + bytes > room)) evict_oldest();
    Index const added = free_;
    free_ = objects_[added].newer;
    objects_[added].tag = tag;
    objects_[added].bytes = bytes;
    occupied_ += bytes;
    table_[find(tag)] = added;
    link_newest(added);
    return false;
}

std::size_t SampledLru::home(std::uint32_t tag) const {
    auto const hash = static_cast<std::uint32_t>(tag * 0x9e37'79b9'7f4a'7c15 >> 32);
    return static_cast<std::size_t>(std::uint64_t{hash} * table_.size() >> 32);
}

std::size_t SampledLru::find(std::uint32_t tag) const {
    auto place = home(tag);
    while (table_[place] != none && objects_[table_[place]].tag != tag) place = next(place);
    return place;
}

void SampledLru::link_newest(Index index) {
    auto const newest = objects_[root].older;
    objects_[index].older = newest;
    objects_[index].newer = root;
    objects_[newest].newer = index;
    objects_[root].older = index;
}

void SampledLru::unlink(Index index) {
    auto const [tag, bytes, older, newer] = objects_[index];
    objects_[older].newer = newer;
    objects_[newer].older = older;
}

void SampledLru::evict_oldest() {
    auto const oldest = objects_[root].newer;
    auto hole = find(objects_[oldest].tag);
    // Backward shift: an object moves up to the hole unless its home is behind the hole.
    auto const distance = [this](std::size_t from, std::size_t to) { return to >= from ? to - from : to + table_.size() - from; };
    for (auto place = next(hole); table_[place] != none; place = next(place)) {
        if (distance(home(objects_[table_[place]].tag), place) < distance(hole, place)) continue;
        table_[hole] = table_[place];
        hole = place;
    }
    table_[hole] = none;
    unlink(oldest);
    occupied_ -= objects_[oldest].bytes;
    objects_[oldest].newer = free_;
    free_ = oldest;
}

}   // namespace garner::policy
