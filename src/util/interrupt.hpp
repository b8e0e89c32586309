// Ctrl-C during a long command: the command still prints its finished results.
#pragma once
#include <signal.h>

#include <csignal>

namespace garner {

/// While an instance exists, the first SIGINT is noted and a second one ends the process. At most one instance in a
/// process.
class InterruptNote {
public:
    InterruptNote() {
        came_ = 0;
        struct sigaction note {};
        note.sa_handler = [](int) { came_ = 1; };
        note.sa_flags = SA_RESETHAND | SA_RESTART;
        ::sigaction(SIGINT, &note, &before_);
    }
    InterruptNote(InterruptNote const&) = delete;
    ~InterruptNote() { ::sigaction(SIGINT, &before_, nullptr); }

    bool came() const { return came_ != 0; }

private:
    inline static volatile std::sig_atomic_t came_ = 0;
    struct sigaction before_ {};
};

}   // namespace garner
