// Garner's own policy, the default: keeps the objects that save the most misses for their size.
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/referee.hpp"
#include "policy/sketch.hpp"
#include "policy/worth_order.hpp"

namespace garner::policy {

/// Evicts the object of the lowest worth (see WorthOrder). At insertion f is the estimate of a sketch, which survives
/// eviction. A newcomer worth less than any of its victims is not admitted. `aim` is the cost of a miss: with
/// `objects` mostly the request, with `bytes` mostly its bytes. If small simulated caches show that another weight of
/// bytes, or LRU, is better for the aim, that rule is used until they show otherwise. Reasons and measurements are in
/// docs/results/garner-policy.md.
///
/// hit() is O(1), but O(n) when the rule changes. 17 to 19 bytes a slot with the sketch, plus up to 13 KiB.
class Garner final : public ReplacementPolicy {
public:
    static constexpr std::array<std::string_view, 2> aims{"objects", "bytes"};
    static constexpr std::array settings{
        Setting{.name = "aim", .what = "minimizes the misses of objects or of bytes", .choices = aims},
    };

    explicit Garner(Options const& options)
        : referee_(rules_of(aims_at_bytes(options)), aim_of(aims_at_bytes(options)), options.capacity), order_(referee_.rule()),
          sketch_({.counters = 5, .sample = 5}) {}

    void requested(Fingerprint fingerprint) override {
        last_ = fingerprint;
        last_uses_ = sketch_.add(Sketch::tag(fingerprint));
    }
    bool admits(Fingerprint fingerprint, Bytes size, Bytes need) override {
        if (order_.admits(uses(fingerprint), size, need)) return true;
        tell_referee(fingerprint, size);
        return false;
    }
    void inserted(Slot slot, Fingerprint fingerprint, Bytes size) override {
        order_.insert(slot, uses(fingerprint), size);
        sketch_.cover(++objects_);
        tell_referee(fingerprint, size);
    }
    void hit(Slot slot, Bytes size) override {
        order_.hit(slot, size);
        tell_referee(last_, size);
    }
    void used_along(Slot slot, Bytes size) override { order_.hit(slot, size); }
    void resized(Slot slot, Bytes size) override { order_.resize(slot, size); }
    void removed(Slot slot, Left why) override {
        order_.remove(slot, why);
        --objects_;
    }
    Slot victim() override { return order_.lowest(); }
    /// True while it is worth more than the last evicted one.
    bool keeps(Slot slot) const override { return order_.keeps(slot); }
    void set_capacity(Bytes capacity) override { referee_.set_capacity(capacity); }
    Bytes metadata_bytes() const override {
        return sizeof *this + order_.metadata_bytes() + sketch_.metadata_bytes() + referee_.metadata_bytes();
    }

    /// True while the order is LRU's.
    bool by_recency() const { return order_.rule().recency; }

private:
    static bool aims_at_bytes(Options const& options) { return options.value(settings, 0) == 1; }
    static std::vector<WorthOrder::Rule> rules_of(bool bytes) {
        constexpr WorthOrder::Rule objects{.byte_weight = 0.05}, both{.byte_weight = 2}, recency{.recency = true};
        if (bytes) return {both, recency};
        return {objects, both, recency};
    }
    static Referee::Aim aim_of(bool bytes) { return {.objects = bytes ? 0.0 : 1.0, .bytes = bytes ? 1.0 : 0.75}; }

    /// An object that was not requested, for example one loaded from disk, counts as requested once.
    std::uint32_t uses(Fingerprint fingerprint) const {
        if (fingerprint == last_) return last_uses_;
        return std::max(1u, sketch_.estimate(Sketch::tag(fingerprint)));
    }
    void tell_referee(Fingerprint fingerprint, Bytes size) {
        if (!referee_.wants(fingerprint)) return;
        referee_.request(Sketch::tag(fingerprint), uses(fingerprint), size);
        if (referee_.rule() != order_.rule()) order_.change(referee_.rule());
    }

    Referee referee_;
    WorthOrder order_;
    Sketch sketch_;
    Fingerprint last_ = 0;   // the last requested one
    std::uint32_t last_uses_ = 1;
    std::uint64_t objects_ = 0;   // held
};

}   // namespace garner::policy
