// The service manager (systemd) that started the process: states by sd_notify(3), the watchdog, and inherited sockets.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "util/clock.hpp"

namespace garner::io {

/// Sends states to the service manager. Without NOTIFY_SOCKET it does nothing.
class ServiceManager {
public:
    /// Reads NOTIFY_SOCKET, and WATCHDOG_USEC if WATCHDOG_PID permits.
    ServiceManager();
    /// That of another process, which this one follows. An empty socket: none. 0: no watchdog.
    ServiceManager(std::string socket, microseconds watchdog);

    /// The start or a reload is complete. `status` is shown by `systemctl status`.
    void ready(std::string const& status) const;
    void reloading() const;
    /// The process ends within this time.
    void stopping(milliseconds patience) const;
    /// Another process of the service is the main one from now on.
    void main_process(int process) const { send("MAINPID=" + std::to_string(process)); }
    std::string const& socket() const { return socket_; }
    void feed_watchdog() const { send("WATCHDOG=1"); }
    /// The manager ends the process if it is not fed for this time.
    std::optional<microseconds> watchdog() const { return watchdog_; }

private:
    void send(std::string const& state) const;

    std::string socket_;   // an initial "@" is a null byte; empty: no manager
    std::optional<microseconds> watchdog_;
};

/// Decides when the watchdog is fed: after half of its time, while every event loop runs.
class Watchdog {
public:
    explicit Watchdog(std::optional<microseconds> time) : time_(time) {}

    /// If true, the watchdog must be fed now.
    bool is_due(SteadyTime now, bool every_loop_runs);

private:
    std::optional<microseconds> time_;
    SteadyTime fed_{};
};

/// The descriptors of sockets that the manager opened for this process (LISTEN_FDS).
std::vector<int> inherited_sockets();

}   // namespace garner::io
