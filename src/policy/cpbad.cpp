#include "policy/cpbad.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "util/check.hpp"

namespace garner::policy {
namespace {

// Cooling halves a density at least, and an interval that stays the same raises it by 1.4 for ever: without bounds a
// hot object would be at 0 or at infinity within some thousand hits, and could not come back.
constexpr double least_density = 1e-300, most_density = 1e300;

constexpr std::uint32_t most_uses = (1u << 24) - 1;
constexpr std::uint64_t interval_mask = (std::uint64_t{1} << 40) - 1;

double weight_of(Cpbad::Size size, Cpbad::Log log) {
    if (size == Cpbad::Size::none) return 0;
    double sign = size == Cpbad::Size::plus ? 1 : -1;
    switch (log) {
    case Cpbad::Log::natural: return sign;
    case Cpbad::Log::binary: return sign / std::numbers::ln2;
    case Cpbad::Log::decimal: return sign / std::numbers::ln10;
    }
    return sign;
}

template <class Choice>
Choice chosen(Options const& options, Cpbad::SettingIndex index) {
    return static_cast<Choice>(options.value(Cpbad::settings, index));
}

}  // namespace

Cpbad::Cpbad(Options const& options)
    : initial_(options.value(settings, initial)),
      lambda_(options.value(settings, lambda)),
      f_(chosen<F>(options, f)),
      boost_(chosen<Boost>(options, boost)),
      equal_(chosen<Equal>(options, equal)),
      first_(chosen<First>(options, first)),
      size_weight_(weight_of(chosen<Size>(options, size), chosen<Log>(options, log))),
      heap_(options.lean ? LazyHeap::Keys::lean : LazyHeap::Keys::exact),
      last_evicted_(-std::numeric_limits<double>::max()) {}

void Cpbad::inserted(Slot slot, Fingerprint, Bytes size) {
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

void Cpbad::hit(Slot slot, Bytes size) {
    double const before = heap_.key(slot);
    double const density = density_after_hit(pasts_[slot], sizes_count() ? densities_[slot] : before);
    if (sizes_count()) densities_[slot] = density;
    double const key = key_of(density, size);
    heap_.raise(slot, std::max(before, key));   // also notes the use, for ties
    if (key < before) heap_.update(slot, key);
}

void Cpbad::resized(Slot slot, Bytes size) {
    check(heap_.contains(slot));
    if (sizes_count()) heap_.update(slot, key_of(densities_[slot], size));
}

void Cpbad::removed(Slot slot, Left why) {
    if (why == Left::evicted) last_evicted_ = heap_.key(slot);
    heap_.remove(slot);
    --held_;
}

Slot Cpbad::victim() { return heap_.lowest(); }

bool Cpbad::keeps(Slot slot) const { return heap_.contains(slot) && heap_.key(slot) > last_evicted_; }

Bytes Cpbad::metadata_bytes() const {
    return sizeof *this + heap_.metadata_bytes() + pasts_.metadata_bytes() + densities_.metadata_bytes();
}

double Cpbad::density_after_hit(Past& past, double density) const {
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

double Cpbad::numerator() const {
    switch (f_) {
    case F::one: return 1;
    case F::held: return held_;
    case F::total: return static_cast<double>(std::max<std::uint64_t>(total_, 1));
    }
    return 1;
}

// A fill may end after lookups that came later than its own, so that the next hit seems to come at once: never 0.
double Cpbad::interval_until_now(Past const& past) const {
    auto const last = std::uint64_t{past.last_high} << 32 | past.last_low;
    return static_cast<double>(std::max<std::uint64_t>((total_ - last) & interval_mask, 1));
}

void Cpbad::note_use(Past& past) const {
    past.last_low = static_cast<std::uint32_t>(total_);
    past.last_high = total_ >> 32 & 0xff;
}

// The paper's log(size / cache size) without the cache's size, which would move every key alike.
double Cpbad::key_of(double density, Bytes size) const {
    if (!sizes_count()) return density;
    return density + size_weight_ * std::log(static_cast<double>(std::max<Bytes>(size, 1)));
}

}  // namespace garner::policy
