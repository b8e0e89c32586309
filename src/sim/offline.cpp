#include "sim/offline.hpp"

#include <algorithm>
#include <array>
#include <queue>
#include <vector>

#include "util/check.hpp"

namespace garner::sim {
namespace {

using Time = std::uint32_t;   // the number of earlier requests
constexpr Time never = UINT32_MAX;

constexpr std::array rows{
    Reference{"belady", "offline: evicts the object whose next request is furthest; fewest misses if sizes are equal", belady},
    Reference{"belady-size", "offline: evicts the object with the greatest size x distance to its next request", belady_size},
    Reference{"pfool", "offline: a lower bound on the misses of any policy (PFOO-L)", pfool},
    Reference{"infinite", "a cache without a size limit", infinite},
};

/// For each request the time of the next request for its key, or `never`.
std::vector<Time> next_uses(Trace const& trace) {
    check(trace.requests() < never);
    std::vector<Time> next(trace.requests());
    std::vector<Time> later(trace.distinct, never);
    for (auto now = static_cast<Time>(trace.requests()); now-- > 0;) {
        next[now] = later[trace.keys[now]];
        later[trace.keys[now]] = now;
    }
    return next;
}

Result nothing_missed(std::string_view name, Trace const& trace, Bytes size) {
    Result result;
    result.policy = name;
    result.size = size;
    result.requests = trace.requests();
    result.bytes = trace.bytes;
    return result;
}

/// A cache that knows each object's next request. It evicts the object with the greatest `cost(size, next, now)`, which may
/// fall over time but never rise.
template <class Cost>
class Foresight {
public:
    Foresight(Trace const& trace, Bytes budget, Cost cost)
        : trace_(trace), next_(next_uses(trace)), held_(trace.distinct, absent), budget_(budget), cost_(cost) {}

    void replay(Result& result) {
        for (now_ = 0; now_ < trace_.requests(); ++now_) {
            auto& held = held_[trace_.keys[now_]];
            if (held != absent) {
                hit(held);
                continue;
            }
            Bytes size = trace_.sizes[now_];
            result.misses += 1;
            result.missed_bytes += static_cast<double>(size);
            if (size <= budget_ && next_[now_] != never) store(held, size);
            result.objects_most = std::max(result.objects_most, objects_);
        }
    }

private:
    static constexpr Bytes absent = UINT64_MAX;

    // Each time has one request, so `next` identifies the object.
    struct Entry {
        double cost;
        Time next;
        bool operator<(Entry const& other) const { return cost != other.cost ? cost < other.cost : next < other.next; }
    };

    void hit(Bytes& held) {
        if (next_[now_] == never)
            drop(held);
        else
            push(held, next_[now_]);
    }

    void store(Bytes& held, Bytes size) {
        held = size;
        occupied_ += size;
        ++objects_;
        push(size, next_[now_]);
        while (occupied_ > budget_) drop(held_[trace_.keys[pop_dearest()]]);
    }

    void drop(Bytes& held) {
        occupied_ -= held;
        --objects_;
        held = absent;
    }

    void push(Bytes size, Time next) { order_.push({cost_(size, next, now_), next}); }

    // Costs only fall, so an entry's stored cost is at least its current cost. The top is the most expensive if it still is
    // after an update. An entry whose next request has passed was replaced by a newer entry for the same object.
    Time pop_dearest() {
        for (;;) {
            Entry top = order_.top();
            order_.pop();
            if (top.next <= now_) continue;
            top.cost = cost_(held_[trace_.keys[top.next]], top.next, now_);
            if (order_.empty() || !(top < order_.top())) return top.next;
            order_.push(top);
        }
    }

    Trace const& trace_;
    std::vector<Time> next_;
    std::vector<Bytes> held_;   // the size of each key's object, or absent
    std::priority_queue<Entry> order_;
    Bytes budget_;
    Bytes occupied_ = 0;
    std::uint64_t objects_ = 0;
    Time now_ = 0;
    Cost cost_;
};

/// The cost of one hit: the space that the object occupies from the previous request until this one.
struct Interval {
    double cost;   // bytes × requests
    Bytes bytes;   // size of the hit

    double cost_per_byte() const { return bytes > 0 ? cost / static_cast<double>(bytes) : 0; }
};

std::vector<Interval> intervals(Trace const& trace, Bytes largest) {
    std::vector<Bytes> smallest(trace.distinct, UINT64_MAX);
    for (std::size_t i = 0; i < trace.requests(); ++i) smallest[trace.keys[i]] = std::min(smallest[trace.keys[i]], trace.sizes[i]);
    auto next = next_uses(trace);
    std::vector<Interval> found;
    for (Time now = 0; now < trace.requests(); ++now) {
        Bytes size = smallest[trace.keys[now]];
        if (next[now] == never || size > largest) continue;
        found.push_back({static_cast<double>(size) * (next[now] - now), trace.sizes[next[now]]});
    }
    return found;
}

struct Bought {
    double hits = 0;
    double bytes = 0;
};

/// Takes intervals from the first on, until one costs more than the remaining budget.
Bought buy(std::vector<Interval> const& wanted, double purse) {
    Bought bought;
    for (auto const& interval : wanted) {
        if (interval.cost > purse) break;
        purse -= interval.cost;
        bought.hits += 1;
        bought.bytes += static_cast<double>(interval.bytes);
    }
    return bought;
}

}   // namespace

std::span<Reference const> references() { return rows; }

Reference const* find_reference(std::string_view name) {
    auto found = std::find_if(rows.begin(), rows.end(), [&](Reference const& row) { return row.name == name; });
    return found == rows.end() ? nullptr : &*found;
}

Result belady(Trace const& trace, Bytes size) {
    auto result = nothing_missed("belady", trace, size);
    Foresight(trace, size, [](Bytes, Time next, Time) { return static_cast<double>(next); }).replay(result);
    return result;
}

Result belady_size(Trace const& trace, Bytes size) {
    auto result = nothing_missed("belady-size", trace, size);
    auto cost = [](Bytes bytes, Time next, Time now) { return static_cast<double>(bytes) * (next - now); };
    Foresight(trace, size, cost).replay(result);
    return result;
}

Result pfool(Trace const& trace, Bytes size) {
    auto wanted = intervals(trace, size);
    double const purse = static_cast<double>(size) * static_cast<double>(trace.requests());

    std::sort(wanted.begin(), wanted.end(), [](Interval const& a, Interval const& b) { return a.cost < b.cost; });
    auto for_objects = buy(wanted, purse);
    std::sort(wanted.begin(), wanted.end(), [](Interval const& a, Interval const& b) {
        auto left = a.cost_per_byte(), right = b.cost_per_byte();
        return left != right ? left < right : a.cost < b.cost;
    });
    auto for_bytes = buy(wanted, purse);

    auto result = nothing_missed("pfool", trace, size);
    result.misses = static_cast<double>(trace.requests()) - for_objects.hits;
    result.missed_bytes = static_cast<double>(trace.bytes) - for_bytes.bytes;
    return result;
}

Result infinite(Trace const& trace, Bytes size) {
    auto result = nothing_missed("infinite", trace, size);
    result.misses = trace.distinct;
    result.objects_most = trace.distinct;
    result.missed_bytes = static_cast<double>(trace.unique_bytes);
    return result;
}

}   // namespace garner::sim
