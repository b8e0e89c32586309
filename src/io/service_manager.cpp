#include "io/service_manager.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace garner::io {

namespace {

constexpr int first_inherited = 3;
constexpr std::uint64_t most_inherited = 1024;

std::string variable(char const* name) {
    char const* const value = std::getenv(name);
    return value ? value : "";
}

/// The number in an environment variable; 0 if it is missing or not a number.
std::uint64_t number_in(char const* name) {
    auto const text = variable(name);
    std::uint64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

/// A child of the process that the manager started has the same variables.
bool is_for_this_process(char const* name) { return number_in(name) == static_cast<std::uint64_t>(::getpid()); }

/// The clock of MONOTONIC_USEC.
std::uint64_t monotonic_microseconds() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000;
}

}   // namespace

ServiceManager::ServiceManager() : socket_(variable("NOTIFY_SOCKET")) {
    bool const is_watched = variable("WATCHDOG_PID").empty() || is_for_this_process("WATCHDOG_PID");
    if (auto const time = number_in("WATCHDOG_USEC"); time > 0 && is_watched)
        watchdog_ = microseconds{static_cast<std::int64_t>(time)};
}

ServiceManager::ServiceManager(std::string socket, microseconds watchdog) : socket_(std::move(socket)) {
    if (watchdog > microseconds{0}) watchdog_ = watchdog;
}

void ServiceManager::ready(std::string const& status) const { send("READY=1\nSTATUS=" + status); }

void ServiceManager::reloading() const { send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(monotonic_microseconds())); }

void ServiceManager::stopping(milliseconds patience) const {
    send("STOPPING=1\nSTATUS=waiting for requests in progress\nEXTEND_TIMEOUT_USEC=" +
         std::to_string(microseconds(patience).count()));
}

/// Opens a socket for each message: the manager may have been started anew since the last one.
void ServiceManager::send(std::string const& state) const {
    sockaddr_un address{};
    if (socket_.empty() || socket_.size() >= sizeof(address.sun_path)) return;
    int const descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket_.data(), socket_.size());
    if (socket_.front() == '@') address.sun_path[0] = '\0';
    auto const size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
    ::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr const*>(&address), size);
    ::close(descriptor);
}

bool Watchdog::is_due(SteadyTime now, bool every_loop_runs) {
    if (!time_ || !every_loop_runs || now - fed_ < *time_ / 2) return false;
    fed_ = now;
    return true;
}

std::vector<int> inherited_sockets() {
    std::vector<int> sockets;
    if (!is_for_this_process("LISTEN_PID")) return sockets;
    auto const count = static_cast<int>(std::min(number_in("LISTEN_FDS"), most_inherited));
    for (int descriptor = first_inherited; descriptor < first_inherited + count; ++descriptor) {
        ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
        sockets.push_back(descriptor);
    }
    return sockets;
}

}   // namespace garner::io
