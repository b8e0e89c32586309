// How far a long command has come, for a person who waits for it.
#pragma once
#include <unistd.h>

#include <chrono>
#include <ostream>
#include <string>

namespace garner {

/// Says how far it is once it has taken two seconds: on a terminal in one line that is written over, else seldom.
class ProgressLine {
public:
    /// `who`: "garner sim", before each line. The terminal looked at is standard error's.
    ProgressLine(std::ostream& err, std::string who)
        : err_(err), who_(std::move(who)), terminal_(::isatty(STDERR_FILENO) == 1) {}
    ~ProgressLine() { clear(); }
    void say(std::string const& what) {
        using namespace std::chrono_literals;
        auto now = std::chrono::steady_clock::now();
        if (now - said_ < (shown_ && !terminal_ ? 10'000ms : shown_ ? 200ms : 2'000ms)) return;
        said_ = now;
        shown_ = true;
        err_ << (terminal_ ? "\r\x1b[K" : "") << who_ << ": " << what << (terminal_ ? "" : "\n") << std::flush;
    }
    /// Before other lines go to the terminal.
    void clear() {
        if (shown_ && terminal_) err_ << "\r\x1b[K" << std::flush;
    }

private:
    std::ostream& err_;
    std::string who_;
    bool terminal_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

}  // namespace garner
