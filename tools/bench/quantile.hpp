// Quantiles of the times that a load has measured.
#pragma once
#include <algorithm>
#include <vector>

/// `share`: from 0 to 1; 0.5 is the median. Reorders the times. 0 if there are none.
inline int quantile(std::vector<int>& times, double share) {
    if (times.empty()) return 0;
    auto const at = times.begin() + static_cast<long>(share * static_cast<double>(times.size() - 1));
    std::nth_element(times.begin(), at, times.end());
    return *at;
}
