// CPBAD, access density: keeps objects requested after ever shorter intervals.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "policy/lazy_heap.hpp"
#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "policy/slots.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// Evicts the lowest density (Li, He, Fang 2012, algorithm 1 and equations 1 and 2). An interval is counted in
/// lookups of the whole cache, hits and misses. At its first hit an object's density is F of its interval. Later an
/// interval longer than the mean multiplies it by less than one, a shorter one by more. Ties: the least recently
/// used. Choices that the paper leaves open are settings; docs/results/policies.md has the reasons for their defaults.
///
/// Densities stay within 1e-300..1e300, never infinite, zero or NaN; an interval is at least one lookup. Intervals
/// are exact up to 2^40 lookups, their mean to 24 bits; f saturates at 2^24 - 1. A hit that raises the density is
/// O(1), one that lowers it O(log n). 32 bytes a slot, 28 of a lean one; 8 more with sizes.
class Cpbad final : public ReplacementPolicy {
public:
    static constexpr std::array<std::string_view, 3> f_choices{"1/x", "M/x", "total/x"};
    static constexpr std::array<std::string_view, 2> boost_choices{"printed", "corrected"};
    static constexpr std::array<std::string_view, 2> equal_choices{"heats", "stays"};
    static constexpr std::array<std::string_view, 2> first_choices{"once", "twice"};
    static constexpr std::array<std::string_view, 3> size_choices{"none", "plus", "minus"};
    static constexpr std::array<std::string_view, 3> log_choices{"e", "2", "10"};
    // clang-format off
    /// In the order of SettingIndex.
    static constexpr std::array settings{
        Setting{.name = "initial", .what = "density of a new object", .initial = 1, .least = 1e-9, .most = 1e9},
        Setting{.name = "f", .what = "density at the first hit: x its interval, M objects held, total lookups so far",
                .initial = 2, .choices = f_choices},
        Setting{.name = "boost", .what = "term that heating adds, times lambda: now/(avg+now) as printed, or avg/(avg+now)",
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
    // clang-format on

    explicit Cpbad(Options const& options)
        : initial_(options.value(settings, initial)), lambda_(options.value(settings, lambda)), f_(chosen<F>(options, f)),
          boost_(chosen<Boost>(options, boost)), equal_(chosen<Equal>(options, equal)), first_(chosen<First>(options, first)),
          size_weight_(weight_of(chosen<Size>(options, size), chosen<Log>(options, log))),
          heap_(options.lean ? LazyHeap::Keys::lean : LazyHeap::Keys::exact) {}

    void requested(Fingerprint) override { ++total_; }
    void inserted(Slot slot, Fingerprint, Bytes size) override {
        pasts_.cover(slot);
        pasts_[slot] = {.uses = 1};
        note_use(pasts_[slot]);
        if (sizes_count()) {
            densities_.cover(slot);
            densities_[slot] = initial_;
        }
        heap_.push(slot, key_of(initial_, size));
        ++held_;
    }
    void hit(Slot slot, Bytes size) override {
        double const before = heap_.key(slot);
        double const density = density_after_hit(pasts_[slot], sizes_count() ? densities_[slot] : before);
        if (sizes_count()) densities_[slot] = density;
        double const key = key_of(density, size);
        heap_.raise(slot, std::max(before, key));   // also records the use, for ties
        if (key < before) heap_.update(slot, key);
    }
    /// Does not count as a use; changes the key only if sizes count.
    void resized(Slot slot, Bytes size) override {
        check(heap_.contains(slot));
        if (sizes_count()) heap_.update(slot, key_of(densities_[slot], size));
    }
    void removed(Slot slot, Left why) override {
        if (why == Left::evicted) last_evicted_ = heap_.key(slot);
        heap_.remove(slot);
        --held_;
    }
    Slot victim() override { return heap_.lowest(); }
    /// True while it is denser than the last evicted one.
    bool keeps(Slot slot) const override { return heap_.contains(slot) && heap_.key(slot) > last_evicted_; }
    Bytes metadata_bytes() const override {
        return sizeof *this + heap_.metadata_bytes() + pasts_.metadata_bytes() + densities_.metadata_bytes();
    }

private:
    enum SettingIndex : std::size_t { initial, f, boost, lambda, equal, first, size, log };
    enum class F : std::uint8_t { one, held, total };   // over the interval
    enum class Boost : std::uint8_t { printed, corrected };
    enum class Equal : std::uint8_t { heats, stays };
    enum class First : std::uint8_t { once, twice };
    enum class Size : std::uint8_t { none, plus, minus };
    enum class Log : std::uint8_t { natural, binary, decimal };

    // A cooling hit at least halves a density, and a constant interval multiplies it by 1.4 at each hit. Without
    // bounds a hot object would reach 0 or infinity within some thousand hits, and stay there.
    static constexpr double least_density = 1e-300, most_density = 1e300;
    static constexpr std::uint32_t most_uses = (1u << 24) - 1;
    static constexpr std::uint64_t interval_mask = (std::uint64_t{1} << 40) - 1;

    /// An object's history, counted in lookups.
    struct Past {
        float mean_interval = 0;
        std::uint32_t last_low = 0;   // the lookup of its last use, lower 32 of 40 bits
        std::uint32_t last_high : 8 = 0;
        std::uint32_t uses : 24 = 0;   // f
    };
    static_assert(sizeof(Past) == 12);

    template <class Choice>
    static Choice chosen(Options const& options, SettingIndex index) {
        return static_cast<Choice>(options.value(settings, index));
    }
    static double weight_of(Size size, Log log) {
        constexpr double of_log[]{1, 1 / std::numbers::ln2, 1 / std::numbers::ln10};
        constexpr double of_size[]{0, 1, -1};
        return of_size[static_cast<int>(size)] * of_log[static_cast<int>(log)];
    }

    /// Also updates the object's history to now.
    double density_after_hit(Past& past, double density) const {
        double const now = interval_until_now(past);
        note_use(past);
        if (past.uses == 1) {
            past.mean_interval = static_cast<float>(now);
            past.uses = first_ == First::twice ? 3 : 2;
            return numerator() / now;
        }
        double const mean = past.mean_interval;
        double const uses = past.uses;
        if (past.uses < most_uses) ++past.uses;
        if (now > mean) {
            past.mean_interval = static_cast<float>(now);
            return std::max(density * lambda_ * mean / (mean + now), least_density);
        }
        past.mean_interval = static_cast<float>((mean * uses + now) / (uses + 1));
        if (now == mean && equal_ == Equal::stays) return density;
        double const share = (boost_ == Boost::printed ? now : mean) / (mean + now);
        return std::min(density * (1 + lambda_ * share), most_density);
    }
    double numerator() const {
        if (f_ == F::total) return static_cast<double>(std::max<std::uint64_t>(total_, 1));
        return f_ == F::held ? held_ : 1;
    }
    // A fill may end after later lookups, so that the next hit seems to follow at once: the interval is at least 1.
    double interval_until_now(Past const& past) const {
        auto const last = std::uint64_t{past.last_high} << 32 | past.last_low;
        return static_cast<double>(std::max<std::uint64_t>((total_ - last) & interval_mask, 1));
    }
    void note_use(Past& past) const {
        past.last_low = static_cast<std::uint32_t>(total_);
        past.last_high = total_ >> 32 & 0xff;
    }
    bool sizes_count() const { return size_weight_ != 0; }
    // The paper's log(size / cache size) without the cache's size, which would shift all keys equally.
    double key_of(double density, Bytes size) const {
        if (!sizes_count()) return density;
        return density + size_weight_ * std::log(static_cast<double>(std::max<Bytes>(size, 1)));
    }

    double const initial_, lambda_;
    F const f_;
    Boost const boost_;
    Equal const equal_;
    First const first_;
    double const size_weight_;   // scaled for the natural logarithm; 0: sizes do not count

    LazyHeap heap_;   // by density, or by density and size
    SlotArray<Past> pasts_;
    SlotArray<double> densities_;   // only if sizes count: otherwise the keys are the densities
    std::uint64_t total_ = 0;
    std::uint32_t held_ = 0;
    double last_evicted_ = -std::numeric_limits<double>::max();   // its key
};

}   // namespace garner::policy
