// A cache for each crawler thread instead of one that all share.
#pragma once
#include <memory>
#include <vector>

#include "crawl/seen_cache.hpp"

namespace garner::seen_commands {

/// The threads get the requests in turn, a page of `page_links` each.
class PrivateCaches final : public crawl::SeenCache {
public:
    PrivateCaches(std::vector<std::unique_ptr<SeenCache>> caches, std::uint32_t page_links)
        : caches_(std::move(caches)), page_links_(page_links), left_(page_links) {}

    void seen_each(std::span<Fingerprint const> urls, std::span<std::uint8_t> answers) override {
        while (!urls.empty()) {
            auto const now = std::min<std::size_t>(urls.size(), left_);
            caches_[turn_]->seen_each(urls.first(now), answers.first(now));
            urls = urls.subspan(now);
            answers = answers.subspan(now);
            left_ -= static_cast<std::uint32_t>(now);
            if (left_ > 0) continue;
            left_ = page_links_;
            turn_ = turn_ + 1 == caches_.size() ? 0 : turn_ + 1;
        }
    }
    std::uint64_t entries() const override { return sum(&SeenCache::entries); }
    std::uint64_t memory_bits() const override { return sum(&SeenCache::memory_bits); }

private:
    std::uint64_t sum(std::uint64_t (SeenCache::*of)() const) const {
        std::uint64_t all = 0;
        for (auto const& cache : caches_) all += (cache.get()->*of)();
        return all;
    }

    std::vector<std::unique_ptr<SeenCache>> caches_;
    std::uint32_t page_links_, left_;
    std::size_t turn_ = 0;
};

}   // namespace garner::seen_commands
