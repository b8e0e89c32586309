// Time since the boot of the machine.
#pragma once
#include <time.h>

#include "util/clock.hpp"

namespace garner {

/// Steps of the wall clock do not change it, and it goes on while the machine sleeps.
inline microseconds boot_now() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return seconds(now.tv_sec) + microseconds(now.tv_nsec / 1'000);
}

}   // namespace garner
