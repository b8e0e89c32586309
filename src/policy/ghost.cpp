#include "policy/ghost.hpp"

#include <algorithm>

namespace garner::policy {

void Ghost::count(std::uint64_t count) {
    while (rows_.size() * places < count) double_rows();
    used_places_ = static_cast<std::uint32_t>((count + rows_.size() - 1) / rows_.size());
}

void Ghost::put(Tag tag) {
    auto& tags = row_of(tag).tags;
    std::fill(tags.begin() + used_places_, tags.end(), no_tag);
    if (used_places_ == 0) return;
    // Shifts from the key's old place, if it is there: a row must not contain a key twice.
    auto last = std::find(tags.begin(), tags.begin() + used_places_ - 1, tag);
    std::copy_backward(tags.begin(), last, last + 1);
    tags.front() = tag;
}

bool Ghost::take(Tag tag) {
    auto& tags = row_of(tag).tags;
    auto end = tags.begin() + used_places_;
    auto found = std::find(tags.begin(), end, tag);
    if (found == end) return false;
    std::copy(found + 1, tags.end(), found);
    tags.back() = no_tag;
    return true;
}

/// One more bit of the tag selects the row; each row moves half of its tags, in order, to a new one.
void Ghost::double_rows() {
    auto const half = rows_.size();
    rows_.reserve(2 * half);
    rows_.resize(2 * half);
    for (std::size_t i = 0; i < half; ++i) {
        Row both;
        std::swap(both, rows_[i]);
        std::array<std::uint32_t, 2> filled{};
        for (Tag tag : both.tags) {
            if (tag == no_tag) break;
            auto high = (tag & half) != 0;
            rows_[i + high * half].tags[filled[high]++] = tag;
        }
    }
}

}   // namespace garner::policy
