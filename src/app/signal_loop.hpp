// The main thread: it receives signals and commands until the process may end.
#pragma once
#include <signal.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "app/app.hpp"

namespace garner::app {

/// Runs a task on a thread of its own.
class Task {
public:
    explicit Task(std::function<void()> task);
    ~Task() { thread_.join(); }
    bool ended() const { return ended_; }

private:
    std::atomic<bool> ended_{false};
    std::thread thread_;
};

/// The signals of the loop. Block them before any thread starts, so that the loop receives all of them.
sigset_t block_signals();

/// A stop waits for clients and for the disk on another thread, so that the next signal ends the process in any case.
class SignalLoop {
public:
    /// `signals`: those of block_signals().
    SignalLoop(std::unique_ptr<App> app, sigset_t const& signals);
    ~SignalLoop();

    /// Returns the exit code.
    int run();

private:
    int next_signal(milliseconds limit);
    void while_serving(int signal);
    void look_at_handover();
    control::CommandServer* commands();
    void execute_commands(control::CommandServer& commands);
    void begin_stop();
    void while_stopping(int signal);
    void end(int signal);
    bool is_same_key(int signal) const;
    [[noreturn]] void leave() const;
    bool serves() const { return !first_ && !stop_; }
    int code() const { return second_ ? 128 + second_ : 0; }

    std::unique_ptr<App> app_;     // destruction_ destroys it
    int const signals_;            // a signalfd
    int first_ = 0, second_ = 0;   // the signals that end the process
    SteadyTime begun_{}, leave_at_{}, looked_{};
    std::atomic<bool> over_{false};
    std::optional<Task> handover_, stop_, destruction_;
    std::atomic<Handover::Ending> outcome_{Handover::Ending::undone};   // set when handover_ has ended
};

}   // namespace garner::app
