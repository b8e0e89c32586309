// The data for statistics, the admin page and the commands.
#pragma once
#include "admin/figures.hpp"
#include "admin/windows.hpp"
#include "admin/write_costs.hpp"

namespace garner::admin {

struct Report {
    Figures figures;
    WindowRatios ratios;
    WindowLatencies latencies;
    WriteCosts disk_costs;
};

}   // namespace garner::admin
