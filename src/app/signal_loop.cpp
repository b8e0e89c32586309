#include "app/signal_loop.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>
#include <vector>

#include "io/log.hpp"
#include "io/stderr_log.hpp"
#include "takeover/takeover_message.hpp"

namespace garner::app {
namespace {

constexpr milliseconds look_interval{1'000};
constexpr milliseconds handover_interval{50};

control::CommandResult refuse_while_stopping(control::Json const&) { return {1, {"the running proxy is shutting down"}}; }

}   // namespace

Task::Task(std::function<void()> task)
    : thread_([this, task = std::move(task)] {
          try {
              task();
          } catch (std::exception const& trouble) {   // no descriptors, no threads, no memory
              spdlog::error("a task of the main thread failed: {}", trouble.what());
          }
          ended_ = true;
      }) {}

sigset_t block_signals() {
    ::signal(SIGPIPE, SIG_IGN);
    sigset_t signals;
    sigemptyset(&signals);
    for (int signal : {SIGHUP, SIGUSR1, SIGTERM, SIGINT}) sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    return signals;
}

SignalLoop::SignalLoop(std::unique_ptr<App> app, sigset_t const& signals)
    : app_(std::move(app)), signals_(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK)) {}

SignalLoop::~SignalLoop() { ::close(signals_); }

int SignalLoop::run() {
    while (!destruction_ || !destruction_->ended()) {
        if (!destruction_ && !stop_) app_->feed_watchdog();
        auto const signal = next_signal(stop_ || destruction_ ? milliseconds{5} : handover_ ? handover_interval : look_interval);
        if (signal == SIGTERM || signal == SIGINT)
            end(signal);
        else if (serves() && !destruction_)
            while_serving(signal);
        else
            while_stopping(signal);
        if (!destruction_) look_at_handover();
    }
    return code();
}

/// 0 if none comes within `limit`. Executes the commands that come meanwhile.
int SignalLoop::next_signal(milliseconds limit) {
    std::vector<pollfd> descriptors{{.fd = signals_, .events = POLLIN, .revents = 0}};
    if (auto* const commands = this->commands()) commands->add_to(descriptors);
    ::poll(descriptors.data(), descriptors.size(), static_cast<int>(limit.count()));
    signalfd_siginfo received{};
    if (::read(signals_, &received, sizeof received) == sizeof received) return static_cast<int>(received.ssi_signo);
    if (auto* const commands = this->commands()) execute_commands(*commands);   // asked again: another process may serve meanwhile
    return 0;
}

control::CommandServer* SignalLoop::commands() { return destruction_ ? nullptr : app_->commands(); }

void SignalLoop::execute_commands(control::CommandServer& commands) {
    if (serves())
        commands.serve([this](control::Json const& command) { return app_->execute(command); },
                       [this](control::Channel channel, control::Json const& hello) { app_->greet(std::move(channel), hello); });
    else
        commands.serve(refuse_while_stopping, [](control::Channel channel, control::Json const&) {
            (void)channel.send(takeover::refusal("the running proxy is shutting down"));
        });
}

/// Begins it on a thread of its own, and goes on when it has ended.
void SignalLoop::look_at_handover() {
    auto* const handover = app_->handover();
    if (!handover) return;
    if (!handover_) handover_.emplace([this, handover] { outcome_ = handover->run(); });
    if (!handover_->ended()) return;
    handover_.reset();
    if (outcome_ == Handover::Ending::stuck) leave();
    if (outcome_ == Handover::Ending::over) {
        destruction_.emplace([this] { app_.reset(); });
        return;
    }
    app_->end_handover();
    if (first_) begin_stop();
}

void SignalLoop::while_serving(int signal) {
    if (signal == SIGHUP) app_->reload();
    if (signal == SIGUSR1) app_->reopen_log();
    if (auto const now = steady_now(); now - looked_ >= look_interval) {
        looked_ = now;
        app_->look_after();
    }
}

void SignalLoop::while_stopping(int signal) {
    if (signal == SIGHUP) spdlog::warn("configuration not reloaded: the process is shutting down");
    if (signal == SIGUSR1 && !destruction_) app_->reopen_log();
    if (second_ && steady_now() > leave_at_) leave();
    if (!stop_ || !stop_->ended() || destruction_) return;
    if (!over_) leave();
    destruction_.emplace([this] { app_.reset(); });
}

/// The second signal aborts the requests and gives them a second to be logged. Every byte that the disk has confirmed is safe.
void SignalLoop::end(int signal) {
    if (!first_) {
        first_ = signal;
        begun_ = steady_now();
        if (destruction_) return;
        if (auto* const handover = app_->handover())
            handover->stop();
        else
            begin_stop();
    } else if (!second_ && !is_same_key(signal)) {
        second_ = signal;
        leave_at_ = steady_now() + seconds{1};
        if (!destruction_) app_->hurry();
    }
}

void SignalLoop::begin_stop() {
    stop_.emplace([this] { over_ = app_->stop(); });
}

/// One key press may signal twice, by the terminal and by a wrapper.
bool SignalLoop::is_same_key(int signal) const {
    return signal == SIGINT && first_ == SIGINT && steady_now() - begun_ < milliseconds{100};
}

/// Other threads still run: nothing may be destroyed.
void SignalLoop::leave() const {
    spdlog::warn("some requests or threads did not end in time; exiting now");
    io::flush_stderr();
    std::fflush(nullptr);
    std::_Exit(code());
}

}   // namespace garner::app
