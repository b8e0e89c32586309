// The orderly end of the program: readiness, listening sockets, connections, then the parts.
#pragma once
#include <atomic>

#include "app/program_parts.hpp"
#include "io/service_manager.hpp"
#include "proxy/drain.hpp"

namespace garner::app {

/// run() waits for clients and for the disk: on a thread of its own.
class Shutdown {
public:
    Shutdown(Parts& parts, io::ServiceManager const& manager) : parts_(parts), manager_(manager) {}

    /// Once. False if something still runs, so that nothing may be destroyed.
    bool run(proxy::Deadlines const& deadlines);
    /// The operator does not want run() to wait for clients. From any thread.
    void hurry() { hurry_ = true; }

    std::atomic<bool> const& hurried() const { return hurry_; }

    /// The last part of run(): the connections have ended, or not.
    bool end_parts(bool connections_ended);

private:
    void pause(milliseconds time) const;
    bool end_connections(proxy::Deadlines const& deadlines);

    Parts& parts_;
    io::ServiceManager const& manager_;
    std::atomic<bool> hurry_{false};
};

/// Logs the requests that are about to be aborted.
void log_pending(proxy::Drain::Pending const& pending);

}   // namespace garner::app
