#include "control/channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "control/socket_address.hpp"
#include "control/cbor.hpp"
#include "control/peer_process.hpp"

namespace garner::control {
namespace {

constexpr milliseconds send_patience{1'000};

bool is_ready(int descriptor, short events, milliseconds patience) {
    pollfd one{.fd = descriptor, .events = events, .revents = 0};
    return ::poll(&one, 1, static_cast<int>(patience.count())) > 0;
}

bool is_temporary(int error) {
    return error == EAGAIN || error == EINTR || error == ENOBUFS || error == ENOMEM || error == ETOOMANYREFS;
}

/// Room for the descriptors of one message.
struct Ancillary {
    msghdr header(iovec& piece, std::size_t descriptors = descriptors_max) {
        msghdr header{};
        header.msg_iov = &piece;
        header.msg_iovlen = 1;
        header.msg_control = bytes;
        header.msg_controllen = CMSG_LEN(std::min(descriptors, descriptors_max) * sizeof(int));
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

/// Waits at most a second for room in the queue of the other process.
bool reaches(int descriptor, sockaddr_un const& address) {
    auto const* const generic = reinterpret_cast<sockaddr const*>(&address);
    for (auto const until = steady_now() + seconds{1}; steady_now() < until;) {
        if (::connect(descriptor, generic, sizeof(sockaddr_un)) == 0) return true;
        if (errno != EAGAIN) return false;
        std::this_thread::sleep_for(milliseconds{10});
    }
    errno = EAGAIN;
    return false;
}

/// True for root, this user, and the only other user that may put a socket into the directory. In a directory that every user may
/// write, another user could have listened first.
bool is_trusted(int descriptor, std::string const& path) {
    auto const peer = peer_of(descriptor);
    if (!peer) return false;
    if (is_root_or_this_user(*peer)) return true;
    auto const slash = path.rfind('/');
    auto const directory = slash == path.npos ? std::string(".") : path.substr(0, slash + 1);
    struct stat found {};
    return ::stat(directory.c_str(), &found) == 0 && (found.st_mode & S_IWOTH) == 0 && found.st_uid == peer->uid;
}

}   // namespace

Channel::~Channel() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Channel> Channel::connect(std::string const& path) {
    auto const address = address_of(path);
    if (!address) return address.fault();
    Channel channel(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (channel.descriptor_ >= 0 && reaches(channel.descriptor_, *address)) {
        if (is_trusted(channel.descriptor_, path)) return channel;
        return Fault{"another user listens there, and its directory is not that user's alone",
                     "give the directory to the user of the proxy, and let no others write into it", path};
    }
    auto const remedy = errno == EACCES ? "only root and the user of the running proxy may use it" : start_or_name_it;
    auto const what = errno == EACCES ? "the control socket cannot be used: " : "no proxy listens: ";
    return Fault{what + std::string(std::strerror(errno)), remedy, path};
}

Sent Channel::try_send(Json const& message, std::span<int const> descriptors) {
    auto bytes = Json::to_cbor(message);
    if (bytes.size() > message_max || descriptors.size() > descriptors_max) return Sent::too_long;
    if (!is_ready(descriptor_, POLLOUT, send_patience)) return Sent::slow;
    iovec piece{.iov_base = bytes.data(), .iov_len = bytes.size()};
    Ancillary ancillary;
    auto header = ancillary.header(piece);
    ancillary.put(header, descriptors);
    if (::sendmsg(descriptor_, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return Sent::done;   // all, or nothing
    return is_temporary(errno) ? Sent::slow : Sent::ended;
}

bool Channel::waits(milliseconds patience) const { return is_ready(descriptor_, POLLIN, patience); }

int Channel::process() const {
    auto const peer = peer_of(descriptor_);
    return peer ? peer->pid : 0;
}

Result<Json> Channel::receive(milliseconds patience) {
    if (!waits(patience)) return Fault{"no reply in time"};
    auto received = poll();
    if (!received) return received.fault();
    if (!*received) return Fault{"no reply in time"};
    return std::move((*received)->json);
}

Result<std::optional<Message>> Channel::poll(std::size_t descriptors) {
    if (!waits(milliseconds{0})) return std::optional<Message>();
    std::vector<std::uint8_t> bytes(message_max);
    iovec piece{.iov_base = bytes.data(), .iov_len = bytes.size()};
    Ancillary ancillary;
    auto header = ancillary.header(piece, descriptors);
    auto size = ::recvmsg(descriptor_, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    // The other end has ended with messages that it has not read. Those that it has sent are still there.
    if (size < 0 && errno == ECONNRESET) size = ::recvmsg(descriptor_, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::optional<Message>();
    if (size <= 0) return Fault{"the connection is closed"};
    Message message{.json = {}, .descriptors = Ancillary::take(header)};
    if (header.msg_flags & MSG_TRUNC) return Fault{"a message is longer than 64 KiB"};
    bytes.resize(static_cast<std::size_t>(size));
    message.json = read_cbor(bytes);
    if (!message.json.is_object()) return Fault{"a message is no CBOR map"};
    return std::optional<Message>(std::move(message));
}

}   // namespace garner::control
