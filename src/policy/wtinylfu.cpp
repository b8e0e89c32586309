#include "policy/wtinylfu.hpp"

#include <algorithm>

#include "util/check.hpp"

namespace garner::policy {

WTinyLfu::WTinyLfu(Options const& options)
    : share_(options.value(settings, 0)), capacity_(options.capacity), sizes_(options.lean),
      sketch_({.counters = options.lean ? 6u : 8u, .sample = 10}) {}

void WTinyLfu::requested(Fingerprint fingerprint) { sketch_.add(tag(fingerprint)); }

bool WTinyLfu::admits(Fingerprint fingerprint, Bytes size, Bytes need) {
    bool const small = size <= window_most();
    expected_ = small ? size : 0;
    return small || outweighs(tag(fingerprint), need);
}

void WTinyLfu::inserted(Slot slot, Fingerprint fingerprint, Bytes size) {
    check(!held(slot));
    items_.cover(slot);
    sizes_.cover(slot);
    items_[slot].tag = tag(fingerprint);
    sizes_.set(slot, size);
    sketch_.cover(++objects_);
    expected_ = 0;
    put(size > window_most() ? probation : window, slot);
    fill_main();
}

void WTinyLfu::hit(Slot slot, Bytes) {
    check(held(slot));
    move(slot, items_[slot].place == window ? window : guarded);
    send_back();
}

void WTinyLfu::resized(Slot slot, Bytes size) {
    check(held(slot));
    auto& bytes = segments_[items_[slot].place].bytes;
    bytes -= sizes_[slot];
    sizes_.set(slot, size);
    bytes += sizes_[slot];
    send_back();
}

void WTinyLfu::removed(Slot slot, Left) {
    check(held(slot));
    take(slot);
    items_[slot].place = nowhere;
    --objects_;
}

Slot WTinyLfu::victim() {
    while (!segments_[window].queue.empty() && !fits_window(expected_)) {
        Slot candidate = segments_[window].queue.oldest;
        if (!outweighs(items_[candidate].tag, sizes_[candidate])) return candidate;
        move(candidate, probation);
    }
    for (Place place : {probation, guarded, window})
        if (!segments_[place].queue.empty()) return segments_[place].queue.oldest;
    return no_slot;
}

bool WTinyLfu::keeps(Slot slot) const { return held(slot) && items_[slot].place == guarded; }

Bytes WTinyLfu::metadata_bytes() const {
    return sizeof *this + queues_.metadata_bytes() + items_.metadata_bytes() + sizes_.metadata_bytes() +
           sketch_.metadata_bytes();
}

/// Is it asked for more often than all of main's next victims together that would make so much room?
bool WTinyLfu::outweighs(Sketch::Tag tag, Bytes room) const {
    auto const estimate = sketch_.estimate(tag);
    std::uint32_t sum = 0;
    Bytes freed = 0;
    for (Place place : {probation, guarded}) {
        for (Slot slot = segments_[place].queue.oldest; slot != no_slot; slot = queues_.newer(slot)) {
            sum += sketch_.estimate(items_[slot].tag);
            freed += sizes_[slot];
            if (sum >= estimate) return false;
            if (freed >= room) return true;
        }
    }
    return sum < estimate;
}

/// While main has room, what falls out of the window goes there without a contest.
void WTinyLfu::fill_main() {
    auto const main_most = capacity() - window_most();
    while (!fits_window(0)) {
        Slot oldest = segments_[window].queue.oldest;
        if (main_bytes() + sizes_[oldest] > main_most) return;
        move(oldest, probation);
    }
}

void WTinyLfu::send_back() {
    auto const most = (capacity() - window_most()) / 5 * 4;
    while (segments_[guarded].bytes > most) move(segments_[guarded].queue.oldest, probation);
}

void WTinyLfu::put(Place place, Slot slot) {
    auto& segment = segments_[place];
    queues_.push(segment.queue, slot);
    items_[slot].place = place;
    segment.bytes += sizes_[slot];
}

void WTinyLfu::take(Slot slot) {
    auto& segment = segments_[items_[slot].place];
    queues_.remove(segment.queue, slot);
    segment.bytes -= sizes_[slot];
}

void WTinyLfu::move(Slot slot, Place place) {
    take(slot);
    put(place, slot);
}

}  // namespace garner::policy
