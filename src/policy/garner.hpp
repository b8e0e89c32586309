// Garner's own policy, the default: keeps what saves most misses for its size, and lets nobody in who would cost more.
#pragma once
#include <array>
#include <string_view>

#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/referee.hpp"
#include "policy/sketch.hpp"
#include "policy/worth_order.hpp"

namespace garner::policy {

/// Objects leave by their worth (see WorthOrder). f is on insertion what a sketch, which outlives eviction, estimates;
/// a newcomer that is worth less than any of those it would push out is not admitted. `aim` says what a miss costs:
/// by `objects` mostly the request, by `bytes` mostly its bytes. Where small copies of the cache show that another
/// weight of bytes or LRU does better for the aim, that is the order until they show otherwise. The reasons and figures
/// are in docs/policies_garner.md.
///
/// hit() is O(1) but where the rule changes, then O(n). 17 to 19 bytes a slot with the sketch, and up to 13 KiB.
class Garner final : public ReplacementPolicy {
public:
    static constexpr std::array<std::string_view, 2> aims{"objects", "bytes"};
    static constexpr std::array settings{
        Setting{.name = "aim", .what = "what to have fewer misses of: objects or bytes", .choices = aims},
    };

    explicit Garner(Options const&);

    void requested(Fingerprint) override;
    bool admits(Fingerprint, Bytes size, Bytes need) override;
    void inserted(Slot, Fingerprint, Bytes size) override;
    void hit(Slot, Bytes size) override;
    void used_along(Slot, Bytes size) override;
    void resized(Slot, Bytes size) override;
    void removed(Slot, Left) override;
    Slot victim() override { return order_.lowest(); }
    /// True while it is worth more than the last one evicted.
    bool keeps(Slot slot) const override { return order_.keeps(slot); }
    void set_capacity(Bytes) override;
    Bytes metadata_bytes() const override;

    /// Whether the order is LRU's for now.
    bool by_recency() const { return order_.rule().recency; }

private:
    std::uint32_t uses(Fingerprint) const;
    void tell_referee(Fingerprint, Bytes size);

    Referee referee_;
    WorthOrder order_;
    Sketch sketch_;
    Fingerprint last_ = 0;       // requested
    std::uint32_t last_uses_ = 1;
    std::uint64_t objects_ = 0;  // held
};

}  // namespace garner::policy
