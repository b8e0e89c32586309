// The last requests of one worker, each with its outcome.
#pragma once
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "http/cache_status.hpp"
#include "proxy/counters.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/hash.hpp"
#include "util/ip.hpp"

namespace garner::proxy {

struct RecentRequest {
    Fingerprint url = 0;   // fingerprint of the cache key of the URL
    SteadyTime end{};
    IpAddress client;
    std::uint32_t took_us = 0;
    std::uint16_t status = 0;
    Answer answer = Answer::own;
    http::Fwd fwd = http::Fwd::none;
};

/// A ring of fixed size, also for hits: add() allocates and locks nothing. The worker adds, and any thread may search.
class RecentRequests {
public:
    static constexpr std::size_t of_all_workers = 65'536;
    static constexpr std::size_t of_worker_min = 1'024;

    explicit RecentRequests(std::size_t workers);
    /// Called on the worker's thread only.
    void add(RecentRequest const& one) {
        auto const number = count_.load(std::memory_order_relaxed);
        auto* const place = &words_[(number & mask_) * words_each];
        auto const words = std::bit_cast<Words>(one);
        // Release: a reader that sees a new word also sees the count before it, and drops the place.
        for (std::size_t i = 0; i < words_each; ++i) std::atomic_ref(place[i]).store(words[i], std::memory_order_release);
        count_.store(number + 1, std::memory_order_release);
    }
    /// Appends those for one of the URLs, at most `most` and the latest first.
    void find(std::span<Fingerprint const> urls, std::size_t most, std::vector<RecentRequest>& found) const;
    std::size_t capacity() const { return mask_ + 1; }
    Bytes bytes() const { return capacity() * sizeof(RecentRequest); }

private:
    static_assert(sizeof(RecentRequest) % sizeof(std::uint64_t) == 0);
    static constexpr std::size_t words_each = sizeof(RecentRequest) / sizeof(std::uint64_t);
    using Words = std::array<std::uint64_t, words_each>;

    std::size_t const mask_;
    std::unique_ptr<std::uint64_t[]> const words_;   // stays uninitialised, so that unused pages take no memory
    std::atomic<std::uint64_t> count_{0};            // number of added requests
};

}   // namespace garner::proxy
