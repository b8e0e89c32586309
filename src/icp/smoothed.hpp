// An average that follows what is measured.
#pragma once
#include <optional>

namespace garner::icp {

/// Each value counts for an eighth, as in TCP (RFC 6298 2).
class Smoothed {
public:
    void add(double value) { mean_ = mean_ ? *mean_ + (value - *mean_) / 8 : value; }
    std::optional<double> mean() const { return mean_; }

private:
    std::optional<double> mean_;
};

}  // namespace garner::icp
