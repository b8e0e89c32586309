// Numbers for keys, in the order in which they first appear.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

namespace garner::sim {

/// From 64-bit hashes that are evenly spread in their low bits to 0, 1, 2, ...: 16 to 43 bytes a key.
class KeyNumbers {
public:
    using Number = std::uint32_t;
    static constexpr Number none = std::numeric_limits<Number>::max();

    /// At most `most` keys, below `none`.
    explicit KeyNumbers(Number most = none - 1);

    /// The key's number, a new one if it has none; `none` when it would be one too many.
    Number number(std::uint64_t hash) {
        auto& place = place_of(hash);
        return place.number != none ? place.number : add(place, hash);
    }
    /// `none` when it has none.
    Number find(std::uint64_t hash) { return place_of(hash).number; }

    Number size() const { return size_; }

private:
    struct Place {
        std::uint64_t hash = 0;
        Number number = none;
    };

    /// Where it is, or an empty place for it: there is always one.
    Place& place_of(std::uint64_t hash) {
        auto at = hash & mask_;
        while (places_[at].number != none && places_[at].hash != hash) at = (at + 1) & mask_;
        return places_[at];
    }
    Number add(Place& place, std::uint64_t hash);
    void grow();

    std::vector<Place> places_;   // a power of two, at most three quarters full
    std::uint64_t mask_;
    Number size_ = 0;
    Number const most_;
};

}  // namespace garner::sim
