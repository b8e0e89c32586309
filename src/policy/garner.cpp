#include "policy/garner.hpp"

#include <algorithm>

namespace garner::policy {
namespace {

std::vector<WorthOrder::Rule> rules_of(bool bytes) {
    constexpr WorthOrder::Rule objects{.byte_weight = 0.05}, both{.byte_weight = 2}, recency{.recency = true};
    if (bytes) return {both, recency};
    return {objects, both, recency};
}
Referee::Aim aim_of(bool bytes) { return {.objects = bytes ? 0.0 : 1.0, .bytes = bytes ? 1.0 : 0.75}; }
bool aims_at_bytes(Options const& options) { return options.value(Garner::settings, 0) == 1; }

}  // namespace

Garner::Garner(Options const& options)
    : referee_(rules_of(aims_at_bytes(options)), aim_of(aims_at_bytes(options)), options.capacity),
      order_(referee_.rule()),
      sketch_({.counters = 5, .sample = 5}) {}

void Garner::requested(Fingerprint fingerprint) {
    last_ = fingerprint;
    last_uses_ = sketch_.add(Sketch::tag(fingerprint));
}

bool Garner::admits(Fingerprint fingerprint, Bytes size, Bytes need) {
    if (order_.admits(uses(fingerprint), size, need)) return true;
    tell_referee(fingerprint, size);
    return false;
}

void Garner::inserted(Slot slot, Fingerprint fingerprint, Bytes size) {
    order_.insert(slot, uses(fingerprint), size);
    sketch_.cover(++objects_);
    tell_referee(fingerprint, size);
}

void Garner::hit(Slot slot, Bytes size) {
    order_.hit(slot, size);
    tell_referee(last_, size);
}

void Garner::used_along(Slot slot, Bytes size) { order_.hit(slot, size); }

void Garner::resized(Slot slot, Bytes size) { order_.resize(slot, size); }

void Garner::removed(Slot slot, Left why) {
    order_.remove(slot, why);
    --objects_;
}

void Garner::set_capacity(Bytes capacity) { referee_.set_capacity(capacity); }

Bytes Garner::metadata_bytes() const {
    return sizeof *this + order_.metadata_bytes() + sketch_.metadata_bytes() + referee_.metadata_bytes();
}

/// What comes without having been asked for, as from a disk, was asked for once.
std::uint32_t Garner::uses(Fingerprint fingerprint) const {
    if (fingerprint == last_) return last_uses_;
    return std::max(1u, sketch_.estimate(Sketch::tag(fingerprint)));
}

void Garner::tell_referee(Fingerprint fingerprint, Bytes size) {
    if (!referee_.wants(fingerprint)) return;
    referee_.request(Sketch::tag(fingerprint), uses(fingerprint), size);
    if (referee_.rule() != order_.rule()) order_.change(referee_.rule());
}

}  // namespace garner::policy
