#include "crawl/lru_cache.hpp"

namespace garner::crawl {

namespace {
constexpr auto none = FingerprintMap::none;
}

Lru::Lru(CacheOptions const& options) : entries_(static_cast<std::uint32_t>(options.entries)), index_(options.entries) {
    check(options.entries > 0 && options.entries < none);
    slots_.reserve(entries_);
}

Lru::Use Lru::use(Fingerprint url) {
    auto slot = index_.find(url);
    if (slot != none) {
        if (slot != newest_) take_out(slot), put_newest(slot);
        return {.held = true};
    }
    Use use;
    if (slots_.size() < entries_) {
        slot = static_cast<Slot>(slots_.size());
        slots_.push_back({url, none, none});
    } else {
        slot = oldest_;
        use.left = slots_[slot].url;
        index_.erase(*use.left);
        take_out(slot);
        slots_[slot].url = url;
    }
    index_.at(url) = slot;
    put_newest(slot);
    return use;
}

std::uint64_t Lru::memory_bits() const { return index_.memory_bits() + slots_.capacity() * 8 * sizeof(Entry); }

void Lru::put_newest(Slot slot) {
    slots_[slot].older = newest_;
    slots_[slot].newer = none;
    (newest_ == none ? oldest_ : slots_[newest_].newer) = slot;
    newest_ = slot;
}

void Lru::take_out(Slot slot) {
    auto const [url, older, newer] = slots_[slot];
    (older == none ? oldest_ : slots_[older].newer) = newer;
    (newer == none ? newest_ : slots_[newer].older) = older;
}

}  // namespace garner::crawl
