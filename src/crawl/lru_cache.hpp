// LRU: evicts the least recently requested fingerprint.
#pragma once
#include <optional>
#include <vector>

#include "crawl/seen_cache.hpp"
#include "util/fingerprint_map.hpp"

namespace garner::crawl {

class Lru final : public Batched<Lru> {
public:
    explicit Lru(CacheOptions const& options) : entries_(static_cast<std::uint32_t>(options.entries)), index_(options.entries) {
        check(options.entries > 0 && options.entries < none);
        slots_.reserve(entries_);
    }

    struct Use {
        bool held = false;
        std::optional<Fingerprint> left = std::nullopt;   // evicted for this one, if it was not held
    };
    Use use(Fingerprint url) {
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

    bool look(Fingerprint url) { return use(url).held; }
    void prefetch(Fingerprint url) const { index_.prefetch(url); }
    std::uint64_t entries() const override { return entries_; }
    std::uint64_t memory_bits() const override { return index_.memory_bits() + slots_.capacity() * 8 * sizeof(Entry); }

private:
    using Slot = std::uint32_t;
    static constexpr Slot none = FingerprintMap::none;
    struct Entry {
        Fingerprint url;
        Slot older, newer;
    };
    void put_newest(Slot slot) {
        slots_[slot].older = newest_;
        slots_[slot].newer = none;
        (newest_ == none ? oldest_ : slots_[newest_].newer) = slot;
        newest_ = slot;
    }
    void take_out(Slot slot) {
        auto const [url, older, newer] = slots_[slot];
        (older == none ? oldest_ : slots_[older].newer) = newer;
        (newer == none ? newest_ : slots_[newer].older) = older;
    }

    std::uint32_t const entries_;
    FingerprintMap index_;   // the slot of each fingerprint
    std::vector<Entry> slots_;
    Slot oldest_ = none, newest_ = none;
};

}   // namespace garner::crawl
