#include "papers/references.hpp"

#include <algorithm>

namespace garner::papers {
namespace {
constexpr auto none = FingerprintMap::none;
}

Min::Min(crawl::CacheOptions const& options)
    : entries_(static_cast<std::uint32_t>(options.entries)), foresight_(options.foresight) {
    check(foresight_ != nullptr);
    // There may be fewer of them than would fit.
    heap_.reserve(std::min<std::uint64_t>(entries_, foresight_->distinct()));
}

bool Min::look(Fingerprint url) {
    check(now_ < foresight_->next_uses().size());
    Entry const entry{url, foresight_->next_uses()[now_++]};
    auto const place = index_.find(url);
    if (place != none) {
        rise(place, entry);   // it was due now, before all others
        return true;
    }
    if (heap_.size() < entries_) {
        heap_.push_back(entry);
        index_.at(url) = none - 1;
        rise(static_cast<Place>(heap_.size() - 1), entry);
    } else {
        index_.erase(heap_.front().url);
        index_.at(url) = none - 1;
        sink(0, entry);
    }
    return false;
}

std::uint64_t Min::memory_bits() const { return index_.memory_bits() + heap_.capacity() * 8 * sizeof(Entry); }

void Min::rise(Place place, Entry entry) {
    while (place > 0) {
        auto const above = (place - 1) / 2;
        if (heap_[above].next_use >= entry.next_use) break;
        heap_[place] = heap_[above];
        index_.at(heap_[place].url) = place;
        place = above;
    }
    heap_[place] = entry;
    index_.at(entry.url) = place;
}

void Min::sink(Place place, Entry entry) {
    for (;;) {
        auto below = 2 * std::size_t{place} + 1;
        if (below >= heap_.size()) break;
        if (below + 1 < heap_.size() && heap_[below + 1].next_use > heap_[below].next_use) ++below;
        if (heap_[below].next_use <= entry.next_use) break;
        heap_[place] = heap_[below];
        index_.at(heap_[place].url) = place;
        place = static_cast<Place>(below);
    }
    heap_[place] = entry;
    index_.at(entry.url) = place;
}

Static::Static(crawl::CacheOptions const& options) : entries_(options.entries) {
    check(options.foresight != nullptr);
    for (auto url : options.foresight->most_popular(entries_)) held_.at(url) = 0;
}

}  // namespace garner::papers
