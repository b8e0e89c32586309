#include "proxy/recent_requests.hpp"

#include <algorithm>
#include <bit>

namespace garner::proxy {

namespace {

std::size_t capacity_of_worker(std::size_t workers) {
    return std::max(RecentRequests::of_worker_min,
                    std::bit_floor(RecentRequests::of_all_workers / std::max<std::size_t>(workers, 1)));
}

}   // namespace

RecentRequests::RecentRequests(std::size_t workers)
    : mask_(capacity_of_worker(workers) - 1), words_(std::make_unique_for_overwrite<std::uint64_t[]>(capacity() * words_each)) {}

/// The worker may overwrite the oldest places meanwhile: a reading of them is dropped.
void RecentRequests::find(std::span<Fingerprint const> urls, std::size_t most, std::vector<RecentRequest>& found) const {
    auto const count = count_.load(std::memory_order_acquire);
    auto const oldest = count - std::min<std::uint64_t>(count, capacity());
    std::size_t of_urls = 0;
    for (auto number = count; number > oldest && of_urls < most; --number) {
        auto* const place = &words_[((number - 1) & mask_) * words_each];
        Words words;
        for (std::size_t i = 0; i < words_each; ++i) words[i] = std::atomic_ref(place[i]).load(std::memory_order_acquire);
        if (count_.load(std::memory_order_acquire) >= number - 1 + capacity()) return;
        auto const one = std::bit_cast<RecentRequest>(words);
        if (std::ranges::find(urls, one.url) == urls.end()) continue;
        found.push_back(one);
        ++of_urls;
    }
}

}   // namespace garner::proxy
