// The samples behind the windows and the history, for the process that takes over.
#pragma once
#include <vector>

#include "admin/history.hpp"
#include "admin/recent_windows.hpp"

namespace garner::admin {

struct Past {
    std::vector<Samples::Handed> samples = {};
    LatencySamples::HandedSeries latencies = {};
    History::Handed history = {};
};

}   // namespace garner::admin
