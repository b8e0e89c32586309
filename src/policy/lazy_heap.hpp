// A RisingHeap with arbitrary keys and exact tie-breaking.
#pragma once
#include <algorithm>
#include <bit>
#include <variant>
#include <vector>

#include "policy/rising_heap.hpp"

namespace garner::policy {

/// Returns the slot with the lowest key; among equal keys the least recently used one. push() and raise() are uses.
/// The results equal those of a heap that is fully ordered after every call. 20 bytes a slot, for slots below 2^29.
///
/// A lean one takes 16 bytes, for slots below 2^23: it stores a key's sign, exponent and 28 bits of the fraction,
/// rounded down. Keys that differ by less are equal.
class LazyHeap {
public:
    enum class Keys : std::uint8_t { exact, lean };

    /// `uses`: the initial value of the use counter.
    explicit LazyHeap(Keys keys = Keys::exact, std::uint32_t uses = 0) : uses_(uses) {
        if (keys == Keys::lean) heap_.emplace<RisingHeap<Lean>>();
    }

    bool contains(Slot slot) const {
        return std::visit([=](auto& heap) { return heap.contains(slot); }, heap_);
    }
    /// The slot must be contained; this holds for all functions below, too.
    double key(Slot slot) const {
        return std::visit([=](auto& heap) { return heap.entry(slot).key(); }, heap_);
    }

    /// Inserts a slot. O(log n).
    void push(Slot slot, double key) {
        auto const use = next_use();
        std::visit([=](auto& heap) { heap.push({key, use, slot}); }, heap_);
    }

    /// Records a use, with a key not lower than before. O(1).
    void raise(Slot slot, double key) {
        auto const use = next_use();
        auto const raise = [=](auto& heap) {
            auto& entry = heap.raise(slot);
            check(key >= entry.key());
            entry.set_key(key);
            entry.used = use;
        };
        std::visit(raise, heap_);
    }

    /// Sets a higher or lower key; not a use. O(log n).
    void update(Slot slot, double key) {
        auto const change = [key](auto& entry) { entry.set_key(key); };
        std::visit([&](auto& heap) { heap.update(slot, change); }, heap_);
    }

    void remove(Slot slot) {
        std::visit([=](auto& heap) { heap.remove(slot); }, heap_);
    }

    /// The lowest, or no_slot when empty. Amortised O(log n), including deferred work of raise().
    Slot lowest() {
        return std::visit([](auto& heap) { return heap.lowest(); }, heap_);
    }

    Bytes metadata_bytes() const {
        return std::visit([](auto& heap) { return heap.metadata_bytes(); }, heap_);
    }

private:
    struct Exact {
        double value = 0;
        std::uint32_t used = 0;   // time of use: later is higher
        Slot slot : 31 = 0;
        std::uint32_t risen : 1 = 0;

        Exact() = default;
        Exact(double key, std::uint32_t use, Slot at) : value(key), used(use), slot(at) {}
        double key() const { return value; }
        void set_key(double key) { value = key; }
        bool below(Exact const& other) const { return value != other.value ? value < other.value : used < other.used; }
    };
    static_assert(sizeof(Exact) == 16);

    struct Lean {
        std::uint32_t high = 0;   // upper 32 of 40 bits that order like the key
        std::uint32_t used = 0;
        std::uint32_t low : 8 = 0;
        Slot slot : 23 = 0;
        std::uint32_t risen : 1 = 0;

        Lean() = default;
        Lean(double key, std::uint32_t use, Slot at) : used(use), slot(at) {
            check(at < 1u << 23);
            set_key(key);
        }
        double key() const {
            auto const bits = ordered() << 24;
            return std::bit_cast<double>(bits & sign ? bits ^ sign : ~bits);
        }
        void set_key(double key) {
            auto const bits = std::bit_cast<std::uint64_t>(key);
            auto const in_order = bits & sign ? ~bits : bits | sign;
            high = static_cast<std::uint32_t>(in_order >> 32);
            low = in_order >> 24 & 0xff;
        }
        bool below(Lean const& other) const {
            return ordered() != other.ordered() ? ordered() < other.ordered() : used < other.used;
        }

    private:
        static constexpr std::uint64_t sign = std::uint64_t{1} << 63;
        std::uint64_t ordered() const { return std::uint64_t{high} << 8 | low; }
    };
    static_assert(sizeof(Lean) == 12);

    std::uint32_t next_use() {
        if (uses_ == UINT32_MAX) [[unlikely]]
            renumber_uses();
        return ++uses_;
    }
    /// The use counter reached its limit of 2^32: renumbers the held slots in their order.
    void renumber_uses() {
        std::vector<std::uint32_t> order;
        auto const each = [this](auto change) { std::visit([&](auto& heap) { heap.change_all(change); }, heap_); };
        each([&](auto& entry) { order.push_back(entry.used); });
        std::ranges::sort(order);
        each([&](auto& entry) {
            entry.used = static_cast<std::uint32_t>(std::ranges::lower_bound(order, entry.used) - order.begin()) + 1;
        });
        uses_ = static_cast<std::uint32_t>(order.size());
    }

    std::variant<RisingHeap<Exact>, RisingHeap<Lean>> heap_;
    std::uint32_t uses_;
};

}   // namespace garner::policy
