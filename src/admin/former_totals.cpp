#include "admin/former_totals.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "admin/metrics.hpp"

namespace garner::admin {

namespace {

constexpr char const* sum_label = "sum";

std::uint64_t count_in(Totals const& value) { return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0; }

std::uint64_t member_of(Totals const& value, std::string const& label) {
    auto const found = value.is_object() ? value.find(label) : value.end();
    return value.is_object() && found != value.end() ? count_in(*found) : 0;
}

/// Counts or objects of counts, one by one: sum(a, b).
template <class Operation>
Totals combined(Totals const& a, Totals const& b, Operation operation) {
    if (!a.is_object() && !b.is_object()) return operation(count_in(a), count_in(b));
    Totals both = Totals::object();
    for (auto const* one : {&a, &b})
        if (one->is_object())
            for (auto const& [label, count] : one->items()) both[label] = operation(member_of(a, label), member_of(b, label));
    return both;
}

std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return a + b; }
std::uint64_t minus(std::uint64_t a, std::uint64_t b) { return a - std::min(a, b); }

}   // namespace

void FormerTotals::add(Totals const& more) {
    if (!more.is_object()) return;
    MutexLock const lock(mutex_);
    for (auto const& [name, value] : more.items()) totals_[name] = combined(totals_[name], value, plus);
}

Totals FormerTotals::with(std::string const& name, Totals value) const {
    MutexLock const lock(mutex_);
    auto const former = totals_.find(name);
    bool const fits = former != totals_.end() && former->is_object() == value.is_object();
    return fits ? combined(value, *former, plus) : value;
}

LatencySnapshot FormerTotals::with(std::string const& name, LatencySnapshot times) const {
    MutexLock const lock(mutex_);
    auto const former = totals_.find(name);
    if (former == totals_.end() || !former->is_object()) return times;
    for (auto const& [label, count] : former->items()) {
        if (label == sum_label) times.sum_micros += count_in(count);
        std::size_t bucket = times.buckets.size();
        std::from_chars(label.data(), label.data() + label.size(), bucket);
        if (bucket >= times.buckets.size()) continue;
        times.buckets[bucket] += count_in(count);
        times.total += count_in(count);
    }
    return times;
}

Totals counts_of(LatencySnapshot const& times) {
    Totals counts = Totals::object();
    counts[sum_label] = times.sum_micros;
    for (std::size_t i = 0; i < times.buckets.size(); ++i)
        if (times.buckets[i] > 0) counts[std::to_string(i)] = times.buckets[i];
    return counts;
}

Totals increase(Totals const& before, Totals const& now) {
    Totals more = Totals::object();
    for (auto const& [name, value] : now.items()) {
        auto const former = before.find(name);
        more[name] = former == before.end() ? value : combined(value, *former, minus);
    }
    return more;
}

}   // namespace garner::admin
