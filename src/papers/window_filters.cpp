#include "papers/window_filters.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace garner::papers {

bool LandmarkWindow::look(Fingerprint url) {
    if (requests_++ == entries_) {
        filter_.clear();
        requests_ = 1;
    }
    bool const held = filter_.holds(url);
    if (!held) filter_.put(url);
    return held;
}

bool SlidingWindow::look(Fingerprint url) {
    auto& oldest = latest_[oldest_];
    if (oldest.in) filter_.take_out(oldest.url);
    bool const held = filter_.holds(url);
    if (!held) filter_.put(url);
    oldest = {url, !held};
    if (++oldest_ == latest_.size()) oldest_ = 0;
    return held;
}

std::span<policy::Setting const> JumpingWindow::declared() {
    static std::array const settings{
        BloomSettings::declared()[0],
        BloomSettings::declared()[1],
        policy::Setting{"parts", "of the window, of which the oldest is forgotten at once", 8, 2, 14},   // 4-bit counters
    };
    return settings;
}

JumpingWindow::JumpingWindow(crawl::CacheOptions const& options)
    : entries_(options.entries), all_(BloomSettings::places(options)) {
    auto const parts = static_cast<std::size_t>(std::round(options.value(declared(), 2)));
    // Over the same places as the one that counts.
    for (std::size_t i = 0; i < parts; ++i) parts_.emplace_back(BloomSettings::places(options));
}

bool JumpingWindow::look(Fingerprint url) {
    auto const in_part = std::max<std::uint64_t>(entries_ / parts_.size(), 1);
    if (requests_++ == in_part) jump();
    if (all_.holds(url)) return true;
    parts_[latest_].put(url, [&](std::uint64_t place) { all_.count_up(place); });
    return false;
}

void JumpingWindow::jump() {
    latest_ = (latest_ + 1) % parts_.size();
    parts_[latest_].each([&](std::uint64_t place) { all_.count_down(place); });
    parts_[latest_].clear();
    requests_ = 1;
}

std::uint64_t JumpingWindow::memory_bits() const {
    auto bits = all_.memory_bits();
    for (auto const& part : parts_) bits += part.memory_bits();
    return bits;
}

}  // namespace garner::papers
