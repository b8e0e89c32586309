#include "crawl/batch_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "util/check.hpp"

namespace garner::crawl {

namespace {

constexpr std::size_t ways = 256;

std::size_t part_of(Fingerprint url) { return url >> 56; }
std::size_t slice_digit(Fingerprint url) { return url >> 48 & 0xff; }

// Sorts by the upper bits into about as many buckets as there are numbers, at most 256; then comparisons have little
// left to do.
void sort_numbers(std::span<std::uint64_t> numbers, std::vector<std::uint64_t>& room) {
    if (numbers.size() < 16) return std::sort(numbers.begin(), numbers.end());
    auto const shift = 64 - std::min(static_cast<int>(std::bit_width(numbers.size())), 8);
    std::array<std::uint32_t, ways> all_ends;
    auto const ends = std::span(all_ends).first(std::size_t{1} << (64 - shift));
    std::ranges::fill(ends, 0u);
    for (auto const number : numbers) ++ends[number >> shift];
    std::uint32_t sum = 0;
    for (auto& end : ends) sum += std::exchange(end, sum);
    room.resize(numbers.size());
    for (auto const number : numbers) room[ends[number >> shift]++] = number;
    std::uint32_t begin = 0;
    for (auto const end : ends) {
        auto const size = end - begin;
        if (size > 16) std::sort(room.begin() + begin, room.begin() + end);
        begin = end;
    }
    // The buckets are short: one insertion sort over all of them.
    for (std::size_t i = 1; i < room.size(); ++i) {
        auto const number = room[i];
        auto at = i;
        for (; at > 0 && room[at - 1] > number; --at) room[at] = room[at - 1];
        room[at] = number;
    }
    std::copy(room.begin(), room.end(), numbers.begin());
}

}   // namespace

BatchOrder::BatchOrder(std::span<Fingerprint const> earlier, std::span<Fingerprint const> batch)
    : earlier_(earlier), batch_(batch), part_begins_(ways + 1), scattered_(earlier.size() + batch.size()), new_(scattered_.size()) {
    check(size() < UINT32_MAX);
    for (auto const urls : {earlier_, batch_})
        for (auto const url : urls) ++part_begins_[part_of(url) + 1];
    for (std::size_t i = 0; i < ways; ++i) part_begins_[i + 1] += part_begins_[i];
    std::array<std::uint64_t, ways> next;
    std::copy_n(part_begins_.begin(), ways, next.begin());
    for (auto const urls : {earlier_, batch_})
        for (auto const url : urls) scattered_[next[part_of(url)]++] = url;
}

std::uint64_t BatchOrder::different_about() const {
    std::uint64_t different = 0;
    std::vector<Fingerprint> urls;
    for (std::size_t part = 31; part < ways; part += 64) {
        urls.assign(scattered_.data() + part_begins_[part], scattered_.data() + part_begins_[part + 1]);
        std::ranges::sort(urls);
        different += static_cast<std::uint64_t>(std::ranges::unique(urls).begin() - urls.begin());
    }
    return std::min(size(), different * 64);
}

void BatchOrder::open_part(unsigned part) {
    part_ = part;
    std::span const urls(scattered_.data() + part_begins_[part], part_begins_[part + 1] - part_begins_[part]);
    slice_begins_.assign(ways + 1, 0);
    for (auto const url : urls) ++slice_begins_[slice_digit(url) + 1];
    for (std::size_t i = 0; i < ways; ++i) slice_begins_[i + 1] += slice_begins_[i];
    sliced_.resize(urls.size());
    new_in_part_.assign(urls.size(), 0);
    std::array<std::uint32_t, ways> next;
    std::copy_n(slice_begins_.begin(), ways, next.begin());
    for (auto const url : urls) sliced_[next[slice_digit(url)]++] = url;
}

void BatchOrder::read_slice(unsigned slice, std::vector<Fingerprint>& urls, std::vector<std::uint32_t>& positions) {
    auto const begin = slice_begins_[slice % ways], count = slice_begins_[slice % ways + 1] - begin;
    if (count == 0) return;
    if (count > std::uint32_t{1} << 16) {   // more than 16 bits can number: the fingerprints are not hashes
        std::vector<std::uint32_t> order(count);
        for (std::uint32_t i = 0; i < count; ++i) order[i] = begin + i;
        std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return sliced_[i]; });
        for (auto const position : order)
            if (urls.empty() || urls.back() != sliced_[position]) urls.push_back(sliced_[position]), positions.push_back(position);
        return;
    }
    // All upper 16 bits of a slice are equal. They are replaced by the number, in the lower bits, which keeps the
    // order.
    numbered_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) numbered_[i] = sliced_[begin + i] << slice_bits | i;
    sort_numbers(numbered_, sorted_);
    auto const upper = std::uint64_t{slice} << 48;
    auto size = urls.size();
    urls.resize(size + count), positions.resize(size + count);
    auto before = ~numbered_[0];
    for (auto const number : numbered_) {
        urls[size] = upper | number >> slice_bits;
        positions[size] = begin + static_cast<std::uint32_t>(number & 0xffff);
        size += number >> slice_bits != before >> slice_bits;
        before = number;
    }
    urls.resize(size), positions.resize(size);
}

BatchOrder::Unsorted BatchOrder::slices(unsigned first, unsigned count) {
    auto const begin = slice_begins_[first % ways], size = slice_begins_[first % ways + count] - begin;
    return {std::span(sliced_).subspan(begin, size), std::span(new_in_part_).subspan(begin, size)};
}

void BatchOrder::close_part() {
    auto const begin = part_begins_[part_], end = part_begins_[part_ + 1];
    std::array<std::uint32_t, ways> next;
    std::copy_n(slice_begins_.begin(), ways, next.begin());
    for (auto i = begin; i < end; ++i) new_[i] = new_in_part_[next[slice_digit(scattered_[i])]++];
}

void BatchOrder::answer(std::span<std::uint8_t> is_new) const {
    check(is_new.size() == batch_.size());
    std::array<std::uint64_t, ways> next;
    std::copy_n(part_begins_.begin(), ways, next.begin());
    for (auto const url : earlier_) ++next[part_of(url)];
    for (std::size_t i = 0; i < batch_.size(); ++i) is_new[i] = new_[next[part_of(batch_[i])]++];
}

}   // namespace garner::crawl
