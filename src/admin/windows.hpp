// Hit ratios over the last minute, five minutes and hour, from samples of the counters.
#pragma once
#include <array>
#include <deque>
#include <optional>

#include "admin/figures.hpp"
#include "util/clock.hpp"

namespace garner::admin {

/// The counters that ratios are made of, at one moment. All of them only grow.
struct Sample {
    SteadyTime at{};
    std::uint64_t requests = 0;      // for an object: all but tunnels, refusals, failures, purges and Garner's own pages
    std::uint64_t hits = 0;
    std::uint64_t bytes = 0;         // of bodies sent to clients
    std::uint64_t hit_bytes = 0;
};

Sample sample_of(Figures const&);

/// From 0 to 1; none when nothing was asked for.
struct Ratios {
    std::optional<double> hit;
    std::optional<double> byte_hit;
};

Ratios ratios_between(Sample const& before, Sample const& after);

/// A window that figures are given for; `name` is its name in them.
struct Window {
    char const* name;
    seconds length;                  // zero: since the start
};
inline constexpr std::array windows{Window{"60s", seconds{60}}, Window{"5m", seconds{300}},
                                    Window{"1h", seconds{3'600}}, Window{"start", seconds{0}}};
using WindowRatios = std::array<Ratios, windows.size()>;   // in the order of `windows`

/// The samples of the last hour, oldest first.
class Samples {
public:
    static constexpr seconds interval{5};                  // between two calls of add()
    static constexpr std::size_t most = 3'600 / 5 + 1;     // the oldest leaves

    /// Not older than the newest one there is.
    void add(Sample const&);
    /// Between the oldest sample that is inside the window, else the newest before it, and `now`. While less than the
    /// window has been sampled, that is since the first sample.
    Ratios over(seconds window, Sample const& now) const;
    WindowRatios all(Sample const& now) const;

private:
    std::deque<Sample> samples_;
};

}  // namespace garner::admin
