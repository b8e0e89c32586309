#include "policy/slru.hpp"

#include <algorithm>

#include "util/check.hpp"

namespace garner::policy {

Slru::Slru(Options const& options) : share_(options.value(settings, 0)), capacity_(options.capacity) {}

void Slru::inserted(Slot slot, Fingerprint, Bytes size) {
    items_.cover(slot);
    items_[slot] = {};
    put(probation_, slot);
    count_size(slot, size);
}

void Slru::hit(Slot slot, Bytes) {
    check(queues_.contains(slot));
    take(slot);
    put(protected_, slot);
    send_back();
}

void Slru::resized(Slot slot, Bytes size) {
    check(queues_.contains(slot));
    count_size(slot, size);
    send_back();
}

void Slru::removed(Slot slot, Left) {
    check(queues_.contains(slot));
    take(slot);
}

Slot Slru::victim() { return probation_.queue.empty() ? protected_.queue.oldest : probation_.queue.oldest; }

bool Slru::keeps(Slot slot) const { return queues_.contains(slot) && items_[slot].is_protected; }

Bytes Slru::metadata_bytes() const { return sizeof *this + queues_.metadata_bytes() + items_.metadata_bytes(); }

void Slru::put(Segment& segment, Slot slot) {
    queues_.push(segment.queue, slot);
    items_[slot].is_protected = &segment == &protected_;
    segment.bytes += items_[slot].size;
}

void Slru::take(Slot slot) {
    Segment& segment = segment_of(slot);
    queues_.remove(segment.queue, slot);
    segment.bytes -= items_[slot].size;
}

void Slru::count_size(Slot slot, Bytes size) {
    constexpr Bytes most = (1u << 31) - 1;
    auto& bytes = segment_of(slot).bytes;
    bytes -= items_[slot].size;
    items_[slot].size = static_cast<std::uint32_t>(std::min(size, most));
    bytes += items_[slot].size;
}

void Slru::send_back() {
    auto capacity = static_cast<double>(capacity_ ? capacity_ : probation_.bytes + protected_.bytes);
    auto most = static_cast<Bytes>(share_ * capacity);
    while (protected_.bytes > most) {
        Slot slot = protected_.queue.oldest;
        take(slot);
        put(probation_, slot);
    }
}

}  // namespace garner::policy
