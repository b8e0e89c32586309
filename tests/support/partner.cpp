#include "support/partner.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace garner::test {

using nlohmann::json;

namespace {

sockaddr_un at(std::string const& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw Trouble("the path is too long: " + path);
    path.copy(address.sun_path, path.size());
    return address;
}

int new_socket() { return ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0); }

constexpr std::size_t most = 253;

}   // namespace

Partner::Partner(std::string const& path) : descriptor_(new_socket()) {
    auto const address = at(path);
    if (::connect(descriptor_, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0)
        throw Trouble("cannot connect to " + path + ": " + std::strerror(errno));
}

void Partner::end() {
    for (int const one : received_) ::close(one);
    received_.clear();
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

bool Partner::send(json const& message, std::vector<int> const& descriptors) {
    auto bytes = json::to_cbor(message);
    iovec piece{bytes.data(), bytes.size()};
    std::vector<char> control(CMSG_SPACE(most * sizeof(int)));
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    if (!descriptors.empty()) {
        auto const size = descriptors.size() * sizeof(int);
        header.msg_control = control.data();
        header.msg_controllen = CMSG_SPACE(size);
        auto* const first = CMSG_FIRSTHDR(&header);
        first->cmsg_level = SOL_SOCKET;
        first->cmsg_type = SCM_RIGHTS;
        first->cmsg_len = CMSG_LEN(size);
        std::memcpy(CMSG_DATA(first), descriptors.data(), size);
    }
    return ::sendmsg(descriptor_, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

json Partner::receive(Millis limit) {
    pollfd one{descriptor_, POLLIN, 0};
    if (::poll(&one, 1, static_cast<int>(limit.count())) <= 0) return nullptr;
    std::vector<std::uint8_t> bytes(64 * 1024);
    std::vector<char> control(CMSG_SPACE(most * sizeof(int)));
    iovec piece{bytes.data(), bytes.size()};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    auto const size = ::recvmsg(descriptor_, &header, MSG_CMSG_CLOEXEC);
    if (size <= 0) return nullptr;
    for (auto* part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part))
        for (std::size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= part->cmsg_len; ++i) {
            int descriptor;
            std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof descriptor);
            received_.push_back(descriptor);
        }
    bytes.resize(static_cast<std::size_t>(size));
    return json::from_cbor(bytes, true, false);
}

json Partner::until(std::string const& what, Millis limit) {
    while (true) {
        auto const message = receive(limit);
        if (!message.is_object() || message.value("do", "") == what) return message;
    }
}

json Partner::hello(unsigned least, unsigned most_protocol) {
    return {{"do", "hello"},      {"least", least},     {"most", most_protocol},
            {"version", "9.9.9"}, {"record_format", 3}, {"later", true}};
}

json Partner::welcome() {
    return {{"do", "welcome"},
            {"protocol", 1},
            {"version", "9.9.9"},
            {"record_format", 3},
            {"sequence", 1},
            {"via", "garner-old"},
            {"ticket_keys", json::binary(std::vector<std::uint8_t>(240, 7))},
            {"ticket_age_ms", 1000},
            {"notify_socket", ""},
            {"watchdog_us", 0},
            {"later", json::array({1, 2})}};
}

PartnerSocket::PartnerSocket(std::string const& path) : descriptor_(new_socket()) {
    auto const address = at(path);
    ::unlink(path.c_str());
    if (::bind(descriptor_, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0 || ::listen(descriptor_, 4) != 0)
        throw Trouble("cannot listen at " + path);
}

PartnerSocket::~PartnerSocket() { ::close(descriptor_); }

Partner PartnerSocket::accept() const {
    pollfd one{descriptor_, POLLIN, 0};
    if (::poll(&one, 1, static_cast<int>(patience.count())) <= 0) throw Trouble("no process comes to take over");
    return Partner(::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC));
}

}   // namespace garner::test
