#include "sim/key_numbers.hpp"

namespace garner::sim {

KeyNumbers::KeyNumbers(Number most) : places_(4096), mask_(places_.size() - 1), most_(most) {}

KeyNumbers::Number KeyNumbers::add(Place& place, std::uint64_t hash) {
    if (size_ == most_) return none;
    place = {hash, size_++};
    auto number = place.number;
    if (size_ > places_.size() / 4 * 3) grow();
    return number;
}

void KeyNumbers::grow() {
    std::vector<Place> before(places_.size() * 2);
    before.swap(places_);
    mask_ = places_.size() - 1;
    for (auto const& place : before)
        if (place.number != none) place_of(place.hash) = place;
}

}  // namespace garner::sim
