// The least that a server can do with epoll: the floor for the CPU time of a hit, and an origin that answers late.
//
//   small_server PORT DELAY_MS BODY_FILE
//
// Listens on 127.0.0.1 and answers each request with the file's content, DELAY_MS after it has come. It looks for the end of a head
// and for nothing else; requests have no bodies. Responses are not to be stored if they are delayed.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>

using Clock = std::chrono::steady_clock;

struct Waiting {
    Clock::time_point due;
    int fd;
    unsigned long serial;   // descriptors are used again
};

struct Connection {
    unsigned long serial = 0;
    std::string held;   // an incomplete head
};

class Server {
public:
    Server(int port, std::chrono::milliseconds delay, std::string body) : delay_(delay), body_(std::move(body)) {
        head_ = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: " +
                std::string(delay_.count() ? "no-store" : "max-age=36000") + "\r\nContent-Length: " + std::to_string(body_.size()) +
                "\r\n\r\n";
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        int const on = 1;
        setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(listener_, 4096) != 0) {
            std::perror("small_server: listen");
            std::exit(1);
        }
        watch(listener_);
    }

    void run() {
        for (;;) {
            epoll_event events[256];
            int const ready = epoll_wait(poll_, events, 256, milliseconds_to_wait());
            for (int i = 0; i < ready; ++i) events[i].data.fd == listener_ ? accept_one() : read(events[i].data.fd);
            for (; !waiting_.empty() && waiting_.front().due <= Clock::now(); waiting_.pop_front()) {
                auto const found = connections_.find(waiting_.front().fd);
                if (found != connections_.end() && found->second.serial == waiting_.front().serial) answer(found->first);
            }
        }
    }

private:
    int milliseconds_to_wait() const {
        if (waiting_.empty()) return -1;
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(waiting_.front().due - Clock::now()).count();
        return left > 0 ? static_cast<int>(left) : 0;
    }

    void watch(int fd) {
        epoll_event event{EPOLLIN, {.fd = fd}};
        epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event);
    }

    void accept_one() {
        int const fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
        if (fd < 0) return;
        int const on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        connections_[fd] = {.serial = ++serial_, .held = {}};
        watch(fd);
    }

    void read(int fd) {
        char piece[16384];
        auto const n = recv(fd, piece, sizeof piece, 0);
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0) {
            connections_.erase(fd);
            close(fd);
            return;
        }
        auto& connection = connections_[fd];
        std::string_view rest(piece, static_cast<size_t>(n));
        if (!connection.held.empty()) {
            connection.held.append(rest);
            rest = connection.held;
        }
        size_t end;
        while ((end = rest.find("\r\n\r\n")) != rest.npos) {
            rest.remove_prefix(end + 4);
            if (delay_.count() == 0)
                answer(fd);
            else
                waiting_.push_back({Clock::now() + delay_, fd, connection.serial});
        }
        connection.held = std::string(rest);
    }

    void answer(int fd) {
        iovec parts[2] = {{head_.data(), head_.size()}, {body_.data(), body_.size()}};
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = 2;
        sendmsg(fd, &message, MSG_NOSIGNAL);
    }

    std::chrono::milliseconds delay_;
    std::string body_, head_;
    int poll_ = epoll_create1(0), listener_ = socket(AF_INET, SOCK_STREAM, 0);
    unsigned long serial_ = 0;
    std::unordered_map<int, Connection> connections_;
    std::deque<Waiting> waiting_;
};

int main(int count, char** words) {
    if (count != 4) return std::fprintf(stderr, "small_server: see the head of small_server.cpp\n"), 2;
    std::ifstream file(words[3], std::ios::binary);
    if (!file) return std::fprintf(stderr, "small_server: cannot read %s\n", words[3]), 1;
    Server(std::atoi(words[1]), std::chrono::milliseconds(std::atol(words[2])),
           std::string(std::istreambuf_iterator<char>(file), {}))
        .run();
}
