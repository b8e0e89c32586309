// All that the figures, the page and the commands show.
#pragma once
#include "admin/figures.hpp"
#include "admin/windows.hpp"

namespace garner::admin {

struct Report {
    Figures figures;
    WindowRatios ratios;
};

}  // namespace garner::admin
