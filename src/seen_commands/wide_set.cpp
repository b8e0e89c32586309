#include "seen_commands/wide_set.hpp"

#include <algorithm>

#include "crawl/mixed_bits.hpp"
#include "util/check.hpp"

namespace garner::seen_commands {
namespace {

constexpr std::uint64_t slots = 4, fewest_lines = 64;
constexpr std::size_t ahead = 16;   // prefetched lines

// At most seven eighths full: then a search ends in the second line on average.
constexpr std::uint64_t room_in(std::uint64_t lines) { return lines * slots * 7 / 8; }
constexpr std::uint64_t lines_for(std::uint64_t entries) { return std::max(fewest_lines, entries * 8 / 7 / slots + 1); }

}   // namespace

WideSet::WideSet(Options const& options)
    : lines_(lines_for(options.expected)), seed_(options.seed), room_(room_in(lines_.size())) {}

Bytes WideSet::bytes_for(std::uint64_t expected) { return lines_for(expected) * sizeof(Line); }

std::uint64_t WideSet::line_of(crawl::Fingerprint128 const& print) const {
    auto const hash = crawl::mixed(print.high ^ seed_);
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(hash) * lines_.size()) >> 64);
}

crawl::WideUrlSet::Added WideSet::add(std::span<crawl::Fingerprint128 const> batch, std::span<std::uint8_t> is_new) {
    check(batch.size() == is_new.size());
    Added added;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (i + ahead < batch.size()) __builtin_prefetch(lines_.data() + line_of(batch[i + ahead]));
        bool fresh = false;
        if (batch[i] == crawl::Fingerprint128{})
            fresh = !std::exchange(has_zero_, true);
        else
            fresh = put(batch[i]);
        is_new[i] = fresh;
        added.fresh += fresh;
    }
    return added;
}

bool WideSet::put(crawl::Fingerprint128 const& print) {
    for (auto line = line_of(print);; line = line + 1 == lines_.size() ? 0 : line + 1) {
        for (auto& slot : lines_[line].slots) {
            if (slot == print) return false;
            if (slot != crawl::Fingerprint128{}) continue;
            if (size_ == room_) return grow(), put(print);
            slot = print;
            ++size_;
            return true;
        }
    }
}

void WideSet::grow() {
    auto const old = std::exchange(lines_, crawl::HugeArray<Line>(lines_.size() * 5 / 4));
    room_ = room_in(lines_.size());
    size_ = 0;
    for (std::size_t i = 0; i < old.size(); ++i)
        for (auto const& slot : old[i].slots)
            if (slot != crawl::Fingerprint128{}) put(slot);
}

}   // namespace garner::seen_commands
