// How long answers took over the last minute and five minutes, from samples of the histograms.
#pragma once
#include <array>
#include <deque>

#include "util/clock.hpp"
#include "util/counter.hpp"

namespace garner::admin {

struct Latencies {
    LatencySnapshot hit;
    LatencySnapshot miss;        // all other answers, without tunnels
};

/// A window that latencies are given for; `name` is its name in the figures.
struct LatencyWindow {
    char const* name;
    seconds length;
};
inline constexpr std::array latency_windows{LatencyWindow{"60s", seconds{60}}, LatencyWindow{"5m", seconds{300}}};
using WindowLatencies = std::array<Latencies, latency_windows.size()>;   // in the order of `latency_windows`

/// The samples of the last five minutes, oldest first: at most 160 KiB.
class LatencySamples {
public:
    static constexpr seconds interval{15};       // between two samples; what comes sooner is not kept
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
