#include "policy/s3fifo.hpp"

#include <algorithm>

#include "util/check.hpp"

namespace garner::policy {

S3Fifo::S3Fifo(Options const& options) : share_(options.value(settings, 0)), capacity_(options.capacity), sizes_(options.lean),
      lean_(options.lean) {}

void S3Fifo::inserted(Slot slot, Fingerprint fingerprint, Bytes size) {
    check(!held(slot));
    items_.cover(slot);
    sizes_.cover(slot);
    auto tag = Ghost::tag(fingerprint);
    items_[slot] = {.tag = tag, .place = nowhere, .uses = 0};
    sizes_.set(slot, size);
    put(ghost_.take(tag) ? main : small, slot);
}

void S3Fifo::hit(Slot slot, Bytes) {
    check(held(slot));
    if (items_[slot].uses < most_uses) ++items_[slot].uses;
}

void S3Fifo::resized(Slot slot, Bytes size) {
    check(held(slot));
    auto& bytes = lines_[items_[slot].place].bytes;
    bytes -= sizes_[slot];
    sizes_.set(slot, size);
    bytes += sizes_[slot];
}

void S3Fifo::removed(Slot slot, Left why) {
    check(held(slot));
    if (why == Left::evicted && items_[slot].place == small) {
        auto const objects = lines_[main].objects;
        ghost_.count(lean_ ? objects - objects / 4 : objects);
        ghost_.put(items_[slot].tag);
    }
    take(slot);
    items_[slot].place = nowhere;
}

Slot S3Fifo::victim() {
    for (;;) {
        bool const from_small = small_is_full();
        Slot const oldest = lines_[from_small ? small : main].queue.oldest;
        if (oldest == no_slot) return no_slot;
        auto& uses = items_[oldest];
        if (uses.uses <= (from_small ? 1u : 0u)) return oldest;
        uses.uses = from_small ? 0 : uses.uses - 1;
        take(oldest);
        put(main, oldest);
    }
}

bool S3Fifo::keeps(Slot slot) const { return held(slot) && (items_[slot].place == main || items_[slot].uses > 1); }

Bytes S3Fifo::metadata_bytes() const {
    return sizeof *this + queues_.metadata_bytes() + items_.metadata_bytes() + sizes_.metadata_bytes() +
           ghost_.metadata_bytes();
}

/// Full enough that the next to leave is one of the small queue.
bool S3Fifo::small_is_full() const {
    Line const& few = lines_[small];
    Line const& many = lines_[main];
    if (few.queue.empty() || many.queue.empty()) return many.queue.empty();
    auto capacity = static_cast<double>(capacity_ ? capacity_ : few.bytes + many.bytes);
    return static_cast<double>(few.bytes) >= share_ * capacity;
}

void S3Fifo::put(Place place, Slot slot) {
    auto& line = lines_[place];
    queues_.push(line.queue, slot);
    items_[slot].place = place;
    line.bytes += sizes_[slot];
    ++line.objects;
}

void S3Fifo::take(Slot slot) {
    auto& line = lines_[items_[slot].place];
    queues_.remove(line.queue, slot);
    line.bytes -= sizes_[slot];
    --line.objects;
}

}  // namespace garner::policy
