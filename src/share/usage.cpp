#include "share/usage.hpp"

#include <algorithm>

namespace garner::share {

void Usage::enter(Window const& window) {
    if (begin >= window.end) {   // the clock was ahead: the use belongs to the present window
        begin = window.begin;
        last_minute = 0;
    }
    if (window.begin <= begin) return;
    *this = {};
    begin = window.begin;
}

void Usage::count(Bytes moved, std::int64_t now) {
    bytes += moved;
    auto const this_minute = minute_of(now);
    if (this_minute <= last_minute) return;
    ++minutes;
    last_minute = this_minute;
}

/// A minute that both have counted is one minute.
void Usage::add(Usage const& more) {
    if (more.begin < begin) return;
    if (more.begin > begin) {
        *this = more;
        return;
    }
    bytes += more.bytes;
    requests += more.requests;
    minutes += more.minutes - (more.minutes > 0 && more.last_minute == last_minute ? 1 : 0);
    last_minute = std::max(last_minute, more.last_minute);
}

}   // namespace garner::share
