#include "control/channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "control/address.hpp"
#include "control/cbor.hpp"

namespace garner::control {
namespace {

constexpr milliseconds send_patience{1'000};

bool is_ready(int descriptor, short events, milliseconds patience) {
    pollfd one{.fd = descriptor, .events = events, .revents = 0};
    return ::poll(&one, 1, static_cast<int>(patience.count())) > 0;
}

/// Room for the descriptors of one message.
struct Ancillary {
    msghdr header(iovec& piece) {
        msghdr header{};
        header.msg_iov = &piece;
        header.msg_iovlen = 1;
        header.msg_control = bytes;
        header.msg_controllen = sizeof bytes;
        return header;
    }

    static void put(msghdr& header, std::span<int const> descriptors) {
        if (descriptors.empty()) {
            header.msg_control = nullptr;
            header.msg_controllen = 0;
            return;
        }
        header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        auto* const first = CMSG_FIRSTHDR(&header);
        first->cmsg_level = SOL_SOCKET;
        first->cmsg_type = SCM_RIGHTS;
        first->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(first), descriptors.data(), descriptors.size_bytes());
    }

    static Descriptors take(msghdr& header) {
        Descriptors descriptors;
        for (auto* part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
            if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
            for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= part->cmsg_len; at += sizeof(int)) {
                int descriptor;
                std::memcpy(&descriptor, CMSG_DATA(part) + at, sizeof descriptor);
                descriptors.add(descriptor);
            }
        }
        return descriptors;
    }

    alignas(cmsghdr) char bytes[CMSG_SPACE(descriptors_max * sizeof(int))] = {};
};

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

bool Channel::send(Json const& message, std::span<int const> descriptors) {
    auto bytes = Json::to_cbor(message);
    if (bytes.size() > message_max || descriptors.size() > descriptors_max) return false;
    if (!is_ready(descriptor_, POLLOUT, send_patience)) return false;
    iovec piece{.iov_base = bytes.data(), .iov_len = bytes.size()};
    Ancillary ancillary;
    auto header = ancillary.header(piece);
    ancillary.put(header, descriptors);
    return ::sendmsg(descriptor_, &header, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes.size());
}

bool Channel::waits(milliseconds patience) const { return is_ready(descriptor_, POLLIN, patience); }

int Channel::process() const {
    ucred peer{};
    socklen_t size = sizeof(peer);
    return ::getsockopt(descriptor_, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

Result<Json> Channel::receive(milliseconds patience) {
    if (!waits(patience)) return Fault{"no reply in time"};
    auto received = poll();
    if (!received) return received.fault();
    if (!*received) return Fault{"no reply in time"};
    return std::move((*received)->json);
}

Result<std::optional<Message>> Channel::poll() {
    std::vector<std::uint8_t> bytes(message_max);
    iovec piece{.iov_base = bytes.data(), .iov_len = bytes.size()};
    Ancillary ancillary;
    auto header = ancillary.header(piece);
    auto const size = ::recvmsg(descriptor_, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::optional<Message>();
    if (size <= 0) return Fault{"the connection is closed"};
    Message message{.json = {}, .descriptors = Ancillary::take(header)};
    if (header.msg_flags & MSG_TRUNC) return Fault{"a message is longer than 64 KiB"};
    if (header.msg_flags & MSG_CTRUNC) return Fault{"a message lost descriptors", "raise the limit of open files"};
    bytes.resize(static_cast<std::size_t>(size));
    message.json = read_cbor(bytes);
    if (!message.json.is_object()) return Fault{"a message is no CBOR map"};
    return std::optional<Message>(std::move(message));
}

}   // namespace garner::control
