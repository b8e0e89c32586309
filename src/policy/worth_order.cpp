#include "policy/worth_order.hpp"

#include <algorithm>
#include <bit>

#include "util/check.hpp"

namespace garner::policy {
namespace {

// A word of the heap: f in 8 bits under the size as a float without sign and without its last 7 bits.
constexpr std::uint32_t most_uses = 255;

std::uint32_t pack(std::uint32_t uses, Bytes size) {
    auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::max<Bytes>(size, 1)));
    return bits >> 7 << 8 | std::min(uses, most_uses);
}
std::uint32_t uses_of(std::uint32_t word) { return word & most_uses; }
double size_of(std::uint32_t word) { return std::bit_cast<float>(word >> 8 << 7); }

/// To choose among more victims than this costs more than a wrong choice.
constexpr int most_victims_compared = 128;

}  // namespace

void WorthOrder::insert(Slot slot, std::uint32_t uses, Bytes size) {
    requested(size);
    auto word = pack(uses, size);
    heap_.push(slot, key_of(word), word);
}

void WorthOrder::hit(Slot slot, Bytes size) {
    requested(size);
    auto word = pack(uses_of(heap_.word(slot)) + 1, size);
    // The mean size moves: an object must not lose by being used.
    heap_.raise(slot, std::max(heap_.key(slot), key_of(word)), word);
}

void WorthOrder::resize(Slot slot, Bytes size) {
    auto word = pack(uses_of(heap_.word(slot)), size);
    heap_.update(slot, rule_.recency ? heap_.key(slot) : key_of(word), word);
}

void WorthOrder::remove(Slot slot, Left why) {
    // Never back: whoever evicts out of turn must not age those that are here below their own keys.
    if (why == Left::evicted && !rule_.recency) age_ = std::max(age_, heap_.key(slot));
    heap_.remove(slot);
}

bool WorthOrder::admits(std::uint32_t uses, Bytes size, Bytes need) {
    if (rule_.recency) return true;
    auto word = pack(uses, size);
    double const key = key_of(word);
    double freed = 0;
    int compared = 0;
    bool worth_it = true;
    heap_.ascend([&](Slot, double victim, std::uint32_t victims) {
        worth_it = victim <= key;
        freed += size_of(victims);
        return worth_it && freed < static_cast<double>(need) && ++compared < most_victims_compared;
    });
    if (worth_it) return true;
    requested(size);
    age_ = std::max(age_, key);
    return false;
}

void WorthOrder::change(Rule rule) {
    auto const oldest = lowest() == no_slot ? 0 : heap_.key(lowest());
    auto share_left = [&, before = rule_, age = age_](double key, std::uint32_t word) {
        double left = before.recency ? key - oldest : key - age;
        double whole = before.recency ? std::max(age - oldest, 1.0) : worth(before, word);
        return std::clamp(left / whole, 0.0, 1.0);
    };
    heap_.rekey([&](Slot, double key, std::uint32_t word) {
        return share_left(key, word) * (rule.recency ? 1 : worth(rule, word));
    });
    age_ = rule.recency ? 1 : 0;
    rule_ = rule;
}

/// Of one that is asked for now.
double WorthOrder::key_of(std::uint32_t word) { return rule_.recency ? age_ += 1 : age_ + worth(rule_, word); }

/// What it saves in misses for each of its bytes.
double WorthOrder::worth(Rule const& rule, std::uint32_t word) const {
    return uses_of(word) * (1 / size_of(word) + rule.byte_weight * requests_ / bytes_);
}

/// The mean size is that of the last hundred thousand requests or so.
void WorthOrder::requested(Bytes size) {
    requests_ += 1;
    bytes_ += static_cast<double>(std::max<Bytes>(size, 1));
    if (requests_ < 1 << 17) return;
    requests_ /= 2;
    bytes_ /= 2;
}

}  // namespace garner::policy
