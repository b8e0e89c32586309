#include "icp/digest_times.hpp"

#include <algorithm>

namespace garner::icp {

void DigestTimes::fetched(std::optional<milliseconds> life, SteadyTime now) {
    auto const believed = std::max(life.value_or(life_default), gap_min);
    next_ = now + believed + std::min(believed / 12, delay_max);
    forgotten_ = now + 2 * believed;
    retry_ = gap_min;
}

void DigestTimes::failed(SteadyTime now) {
    next_ = now + retry_;
    retry_ = std::min(2 * retry_, retry_max);
}

milliseconds life_of_digest(SteadyTime::duration uptime, milliseconds rebuild) {
    constexpr milliseconds least{60'000};
    return std::min(rebuild, std::max(least, std::chrono::duration_cast<milliseconds>(uptime)));
}

}   // namespace garner::icp
