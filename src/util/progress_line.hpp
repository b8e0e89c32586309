// The progress of a long command, for its user.
#pragma once
#include <unistd.h>

#include <chrono>
#include <ostream>
#include <string>

namespace garner {

/// Prints the progress once the command has run for 2 s: on a terminal in one line that is overwritten, else at long
/// intervals.
class ProgressLine {
public:
    /// `who`: a prefix of each line, "garner sim". Checks if standard error is a terminal.
    ProgressLine(std::ostream& err, std::string who) : err_(err), who_(std::move(who)), terminal_(::isatty(STDERR_FILENO) == 1) {}
    ~ProgressLine() { clear(); }
    void say(std::string const& what) {
        using namespace std::chrono_literals;
        auto now = std::chrono::steady_clock::now();
        if (now - said_ < (shown_ && !terminal_ ? 10'000ms : shown_ ? 200ms : 2'000ms)) return;
        said_ = now;
        shown_ = true;
        err_ << (terminal_ ? "\r\x1b[K" : "") << who_ << ": " << what << (terminal_ ? "" : "\n") << std::flush;
    }
    /// To be called before other lines are written to the terminal.
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

}   // namespace garner
