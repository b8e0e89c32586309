// CPBAD, access density: keeps what is asked for again after ever shorter intervals, lets go of what cools.
#pragma once
#include <array>

#include "policy/lazy_heap.hpp"
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/slots.hpp"

namespace garner::policy {

/// The lowest density leaves (Li, He, Fang 2012, algorithm 1 and equations 1 and 2). An interval is counted in lookups
/// of the whole cache, hits and misses. At its first hit an object's density is F of its interval; later a longer
/// interval than the mean one multiplies it by less than one, a shorter one by more. Ties: the least recently used
/// leaves. What the paper leaves open is a setting; docs/policies.md says why each default is what it is.
///
/// Never infinite, zero or NaN: densities stay within 1e-300..1e300, and no interval is below one lookup. Intervals are
/// true up to 2^40 lookups, their mean to 24 bits; f counts up to 2^24 - 1. A hit that heats is O(1), one that cools
/// O(log n). 32 bytes a slot, 28 of a lean one; 8 more with sizes.
class Cpbad final : public ReplacementPolicy {
public:
    enum SettingIndex : std::size_t { initial, f, boost, lambda, equal, first, size, log };
    enum class F : std::uint8_t { one, held, total };           // over the interval
    enum class Boost : std::uint8_t { printed, corrected };
    enum class Equal : std::uint8_t { heats, stays };
    enum class First : std::uint8_t { once, twice };
    enum class Size : std::uint8_t { none, plus, minus };
    enum class Log : std::uint8_t { natural, binary, decimal };

    static constexpr std::array<std::string_view, 3> f_choices{"1/x", "M/x", "total/x"};
    static constexpr std::array<std::string_view, 2> boost_choices{"printed", "corrected"};
    static constexpr std::array<std::string_view, 2> equal_choices{"heats", "stays"};
    static constexpr std::array<std::string_view, 2> first_choices{"once", "twice"};
    static constexpr std::array<std::string_view, 3> size_choices{"none", "plus", "minus"};
    static constexpr std::array<std::string_view, 3> log_choices{"e", "2", "10"};
    /// In the order of SettingIndex.
    static constexpr std::array settings{
        Setting{.name = "initial", .what = "density of a newcomer", .initial = 1, .least = 1e-9, .most = 1e9},
        Setting{.name = "f", .what = "density at the first hit: x its interval, M objects held, total lookups so far",
                .initial = 2, .choices = f_choices},
        Setting{.name = "boost", .what = "what heating adds, times lambda: now/(avg+now) as printed, or avg/(avg+now)",
                .initial = 1, .choices = boost_choices},
        Setting{.name = "lambda", .what = "how much an interval heats or cools",
                .initial = 0.8, .least = 0.01, .most = 1},
        Setting{.name = "equal", .what = "an interval equal to the mean: heats (algorithm 1), stays (equation 1)",
                .initial = 0, .choices = equal_choices},
        Setting{.name = "first", .what = "how often the first hit counts in f, the weight of the mean",
                .initial = 0, .choices = first_choices},
        Setting{.name = "size", .what = "size-aware: density plus (as printed) or minus log(size / cache size)",
                .initial = 0, .choices = size_choices},
        Setting{.name = "log", .what = "base of the logarithm of sizes", .initial = 0, .choices = log_choices},
    };

    explicit Cpbad(Options const&);

    void requested(Fingerprint) override { ++total_; }
    void inserted(Slot, Fingerprint, Bytes size) override;
    void hit(Slot, Bytes size) override;
    /// Not a use; counts only where sizes do.
    void resized(Slot, Bytes size) override;
    void removed(Slot, Left) override;
    Slot victim() override;
    /// True while it is denser than the last one evicted.
    bool keeps(Slot) const override;
    Bytes metadata_bytes() const override;

private:
    /// Of one object: its past in lookups.
    struct Past {
        float mean_interval = 0;
        std::uint32_t last_low = 0;   // the lookup of its last use, 40 bits of it
        std::uint32_t last_high : 8 = 0;
        std::uint32_t uses : 24 = 0;   // f
    };
    static_assert(sizeof(Past) == 12);

    /// Also moves the object's past on to now.
    double density_after_hit(Past&, double density) const;
    double numerator() const;
    double interval_until_now(Past const&) const;
    void note_use(Past&) const;
    bool sizes_count() const { return size_weight_ != 0; }
    double key_of(double density, Bytes size) const;

    double const initial_, lambda_;
    F const f_;
    Boost const boost_;
    Equal const equal_;
    First const first_;
    double const size_weight_;   // of the natural logarithm; 0: sizes do not count

    LazyHeap heap_;              // by density, or by density and size
    SlotArray<Past> pasts_;
    SlotArray<double> densities_;   // only where sizes count: else they are the keys
    std::uint64_t total_ = 0;
    std::uint32_t held_ = 0;
    double last_evicted_;        // its key
};

}  // namespace garner::policy
