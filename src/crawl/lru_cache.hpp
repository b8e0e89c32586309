// LRU: the fingerprint that was not asked for the longest leaves.
#pragma once
#include <optional>
#include <vector>

#include "util/fingerprint_map.hpp"
#include "crawl/seen_cache.hpp"

namespace garner::crawl {

class Lru final : public Batched<Lru> {
public:
    explicit Lru(CacheOptions const&);

    struct Use {
        bool held = false;
        std::optional<Fingerprint> left = std::nullopt;   // for this one, when it was not held
    };
    Use use(Fingerprint);

    bool look(Fingerprint url) { return use(url).held; }
    void prefetch(Fingerprint url) const { index_.prefetch(url); }
    std::uint64_t entries() const override { return entries_; }
    std::uint64_t memory_bits() const override;

private:
    using Slot = std::uint32_t;
    struct Entry {
        Fingerprint url;
        Slot older, newer;
    };
    void put_newest(Slot);
    void take_out(Slot);

    std::uint32_t const entries_;
    FingerprintMap index_;          // the slot of each
    std::vector<Entry> slots_;
    Slot oldest_ = FingerprintMap::none, newest_ = FingerprintMap::none;
};

}  // namespace garner::crawl
