#include "policy/byte_guard.hpp"

#include <algorithm>

namespace garner::policy {
namespace {

constexpr std::uint32_t most_entries = 768, least_entries = 32;
constexpr Bytes capacity_an_entry = 2 * KiB;

// These are shares of the capacity.
constexpr double most_debt = 2;        // bounds the time until a former rule is tried again
constexpr double most_credit = 0.25;   // bounds the bytes that a change of the traffic may cost

constexpr double room_kept = 8;   // misses of so many capacities until less use of the memory counts as less room

}   // namespace

ByteGuard::ByteGuard(std::span<WorthOrder::Rule const> rules, Terms terms, Bytes capacity)
    : rules_(rules), terms_(terms), capacity_(capacity) {
    begin();
}

void ByteGuard::request(std::uint32_t tag, Bytes size, bool missed, double held) {
    auto const bytes = lru_->bytes_for(size);
    // Bodies in flight and other shards may take a part of the capacity. LRU would not have it either.
    if (missed) room_ -= bytes / room_kept;
    room_ = std::clamp(room_, std::min(held, static_cast<double>(capacity_)), static_cast<double>(capacity_));
    bool const lru_missed = !lru_->request(tag, size, room_);
    if (!missed && !lru_missed) return;
    if (unjudged_ > 0) {
        if (lru_missed) unjudged_ -= bytes;
        return;
    }
    if (missed && !lru_missed) {
        double const excused = std::min(bytes, excused_);
        excused_ -= excused;
        debt_ += bytes - excused;
    } else if (lru_missed) {
        debt_ -= (missed ? terms_.allowed : 1 + terms_.allowed) * bytes;
        // LRU has evicted by then what left the cache before.
        excused_ -= excused_ * std::min(1.0, bytes / static_cast<double>(capacity_));
    }
    judge();
}

/// A single large miss moves by one rule only. Each change costs O(n), so small debts must not alternate between two rules.
void ByteGuard::judge() {
    auto const capacity = static_cast<double>(capacity_);
    debt_ = std::clamp(debt_, -most_credit * capacity, most_debt * capacity);
    if (level_ == 0) debt_before_ = std::clamp(debt_, 0.0, debt_before_);
    if (level_ + 1 < rules_.size() && debt_ >= debt_before_ + terms_.step * capacity) {
        ++level_;
        debt_before_ = debt_;
    } else if (level_ > 0 && debt_ <= debt_before_ / 2) {
        --level_;
        debt_before_ = std::max(debt_, 0.0);
    }
}

void ByteGuard::set_capacity(Bytes capacity) {
    if (capacity == capacity_) return;
    capacity_ = capacity;
    begin();
    unjudged_ = static_cast<double>(capacity);
    room_ = 0;   // rises to the bytes that the cache holds
}

void ByteGuard::begin() {
    lru_.reset();
    level_ = 0;
    debt_ = debt_before_ = excused_ = 0;
    room_ = static_cast<double>(capacity_);
    auto const entries = static_cast<std::uint32_t>(std::min<Bytes>(most_entries, capacity_ / capacity_an_entry));
    if (entries < least_entries) return;
    lru_.emplace(capacity_, entries);
    level_ = terms_.begin;
    debt_ = debt_before_ = static_cast<double>(level_) * terms_.step * static_cast<double>(capacity_);
}

}   // namespace garner::policy
