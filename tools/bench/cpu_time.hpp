// The CPU time of this process.
#pragma once
#include <sys/resource.h>
#include <sys/time.h>

/// User and system time so far, of all threads.
inline double cpu_seconds() {
    rusage use{};
    ::getrusage(RUSAGE_SELF, &use);
    auto const seconds = [](timeval const& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
}
