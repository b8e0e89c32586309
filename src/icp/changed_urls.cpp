#include "icp/changed_urls.hpp"

#include <algorithm>

#include "util/random_bits.hpp"

namespace garner::icp {

ChangedUrls::ChangedUrls() : seed_(random_bits()) {}

std::uint64_t ChangedUrls::mark(std::string_view url, SteadyTime now) {
    auto const print = fingerprint(url, seed_);
    MutexLock const lock(mutex_);
    if (sets_.empty()) sets_.resize(marks_max / ways);
    auto& set = sets_[set_of(print)];
    auto const same = [&](Mark const& one) { return one.number != 0 && one.url == print; };
    auto place = std::find_if(set.begin(), set.end(), same);
    if (place == set.end())   // a free entry has the number 0
        place = std::min_element(set.begin(), set.end(), [](Mark const& a, Mark const& b) { return a.number < b.number; });
    if (place->number == 0) marks_.fetch_add(1, std::memory_order_release);
    *place = {print, ++last_number_, now + lasts};
    return last_number_;
}

void ChangedUrls::unmark(std::string_view url, std::uint64_t number) {
    auto const print = fingerprint(url, seed_);
    MutexLock const lock(mutex_);
    for (auto& one : sets_[set_of(print)]) {
        if (one.url != print || one.number != number) continue;
        one = {};
        marks_.fetch_sub(1, std::memory_order_relaxed);
    }
}

bool ChangedUrls::has(std::string_view url, SteadyTime now) const {
    if (marks_.load(std::memory_order_acquire) == 0) return false;
    auto const print = fingerprint(url, seed_);
    MutexLock const lock(mutex_);
    auto const& set = sets_[set_of(print)];
    return std::any_of(set.begin(), set.end(),
                       [&](Mark const& one) { return one.number != 0 && one.url == print && now < one.until; });
}

Bytes ChangedUrls::bytes() const {
    MutexLock const lock(mutex_);
    return sets_.size() * sizeof(Set);
}

}   // namespace garner::icp
