// A line chart as an SVG picture.
#pragma once
#include <string>
#include <vector>

#include "sim/axis.hpp"

namespace garner::sim {

struct Point {
    double x = 0, y = 0;
};

struct Series {
    std::string name;              // written at its line's end
    std::vector<Point> points;     // in any order; without what is not finite, or not above 0 on a logarithmic axis
    bool reference = false;        // grey and dashed: not one of those compared, but what to compare them with
};

struct Chart {
    std::string title;
    std::string x_title, y_title;  // with their units
    Scale x_scale = Scale::linear;
    std::vector<Series> series;
};

/// A whole SVG 1.1 file in UTF-8, 900 × 600, without script or outside resources. Its background is transparent and its
/// colours are readable on white and on black. Texts may hold any bytes: what is no text in XML becomes U+FFFD.
std::string svg(Chart const&);

}  // namespace garner::sim
