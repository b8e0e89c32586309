#include "control/socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "control/socket_address.hpp"
#include "control/peer_process.hpp"

namespace garner::control {
namespace {

constexpr milliseconds rest{100};   // after an error of accept4()

/// By name, without following a symbolic link.
std::optional<struct stat> file_at(std::string const& path) {
    struct stat file {};
    return ::lstat(path.c_str(), &file) == 0 ? std::optional(file) : std::nullopt;
}

/// True if no process listens any more.
bool is_abandoned(std::string const& path) {
    auto const address = address_of(path);
    if (!address) return false;
    int const descriptor = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    auto const* const generic = reinterpret_cast<sockaddr const*>(&*address);
    bool const refused = ::connect(descriptor, generic, sizeof(sockaddr_un)) != 0 && errno == ECONNREFUSED;
    if (descriptor >= 0) ::close(descriptor);
    return refused;
}

/// Removes the socket of a process that has ended.
Result<void> make_room(std::string const& path) {
    auto const file = file_at(path);
    if (!file) return {};
    if (!S_ISSOCK(file->st_mode)) return Fault{"exists and is no socket", "choose another control.path", path};
    if (!is_abandoned(path)) return Fault{"another process listens there", "stop it, or choose another control.path", path};
    ::unlink(path.c_str());
    return {};
}

bool is_allowed(int descriptor) {
    auto const peer = peer_of(descriptor);
    return peer && is_root_or_this_user(*peer);
}

}   // namespace

Result<std::unique_ptr<Socket>> Socket::open(std::string const& path) {
    if (auto const room = make_room(path); !room) return room.fault();
    std::unique_ptr<Socket> socket(new Socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), path));
    if (auto const listening = socket->listen(); !listening) return listening.fault();
    return socket;
}

std::unique_ptr<Socket> Socket::adopt(int descriptor, std::string const& path) {
    std::unique_ptr<Socket> socket(new Socket(descriptor, path));
    ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
    sockaddr_un bound{};
    socklen_t size = sizeof bound;
    auto* const generic = reinterpret_cast<sockaddr*>(&bound);
    auto const file = file_at(path);
    if (!file || ::getsockname(descriptor, generic, &size) != 0 || bound.sun_path != path) return nullptr;
    socket->file_.emplace(file->st_dev, file->st_ino);
    return socket;
}

Result<void> Socket::listen() {
    constexpr int backlog = 16;
    auto const address = address_of(path_);
    if (!address) return address.fault();
    auto const* const generic = reinterpret_cast<sockaddr const*>(&*address);
    bool const bound = descriptor_ >= 0 && ::bind(descriptor_, generic, sizeof(sockaddr_un)) == 0;
    if (auto const file = bound ? file_at(path_) : std::nullopt) file_.emplace(file->st_dev, file->st_ino);
    is_own_ = true;
    // No process can connect before listen().
    if (bound && ::chmod(path_.c_str(), S_IRUSR | S_IWUSR) == 0 && ::listen(descriptor_, backlog) == 0) return {};
    return Fault{std::string("the control socket cannot be opened: ") + std::strerror(errno),
                 "create its directory, writable by the user of the proxy, or change control.path", path_};
}

Socket::~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
    auto const file = is_own_ ? file_at(path_) : std::nullopt;
    if (file && file_ == std::pair(file->st_dev, file->st_ino)) ::unlink(path_.c_str());
}

std::optional<Channel> Socket::accept() {
    while (true) {
        int const descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0 && errno != EAGAIN) rests_until_ = steady_now() + rest;
        if (descriptor < 0) return std::nullopt;
        Channel channel(descriptor);
        if (is_allowed(descriptor)) return channel;
    }
}

}   // namespace garner::control
