// An axis of a chart: which values it spans and where its ticks stand.
#pragma once
#include <string>
#include <vector>

namespace garner::sim {

enum class Scale {
    linear,
    log,     // powers of ten
    bytes,   // powers of two, in B, KiB, MiB …
    counts,  // powers of two, as 2^10
};

struct Tick {
    double value;
    std::string label;
};

struct Axis {
    Scale scale = Scale::linear;
    double low = 0, high = 1;   // low < high; above 0 unless linear
    std::vector<Tick> ticks;    // within, rising; at most a dozen

    /// 0 at `low`, 1 at `high`.
    double place(double value) const;
};

/// An axis that begins and ends with a tick; from 0 where the values are not far from it. Linear.
Axis round_axis(double lowest, double highest);

/// An axis that leaves a little room at both ends; equal values get some on either side.
Axis open_axis(Scale, double lowest, double highest);

}  // namespace garner::sim
