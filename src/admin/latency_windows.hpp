// How long answers took over the last minute and five minutes, from samples of the histograms.
#pragma once
#include <array>
#include <deque>

#include "admin/windows.hpp"
#include "util/counter.hpp"

namespace garner::admin {

struct Latencies {
    LatencySnapshot hit;
    LatencySnapshot miss;        // all other answers, without tunnels
};

inline constexpr std::array latency_windows{windows[0], windows[1]};   // 60 s and 5 min
using WindowLatencies = std::array<Latencies, latency_windows.size()>;   // in the order of `latency_windows`

/// The samples of the last five minutes, oldest first: at most 160 KiB.
class LatencySamples {
public:
    static constexpr seconds interval{15};       // between two samples; an earlier one is not kept
    static constexpr std::size_t most = 300 / 15 + 1;

    /// Since the start, at the moment `at`, which is not before the last one.
    void add(SteadyTime at, Latencies const& until_now);
    /// Since the newest sample that is as old as the window, else since the oldest. Without samples all.
    WindowLatencies over(SteadyTime at, Latencies const& until_now) const;

private:
    struct Sample {
        SteadyTime at{};
        Latencies until;
    };
    Latencies since(SteadyTime moment, Latencies const& until_now) const;

    std::deque<Sample> samples_;
};

}  // namespace garner::admin
