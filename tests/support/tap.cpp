#include "support/tap.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace garner::test {

namespace {

constexpr int look_again = 20;   // ms

/// False at the end of `from`.
bool move_bytes(int from, int to, std::string& copied) {
    char buffer[65'536];
    auto const got = ::recv(from, buffer, sizeof buffer, 0);
    if (got <= 0) return false;
    copied.append(buffer, static_cast<std::size_t>(got));
    for (ssize_t done = 0; done < got;) {
        auto const sent = ::send(to, buffer + done, static_cast<std::size_t>(got - done), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        done += sent;
    }
    return true;
}

}   // namespace

// ---- TCP ----

Tap::Tap(std::uint16_t target) : target_(target), listening_(listen_on("127.0.0.1")), acceptor_([this] { accept(); }) {}

Tap::~Tap() {
    stopping_ = true;
    ::shutdown(listening_.fd, SHUT_RDWR);
    acceptor_.join();
    for (auto& thread : threads_) thread.join();
    ::close(listening_.fd);
}

std::string Tap::sent() const {
    std::lock_guard const lock(mutex_);
    return sent_;
}

void Tap::accept() {
    while (!stopping_) {
        int const client = ::accept4(listening_.fd, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) continue;
        ++connections_;
        threads_.emplace_back([this, client] { relay(client); });
    }
}

void Tap::relay(int client) {
    try {
        auto const server = Wire::connect("127.0.0.1", target_);
        pollfd ends[] = {{client, POLLIN, 0}, {server.fd(), POLLIN, 0}};
        while (!stopping_ && (ends[0].fd >= 0 || ends[1].fd >= 0)) {
            if (::poll(ends, 2, look_again) <= 0) continue;
            for (int i : {0, 1}) {
                if (ends[i].fd < 0 || ends[i].revents == 0) continue;
                auto const other = i == 0 ? server.fd() : client;
                std::string copied;
                bool const more = move_bytes(ends[i].fd, other, copied);
                if (i == 0) {
                    std::lock_guard const lock(mutex_);
                    sent_ += copied;
                }
                if (more) continue;
                ::shutdown(other, SHUT_WR);
                ends[i].fd = -1;
            }
        }
    } catch (Trouble const&) {
        // No server listens at the target.
    }
    ::close(client);
}

// ---- UDP ----

DatagramTap::DatagramTap() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* address = reinterpret_cast<sockaddr*>(&at);
    if (::bind(socket_, address, size) != 0 || ::getsockname(socket_, address, &size) != 0) throw Trouble("no UDP port");
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this] { run(); });
}

DatagramTap::~DatagramTap() {
    stopping_ = true;
    thread_.join();
    ::close(socket_);
}

std::string DatagramTap::received() const {
    std::lock_guard const lock(mutex_);
    return received_;
}

void DatagramTap::run() {
    while (!stopping_) {
        pollfd watched{socket_, POLLIN, 0};
        if (::poll(&watched, 1, look_again) <= 0) continue;
        char buffer[65'536];
        auto const got = ::recv(socket_, buffer, sizeof buffer, 0);
        if (got < 0) continue;
        std::lock_guard const lock(mutex_);
        received_.append(buffer, static_cast<std::size_t>(got));
        ++datagrams_;
    }
}

}   // namespace garner::test
