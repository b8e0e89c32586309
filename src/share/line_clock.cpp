#include "share/line_clock.hpp"

namespace garner::share {

namespace {

constexpr milliseconds interval{2};

}   // namespace

void Clock::begin(Line& line) {
    ++waiting_[&line];
    if (!runs_) schedule();
}

void Clock::end(Line& line) {
    auto const found = waiting_.find(&line);
    if (--found->second == 0) waiting_.erase(found);
}

void Clock::schedule() {
    runs_ = true;
    timer_.expires_after(interval);
    timer_.async_wait([this](net::Error const& error) {
        if (!error) tick();
    });
}

void Clock::tick() {
    auto const now = steady_now();
    for (auto const& [line, count] : waiting_) line->serve(now);
    runs_ = false;
    if (!waiting_.empty()) schedule();
}

}   // namespace garner::share
