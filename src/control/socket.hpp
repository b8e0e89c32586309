// The listening side of the control socket.
#pragma once
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "control/channel.hpp"

namespace garner::control {

/// Used on one thread.
class Socket {
public:
    /// Listens at `path` with the mode 0600. Replaces the socket of a process that has ended; a socket at which a process listens
    /// is a fault.
    static Result<std::unique_ptr<Socket>> open(std::string const& path);
    /// Adopts the socket of another process if it listens at `path`; null otherwise. Owns the descriptor in any case, but the file
    /// only after own().
    static std::unique_ptr<Socket> adopt(int descriptor, std::string const& path);
    /// Removes its own file, unless another has taken the path.
    ~Socket();
    Socket(Socket const&) = delete;

    int descriptor() const { return descriptor_; }
    bool is_own() const { return is_own_; }
    /// No other process uses the socket any more.
    void own() { is_own_ = true; }
    /// Another process uses the socket from now on.
    void leave() { is_own_ = false; }
    /// A connection of this user or root. Closes others. Nothing if none waits.
    std::optional<Channel> accept();
    /// False for a moment after accept() has failed, for example without free descriptors: a poll would return at once.
    bool may_accept() const { return steady_now() >= rests_until_; }

private:
    Socket(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
    Result<void> listen();

    int const descriptor_;
    std::string const path_;
    std::optional<std::pair<dev_t, ino_t>> file_;   // after listen() or adopt()
    bool is_own_ = false;
    SteadyTime rests_until_{};
};

}   // namespace garner::control
