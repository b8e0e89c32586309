// The recent past of some figures, for charts.
#pragma once
#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "admin/figures.hpp"
#include "util/clock.hpp"

namespace garner::admin {

inline constexpr std::size_t history_series = 14;   // their number

/// The figures of all series at one moment, from which the next values follow.
struct HistoryTotals {
    struct Pair {
        double part = 0;
        double whole = 0;   // of a share
    };
    SteadyTime at{};
    std::array<Pair, history_series> numbers{};
    LatencySnapshot hit, miss;
};

/// The values of one interval, in the order of the series. Nothing: there was nothing to measure.
using HistoryValues = std::array<std::optional<double>, history_series>;

/// The values of equal intervals, the oldest first.
class HistoryRing {
public:
    HistoryRing(seconds interval, std::size_t most) : interval_(interval), most_(most) {}
    /// Ends an interval if it is over. Moments must not go back.
    void add(HistoryTotals const& totals);
    std::vector<std::optional<double>> values(std::size_t index) const;

    // ---- a takeover ----
    struct Handed {
        std::vector<HistoryValues> past = {};                         // oldest first
        std::optional<milliseconds> age = std::nullopt;               // age of the current interval; nothing: none has begun
        std::array<HistoryTotals::Pair, history_series> since = {};   // its increase until now
    };
    Handed handed(HistoryTotals const& now) const;
    /// Replaces all values by those of a former process. Latencies of the current interval are those of this process.
    void adopt(Handed const& all, HistoryTotals const& now);

private:
    seconds const interval_;
    std::size_t const most_;
    std::optional<HistoryTotals> begin_;   // begin of the current interval
    std::deque<HistoryValues> past_;
};

/// A series of the history.
struct HistorySeries {
    std::string_view name;
    std::vector<std::optional<double>> fine;     // each value covers 5 s
    std::vector<std::optional<double>> coarse;   // each value covers a minute
};

class History {
public:
    static constexpr seconds fine{5}, coarse{60};
    static constexpr std::size_t fine_most = 120, coarse_most = 60;
    static constexpr Bytes bytes_max = (fine_most + coarse_most) * sizeof(HistoryValues) + 2 * sizeof(HistoryTotals);

    /// Every 5 s.
    void add(Figures const& figures);
    std::vector<HistorySeries> all() const;

    // ---- a takeover ----
    struct Handed {
        HistoryRing::Handed fine = {}, coarse = {};
    };
    Handed handed(Figures const& now) const;
    void adopt(Handed const& all, Figures const& now);

private:
    HistoryRing fine_{fine, fine_most};
    HistoryRing coarse_{coarse, coarse_most};
};

/// The names of the series with their units, for the reference.
struct HistoryName {
    std::string_view name;
    std::string_view unit;
};
std::array<HistoryName, history_series> history_names();

HistoryTotals totals_of(Figures const& figures);

}   // namespace garner::admin
