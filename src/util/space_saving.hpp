// The most frequent keys of a stream in bounded memory: Space-Saving (Metwally, Agrawal, El Abbadi: Efficient Computation of
// Frequent and Top-k Elements in Data Streams, ICDT 2005).
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "util/hash.hpp"

namespace garner {

/// Bytes of text with a bound, in place. Longer text is cut.
template <std::size_t most>
class ShortText {
public:
    void assign(std::string_view text) {
        size_ = static_cast<std::uint16_t>(std::min(text.size(), most));
        std::copy_n(text.data(), size_, bytes_.data());
    }
    std::string_view view() const { return {bytes_.data(), size_}; }

private:
    std::uint16_t size_ = 0;
    std::array<char, most> bytes_{};
};

/// Counts at most `capacity` keys. A new key takes the place of the one with the least count, which becomes its error. A key with
/// more than 1 / `capacity` of the stream is always counted. The owner notes details about each key; they begin anew when the key
/// takes its place. Allocates nothing.
template <std::size_t capacity, std::size_t name_max, class Details>
class SpaceSaving {
    static_assert(capacity > 0 && capacity < UINT16_MAX);

public:
    SpaceSaving() { heads_.fill(none); }

    /// Counts the key `weight` times.
    Details& count(Fingerprint key, std::string_view name, std::uint64_t weight) {
        auto at = find(key);
        if (at == none) at = take_place(key, name);
        counts_[at] += weight;
        return places_[at].details;
    }
    /// nullptr if the key is not counted now.
    Details* details(Fingerprint key) {
        auto const at = find(key);
        return at == none ? nullptr : &places_[at].details;
    }
    /// Calls visit(name, count, details) for each key. The count is at most the true one.
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::size_t i = 0; i < size_; ++i) visit(places_[i].name.view(), counts_[i] - places_[i].error, places_[i].details);
    }
    std::size_t size() const { return size_; }
    void clear() {
        size_ = at_ = least_ = 0;
        counts_.fill(0);
        heads_.fill(none);
    }

private:
    static constexpr std::uint16_t none = UINT16_MAX;
    static constexpr std::size_t chains = 2 * capacity;

    struct CountedKey {
        Fingerprint key = 0;
        std::uint64_t error = 0;   // the part of the count that belongs to former keys
        std::uint16_t next = none;
        ShortText<name_max> name;
        Details details{};
    };

    std::uint16_t find(Fingerprint key) const {
        auto at = heads_[key % chains];
        while (at != none && places_[at].key != key) at = places_[at].next;
        return at;
    }
    std::uint16_t take_place(Fingerprint key, std::string_view name) {
        auto const at = size_ < capacity ? static_cast<std::uint16_t>(size_++) : unchain_least();
        auto& place = places_[at];
        place.key = key;
        place.error = counts_[at];
        place.name.assign(name);
        place.details = {};
        place.next = std::exchange(heads_[key % chains], at);
        return at;
    }
    /// The place of the least count. Counts only grow, so the search for another one like it goes on where the last one ended.
    std::uint16_t find_least() {
        while (at_ < capacity && counts_[at_] != least_) ++at_;
        if (at_ == capacity) {
            auto const found = std::ranges::min_element(counts_);
            at_ = static_cast<std::size_t>(found - counts_.begin());
            least_ = *found;
        }
        return static_cast<std::uint16_t>(at_);
    }
    std::uint16_t unchain_least() {
        auto const least = find_least();
        auto* link = &heads_[places_[least].key % chains];
        while (*link != least) link = &places_[*link].next;
        *link = places_[least].next;
        return least;
    }

    std::size_t size_ = 0;
    std::size_t at_ = 0;                             // all counts before are larger than
    std::uint64_t least_ = 0;                        // the least count of the last search
    std::array<std::uint64_t, capacity> counts_{};   // apart from the rest: the search for the least reads all
    std::array<std::uint16_t, chains> heads_;        // the first place of each chain of keys with the same remainder
    std::array<CountedKey, capacity> places_{};
};

}   // namespace garner
