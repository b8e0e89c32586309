// CPU time of the sending side for a body of 1 MiB over loopback, by the ways that Linux offers: sendmsg of pieces, the same with
// MSG_ZEROCOPY, sendfile from memory (memfd), and vmsplice with splice. The reader is another process on another core.
#include <fcntl.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "cpu_time.hpp"

namespace {

constexpr std::size_t body = 1 << 20, piece = 256 << 10;   // bytes; a piece is a segment of a stored body
constexpr int bodies = 3'000;

[[noreturn]] void fail(std::string const& what) {
    std::perror(what.c_str());
    std::exit(1);
}

void pin(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    ::sched_setaffinity(0, sizeof set, &set);
}

/// Two ends of a TCP connection over loopback.
std::array<int, 2> connection() {
    int const listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener, 1) != 0) fail("listen");
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    int const near = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::connect(near, reinterpret_cast<sockaddr*>(&address), size) != 0) fail("connect");
    int const far = ::accept(listener, nullptr, nullptr);
    ::close(listener);
    return {near, far};
}

[[noreturn]] void read_all(int fd) {
    pin(1);
    std::vector<char> buffer(piece);
    while (::read(fd, buffer.data(), buffer.size()) > 0) {
    }
    std::_Exit(0);
}

void send_by(int fd, std::vector<char> const& bytes, int flags) {
    for (std::size_t at = 0; at < body;) {
        iovec part{const_cast<char*>(bytes.data()) + at, std::min(piece, body - at)};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        auto const sent = ::sendmsg(fd, &message, flags);
        if (sent < 0) fail("sendmsg");
        at += static_cast<std::size_t>(sent);
    }
}

/// Takes the notices of finished zero-copy sends; returns how many of them the kernel copied after all.
int take_notices(int fd) {
    int copied = 0;
    std::array<char, 512> control{};
    for (;;) {
        msghdr message{};
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        if (::recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return copied;
        for (auto* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
            auto const* notice = reinterpret_cast<sock_extended_err const*>(CMSG_DATA(header));
            if (notice->ee_code == SO_EE_CODE_ZEROCOPY_COPIED) copied += static_cast<int>(notice->ee_data - notice->ee_info) + 1;
        }
    }
}

void splice_by(int fd, std::vector<char> const& bytes, std::array<int, 2> const& pipe) {
    for (std::size_t at = 0; at < body;) {
        iovec part{const_cast<char*>(bytes.data()) + at, std::min(piece, body - at)};
        auto in = ::vmsplice(pipe[1], &part, 1, 0);
        if (in < 0) fail("vmsplice");
        at += static_cast<std::size_t>(in);
        while (in > 0) {
            auto const out = ::splice(pipe[0], nullptr, fd, nullptr, static_cast<std::size_t>(in), SPLICE_F_MORE);
            if (out < 0) fail("splice");
            in -= out;
        }
    }
}

/// Prints the µs of CPU time that a body costs the sender.
void measure(char const* name, std::function<void(int)> const& send) {
    auto const [near, far] = connection();
    auto const reader = ::fork();
    if (reader == 0) {
        ::close(near);
        read_all(far);
    }
    ::close(far);
    for (int i = 0; i < 100; ++i) send(near);
    auto const before = cpu_seconds();
    for (int i = 0; i < bodies; ++i) send(near);
    std::cout << name << ": " << (cpu_seconds() - before) / bodies * 1e6 << " us\n";
    ::close(near);
    ::waitpid(reader, nullptr, 0);
}

}   // namespace

int main() {
    pin(0);
    std::vector<char> const bytes(body, 'x');
    int const memory = ::memfd_create("body", 0);
    if (::write(memory, bytes.data(), bytes.size()) != static_cast<ssize_t>(body)) fail("memfd");
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) fail("pipe");
    ::fcntl(pipe[1], F_SETPIPE_SZ, static_cast<int>(body));
    for (int round = 0; round < 3; ++round) {
        measure("sendmsg", [&](int fd) { send_by(fd, bytes, 0); });
        int copied = 0;
        measure("MSG_ZEROCOPY", [&](int fd) {
            int const on = 1;
            ::setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on);
            send_by(fd, bytes, MSG_ZEROCOPY);
            copied += take_notices(fd);
        });
        std::cout << "  of " << bodies * (body / piece) << " sends the kernel copied " << copied << "\n";
        measure("sendfile from memory", [&](int fd) {
            for (off_t at = 0; at < static_cast<off_t>(body);)
                if (::sendfile(fd, memory, &at, body - static_cast<std::size_t>(at)) < 0) fail("sendfile");
        });
        measure("vmsplice and splice", [&](int fd) { splice_by(fd, bytes, pipe); });
    }
}
