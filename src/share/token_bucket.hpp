// Bytes that may pass at a rate. Pure.
#pragma once
#include <algorithm>
#include <chrono>

#include "util/bytes.hpp"
#include "util/clock.hpp"

namespace garner::share {

/// Bytes are taken after they have passed, so the balance may be negative. Without a rate it is always free.
class TokenBucket {
public:
    /// `depth`: the most bytes that pass at once after a pause. The balance stays, as far as it fits.
    void configure(Bytes per_second, Bytes depth, SteadyTime now) {
        refill(now);
        bool const begins = rate_ == 0;
        rate_ = static_cast<double>(per_second);
        depth_ = static_cast<double>(depth);
        balance_ = begins ? depth_ : std::min(balance_, depth_);
    }
    void refill(SteadyTime now) {
        if (now <= filled_) return;
        auto const passed = std::chrono::duration<double>(now - filled_).count();
        balance_ = std::min(balance_ + passed * rate_, depth_);
        filled_ = now;
    }
    void take(Bytes bytes) {
        if (rate_ > 0) balance_ -= static_cast<double>(bytes);
    }
    bool is_free() const { return rate_ == 0 || balance_ > 0; }
    bool is_full() const { return rate_ == 0 || balance_ >= depth_; }
    /// The bytes that were taken too early.
    double debt() const { return rate_ == 0 ? 0 : std::max(-balance_, 0.0); }

private:
    double rate_ = 0;   // bytes a second
    double depth_ = 0;
    double balance_ = 0;
    SteadyTime filled_{};
};

}   // namespace garner::share
