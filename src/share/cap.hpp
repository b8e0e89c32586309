// Caps: the most that a client, a connection, or all clients of a rule may take, whatever is left of the line.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "share/line.hpp"
#include "share/options.hpp"
#include "util/lru_map.hpp"
#include "util/mutex.hpp"

namespace garner::share {

/// The bytes of one rule since the start, by direction.
struct CapTotals {
    std::array<std::atomic<Bytes>, 2> bytes{};
};

/// One limit: the requests that it counts together wait for it in turn. Thread-safe.
class Cap {
public:
    explicit Cap(std::shared_ptr<CapTotals> totals) : totals_(std::move(totals)) {}
    void configure(CapRule const& rule);
    Line& line(Direction direction) { return lines_[index(direction)]; }
    LineFlow& flow(Direction direction) { return flows_[index(direction)]; }
    /// As Line::charge().
    bool charge(Direction direction, Bytes bytes, SteadyTime now);
    /// True if a new cap of the rule would permit the same.
    bool is_idle(SteadyTime now);

private:
    std::array<Line, 2> lines_;
    std::array<LineFlow, 2> flows_;
    std::shared_ptr<CapTotals> const totals_;
};

/// Bytes a second that the cap permits; the greatest number if there is none, or if it has no rate.
inline Bytes permitted_rate(Cap* cap, Direction direction) {
    auto const rate = cap ? cap->line(direction).rate() : 0;
    return rate > 0 ? rate : UINT64_MAX;
}

struct CapFigures {
    std::string name;
    std::array<Bytes, 2> bytes{};   // by direction
};

/// All caps, by rule and by what they count. An idle one is evicted for a new one. Thread-safe.
class Caps {
public:
    static constexpr std::size_t most = 32'768;
    static constexpr Bytes bytes_each = 600;   // with its part of the table

    /// Transfers under way get the new rates of their rule, by its name. Those whose rule is gone have no limit.
    void configure(std::vector<CapRule> rules);
    /// `whose`: the client or connection; empty: all. Makes a missing one. While there are `most` and the least recently used ones
    /// are not idle, those that are missing share one cap for each rule. nullptr if the rule was removed meanwhile.
    std::shared_ptr<Cap> find(std::string_view rule, std::string_view whose);
    std::size_t size() const;
    /// In the order of the rules.
    std::vector<CapFigures> figures() const;

private:
    CapRule const* rule_named(std::string_view name) const REQUIRES(mutex_);
    bool has_place() REQUIRES(mutex_);

    mutable Mutex mutex_;
    std::vector<CapRule> rules_ GUARDED_BY(mutex_);
    std::unordered_map<std::string, std::shared_ptr<CapTotals>> totals_ GUARDED_BY(mutex_);   // by name of the rule
    LruMap<std::shared_ptr<Cap>> caps_ GUARDED_BY(mutex_);                                    // by rule and client
};

}   // namespace garner::share
