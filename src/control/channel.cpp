#include "control/channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "control/address.hpp"

namespace garner::control {
namespace {

constexpr milliseconds send_patience{1'000};

bool is_ready(int descriptor, short events, milliseconds patience) {
    pollfd one{.fd = descriptor, .events = events, .revents = 0};
    return ::poll(&one, 1, static_cast<int>(patience.count())) > 0;
}

}   // namespace

Channel::~Channel() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Channel> Channel::connect(std::string const& path) {
    auto const address = address_of(path);
    if (!address) return address.fault();
    Channel channel(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    auto const* const generic = reinterpret_cast<sockaddr const*>(&*address);
    if (channel.descriptor_ >= 0 && ::connect(channel.descriptor_, generic, sizeof(sockaddr_un)) == 0) return channel;
    auto const remedy =
        errno == EACCES ? "only root and the user of the running proxy may use it" : "start the proxy, or compare control.path";
    return Fault{std::string("no proxy listens: ") + std::strerror(errno), remedy, path};
}

bool Channel::send(Json const& message) {
    auto const bytes = Json::to_cbor(message);
    if (bytes.size() > message_max || !is_ready(descriptor_, POLLOUT, send_patience)) return false;
    return ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes.size());
}

Result<Json> Channel::receive(milliseconds patience) {
    if (!is_ready(descriptor_, POLLIN, patience)) return Fault{"no reply in time"};
    auto received = poll();
    if (!received) return received.fault();
    if (!*received) return Fault{"no reply in time"};
    return **std::move(received);
}

Result<std::optional<Json>> Channel::poll() {
    std::vector<std::uint8_t> bytes(message_max);
    auto const size = ::recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::optional<Json>();
    if (size <= 0) return Fault{"the connection is closed"};
    if (static_cast<std::size_t>(size) > bytes.size()) return Fault{"a message is longer than 64 KiB"};
    bytes.resize(static_cast<std::size_t>(size));
    auto message = Json::from_cbor(bytes, true, false);
    if (!message.is_object()) return Fault{"a message is no CBOR map"};
    return std::optional(std::move(message));
}

}   // namespace garner::control
