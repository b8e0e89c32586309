#include "sim/axis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "sim/report.hpp"
#include "util/numbers.hpp"

namespace garner::sim {
namespace {

constexpr double most_ticks = 8;

/// The least of 1, 2, 5, 10, 20 … (or their tenths, hundredths …) that divides `span` into at most most_ticks steps.
double round_step(double span) {
    double const least = span / most_ticks;
    double const power = std::pow(10, std::floor(std::log10(least)));
    for (double mantissa : {1.0, 2.0, 5.0})
        if (mantissa * power >= least * (1 - 1e-9)) return mantissa * power;
    return 10 * power;
}

std::string number(double value, double step) {
    int const decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
    return with_decimals(value, decimals);
}

std::vector<Tick> linear_ticks(double low, double high) {
    double const step = round_step(high - low);
    std::vector<Tick> ticks;
    for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i)
        ticks.push_back({i * step + 0.0, number(i * step + 0.0, step)});   // + 0.0: never "-0"
    return ticks;
}

bool of_two(Scale scale) { return scale == Scale::bytes || scale == Scale::counts; }

std::string power_of_two(Scale scale, int exponent) {
    return scale == Scale::counts ? "2^" + std::to_string(exponent) : short_size(Bytes{1} << exponent);
}

std::string power_of_ten(int exponent) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", std::pow(10, exponent));
    return text;
}

/// `low` and `high` are logarithms, as `base` says.
std::vector<Tick> power_ticks(double low, double high, Scale scale) {
    bool const two = of_two(scale);
    int const first = static_cast<int>(std::ceil(two ? std::max(low, 0.0) : low));
    int const last = static_cast<int>(std::floor(two ? std::min(high, 63.0) : high));
    int step = 1;
    // Steps of two and five powers of two keep every or every second tick at a full KiB, MiB, GiB.
    for (int const next : {2, 5, 10, 20})
        if ((last - first) / step >= static_cast<int>(most_ticks)) step = next;
    std::vector<Tick> ticks;
    for (int exponent = first; exponent <= last; ++exponent)
        if (exponent % step == 0)
            ticks.push_back({two ? std::exp2(exponent) : std::pow(10, exponent),
                             two ? power_of_two(scale, exponent) : power_of_ten(exponent)});
    return ticks;
}

double logarithm(Scale scale, double value) { return of_two(scale) ? std::log2(value) : std::log10(value); }
double power(Scale scale, double value) { return of_two(scale) ? std::exp2(value) : std::pow(10, value); }

}  // namespace

double Axis::place(double value) const {
    if (scale == Scale::linear) return (value - low) / (high - low);
    double const from = logarithm(scale, low);
    return (logarithm(scale, value) - from) / (logarithm(scale, high) - from);
}

Axis round_axis(double lowest, double highest) {
    if (lowest >= 0 && lowest <= highest / 2) lowest = 0;
    if (!(lowest < highest)) {
        double const room = lowest == 0 ? 1 : std::abs(lowest) / 10;
        lowest -= lowest > 0 ? room : 0;
        highest += room;
    }
    double const step = round_step(highest - lowest);
    Axis axis;
    axis.low = std::floor(lowest / step + 1e-9) * step;
    axis.high = std::ceil(highest / step - 1e-9) * step;
    axis.ticks = linear_ticks(axis.low, axis.high);
    return axis;
}

Axis open_axis(Scale scale, double lowest, double highest) {
    Axis axis{scale, lowest, highest, {}};
    if (scale == Scale::linear) {
        double const span = highest > lowest ? highest - lowest : lowest == 0 ? 1 : std::abs(lowest);
        axis.low -= span * 0.03;
        axis.high += span * 0.03;
        axis.ticks = linear_ticks(axis.low, axis.high);
        return axis;
    }
    double low = logarithm(scale, lowest), high = logarithm(scale, highest);
    double const least_span = of_two(scale) ? 4 : 2.1;   // so that there are two ticks at least
    double const room = std::max((high - low) * 0.03, (least_span - (high - low)) / 2);
    low -= room;
    high += room;
    axis.low = power(scale, low);
    axis.high = power(scale, high);
    axis.ticks = power_ticks(low, high, scale);
    return axis;
}

}  // namespace garner::sim
