// A set of numbers as disjoint intervals.
#pragma once
#include <algorithm>
#include <vector>

namespace garner::http {

/// Sorted, disjoint, not adjacent. Immutable after construction.
template <class Number>
class IntervalSet {
public:
    /// Both ends are included.
    struct Interval {
        Number first, last;
    };

    IntervalSet() = default;
    /// In any order; they may overlap.
    explicit IntervalSet(std::vector<Interval> any) {
        std::ranges::sort(any, {}, &Interval::first);
        for (auto const& one : any) {
            if (!all_.empty() && (one.first <= all_.back().last || one.first - 1 == all_.back().last))
                all_.back().last = std::max(all_.back().last, one.last);
            else
                all_.push_back(one);
        }
    }

    bool contains(Number number) const {
        auto const after = std::ranges::upper_bound(all_, number, {}, &Interval::first);
        return after != all_.begin() && number <= (after - 1)->last;
    }

    friend IntervalSet common(IntervalSet const& a, IntervalSet const& b) {
        IntervalSet both;
        for (auto x = a.all_.begin(), y = b.all_.begin(); x != a.all_.end() && y != b.all_.end();) {
            auto const first = std::max(x->first, y->first), last = std::min(x->last, y->last);
            if (first <= last) both.all_.push_back({first, last});
            x->last < y->last ? ++x : ++y;
        }
        return both;
    }

    /// True if every number of `other` is in this set.
    bool covers(IntervalSet const& other) const {
        return std::ranges::all_of(other.all_, [&](Interval const& one) {
            auto const after = std::ranges::upper_bound(all_, one.first, {}, &Interval::first);
            return after != all_.begin() && one.last <= (after - 1)->last;
        });
    }

    std::vector<Interval> const& intervals() const { return all_; }

private:
    std::vector<Interval> all_;
};

}   // namespace garner::http
