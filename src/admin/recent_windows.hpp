// Hit ratios and latencies over the last minutes, from samples of the counters and histograms.
#pragma once
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "admin/figures.hpp"
#include "util/clock.hpp"
#include "util/counter.hpp"

namespace garner::admin {

/// The counters that the ratios need, at one moment. All are monotonic.
struct Sample {
    SteadyTime at{};
    std::uint64_t requests = 0;   // for an object: all except tunnels, refusals, failures, purges and Garner's own pages
    std::uint64_t hits = 0;
    std::uint64_t bytes = 0;   // body bytes sent to clients
    std::uint64_t hit_bytes = 0;
    std::uint64_t all_requests = 0;
    std::uint64_t failed = 0;       // requests
    std::uint64_t refused = 0;      // requests
    std::uint64_t lost_lines = 0;   // lines of the access log that were dropped or not writable
};

/// All counts of a sample.
inline constexpr std::array sample_counts{&Sample::requests,     &Sample::hits,   &Sample::bytes,   &Sample::hit_bytes,
                                          &Sample::all_requests, &Sample::failed, &Sample::refused, &Sample::lost_lines};

Sample sample_of(Figures const&);

/// From 0 to 1; none without requests.
struct Ratios {
    std::optional<double> hit;
    std::optional<double> byte_hit;
};

Ratios ratios_between(Sample const& before, Sample const& after);

/// A time window of the statistics; `name` is its name there.
struct Window {
    char const* name;
    seconds length;   // zero: since the start
};
inline constexpr std::array windows{Window{"60s", seconds{60}}, Window{"5m", seconds{300}}, Window{"1h", seconds{3'600}},
                                    Window{"start", seconds{0}}};
using WindowRatios = std::array<Ratios, windows.size()>;   // in the order of `windows`

/// The events of one minute.
struct Minute {
    double requests = 0;
    double failed = 0;
    double refused = 0;
    double lost_lines = 0;
};

/// The last minute, and an average one of the hour before it.
struct Trend {
    Minute last;
    std::optional<Minute> usual = std::nullopt;   // nothing: less than five minutes are known
};

/// The samples of the last hour, oldest first.
class Samples {
public:
    static constexpr seconds interval{5};                // between two calls of add()
    static constexpr std::size_t most = 3'600 / 5 + 1;   // beyond this the oldest is dropped

    /// The sample must not be older than the newest one.
    void add(Sample const&);
    /// Between `now` and the oldest sample inside the window, else the newest before it. If less than the window has been
    /// sampled, the result covers the time since the first sample.
    Ratios over(seconds window, Sample const& now) const;
    WindowRatios all(Sample const& now) const;
    Trend trend(Sample const& now) const;

    // ---- a takeover ----
    struct Handed {
        milliseconds age{0};
        Sample since;   // the events after it; without `at`
    };
    /// Oldest first.
    std::vector<Handed> handed(Sample const& now) const;
    /// Replaces all samples by those of a former process, oldest first. Their counts may wrap around below 0; the differences are
    /// right.
    void adopt(std::vector<Handed> const& all, Sample const& now);

private:
    Sample const& first_of(seconds window, SteadyTime now) const;

    std::deque<Sample> samples_;
};

struct Latencies {
    LatencySnapshot hit;
    LatencySnapshot miss;   // all other responses, without tunnels

    Latencies& operator+=(Latencies const& more) {
        hit += more.hit;
        miss += more.miss;
        return *this;
    }
    Latencies since(Latencies const& before) const { return {hit.since(before.hit), miss.since(before.miss)}; }
};

inline constexpr std::array latency_windows{windows[0], windows[1], windows[2]};   // 60 s, 5 min and 1 h
using WindowLatencies = std::array<Latencies, latency_windows.size()>;             // in the order of `latency_windows`

/// The samples of the last hour, oldest first: those of five minutes are closer together. At most 700 KiB.
class LatencySamples {
public:
    static constexpr seconds interval{15};   // between two samples; an earlier one is ignored
    static constexpr seconds sparse_interval{60};
    static constexpr std::size_t most = 300 / 15 + 1, sparse_most = 3'600 / 60 + 1;
    static constexpr Bytes bytes_max = (most + sparse_most) * (sizeof(SteadyTime) + sizeof(Latencies)) + 2 * sizeof(Latencies);

    /// Adds the totals since the start at the moment `at`, which must not be before the last one.
    void add(SteadyTime at, Latencies const& until_now);
    /// The latencies since the newest sample that is at least as old as the window. If there is none, since the oldest
    /// sample, and without samples since the start.
    WindowLatencies over(SteadyTime at, Latencies const& until_now) const;

    // ---- a takeover ----
    struct Handed {
        milliseconds age{0};
        Latencies times;   // until the next sample; those of the last one: until now
    };
    /// Oldest first.
    struct HandedSeries {
        std::vector<Handed> dense, sparse;
    };
    HandedSeries handed(SteadyTime at, Latencies const& until_now) const;
    /// Replaces all samples by those of a former process. This process has counted nothing yet.
    void adopt(HandedSeries const& all, SteadyTime at);

private:
    struct Sample {
        SteadyTime at{};
        Latencies until;   // with those of former processes
    };
    struct Series {
        std::deque<Sample> samples;
        Latencies former;   // sum of former processes since their first sample
    };
    static void add_to(Series& series, Sample sample, seconds apart, std::size_t count_max);
    static Latencies since(Series const& series, SteadyTime moment, Latencies const& until_now);
    static std::vector<Handed> handed(Series const& series, SteadyTime at, Latencies const& until_now);
    static void adopt(Series& series, std::vector<Handed> const& all, SteadyTime at, std::size_t count_max);

    Series samples_;
    Series sparse_;
};

}   // namespace garner::admin
