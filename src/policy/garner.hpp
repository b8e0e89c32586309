// Garner's own policy, the default: keeps the objects that save the most misses for their size.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "policy/byte_guard.hpp"
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/sketch.hpp"
#include "policy/worth_order.hpp"

namespace garner::policy {

/// Evicts the object of the lowest worth (see WorthOrder). At insertion f is the estimate of a sketch, which survives
/// eviction. A newcomer worth less than any of its victims is not admitted. `aim` is the cost of a miss: with
/// `objects` mostly the request, with `bytes` mostly its bytes. While it misses more bytes than a simulated LRU cache, recency
/// gets more weight (see ByteGuard). Reasons and measurements are in docs/results/garner-policy.md.
///
/// hit() is O(1), but O(n) when the rule changes. 17 to 19 bytes a slot with the sketch, plus up to 12 KiB.
class Garner final : public ReplacementPolicy {
public:
    static constexpr std::array<std::string_view, 2> aims{"objects", "bytes"};
    static constexpr std::array settings{
        Setting{.name = "aim", .what = "minimizes the misses of objects or of bytes", .choices = aims},
    };

    explicit Garner(Options const& options)
        : guard_(rules_of(options), terms_of(options), options.capacity), order_(guard_.rule()),
          sketch_({.counters = 5, .sample = 5}) {}

    void requested(Fingerprint fingerprint) override {
        last_ = fingerprint;
        last_uses_ = sketch_.add(Sketch::tag(fingerprint));
    }
    bool admits(Fingerprint fingerprint, Bytes size, Bytes need) override {
        if (order_.admits(uses(fingerprint), size, need)) return true;
        tell_guard(fingerprint, size, true);
        return false;
    }
    void inserted(Slot slot, Fingerprint fingerprint, Bytes size) override {
        order_.insert(slot, uses(fingerprint), size);
        sketch_.cover(++objects_);
        tell_guard(fingerprint, size, true);
    }
    void hit(Slot slot, Bytes size) override {
        order_.hit(slot, size);
        tell_guard(last_, size, false);
    }
    void used_along(Slot slot, Bytes size) override { order_.hit(slot, size); }
    void resized(Slot slot, Bytes size) override { order_.resize(slot, size); }
    void removed(Slot slot, Left why) override {
        if (why != Left::evicted) guard_.excuse(order_.size(slot));
        order_.remove(slot, why);
        --objects_;
    }
    Slot victim() override { return order_.lowest(); }
    /// True while it is worth more than the last evicted one.
    bool keeps(Slot slot) const override { return order_.keeps(slot); }
    void set_capacity(Bytes capacity) override {
        guard_.set_capacity(capacity);
        follow_guard();
    }
    Bytes metadata_bytes() const override {
        return sizeof *this + order_.metadata_bytes() + sketch_.metadata_bytes() + guard_.metadata_bytes();
    }

    /// The rule in use.
    WorthOrder::Rule const& rule() const { return order_.rule(); }

private:
    static bool aims_at_bytes(Options const& options) { return options.value(settings, 0) == 1; }
    // From the rule for the aim to LRU.
    static constexpr std::array<WorthOrder::Rule, 8> for_objects{{{.byte_weight = 0.05},
                                                                  {.byte_weight = 0.2, .recency_weight = 0.2},
                                                                  {.byte_weight = 0.5, .recency_weight = 0.5},
                                                                  {.byte_weight = 1, .recency_weight = 4},
                                                                  {.byte_weight = 1, .recency_weight = 16},
                                                                  {.byte_weight = 1, .recency_weight = 64},
                                                                  {.byte_weight = 1, .recency_weight = 256},
                                                                  {.recency = true}}};
    static constexpr std::array<WorthOrder::Rule, 8> for_bytes{{{.byte_weight = 2},
                                                                {.byte_weight = 2, .recency_weight = 1},
                                                                {.byte_weight = 2, .recency_weight = 4},
                                                                {.byte_weight = 2, .recency_weight = 16},
                                                                {.byte_weight = 2, .recency_weight = 64},
                                                                {.byte_weight = 2, .recency_weight = 256},
                                                                {.byte_weight = 2, .recency_weight = 1024},
                                                                {.recency = true}}};
    static ByteGuard::Terms terms_of(Options const& options) {
        if (aims_at_bytes(options)) return {.allowed = 0.001, .step = 0.004, .begin = 3};
        return {.allowed = 0.005, .step = 0.015, .begin = 2};
    }
    static std::span<WorthOrder::Rule const> rules_of(Options const& options) {
        return aims_at_bytes(options) ? for_bytes : for_objects;
    }

    /// An object that was not requested, for example one loaded from disk, counts as requested once.
    std::uint32_t uses(Fingerprint fingerprint) const {
        if (fingerprint == last_) return last_uses_;
        return std::max(1u, sketch_.estimate(Sketch::tag(fingerprint)));
    }
    void tell_guard(Fingerprint fingerprint, Bytes size, bool missed) {
        if (!guard_.wants(fingerprint, size)) return;
        guard_.request(Sketch::tag(fingerprint), size, missed, order_.held());
        follow_guard();
    }
    void follow_guard() {
        if (guard_.rule() != order_.rule()) order_.change(guard_.rule());
    }

    ByteGuard guard_;
    WorthOrder order_;
    Sketch sketch_;
    Fingerprint last_ = 0;   // the last requested one
    std::uint32_t last_uses_ = 1;
    std::uint64_t objects_ = 0;   // held
};

}   // namespace garner::policy
