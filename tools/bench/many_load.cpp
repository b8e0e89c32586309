// Loads of many connections, and of requests that do not wait for each other.
//
//   many_load PROXY_PORT ORIGIN_PORT abs|rel BODY_BYTES PATH open RATE SECONDS CONNECTIONS
//       RATE requests a second at equal intervals, over at most CONNECTIONS connections. The time of a response counts from
//       the moment at which its request was due, also if no connection was free then (coordinated omission).
//   many_load … new SECONDS CONNECTIONS
//       a connection for each request, CONNECTIONS at a time
//   many_load … hold COUNT
//       COUNT connections with one request each; prints "ready" after the last response and holds them until standard input ends
//   many_load … slow COUNT BYTES
//       COUNT connections that ask for PATH and read BYTES a second each; prints "ready" after the first bytes of all, and goes
//       on until standard input ends
//
// Both ends are on 127.0.0.1. A PATH that ends with "/" is continued by a number that is new each time. The last line is
// {"good": N, "bad": N, "seconds": S, "p50_us": N, "p99_us": N, "p999_us": N}. A lost connection counts as bad.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "quantile.hpp"

using Clock = std::chrono::steady_clock;

struct Work {
    int port = 0;
    std::string head, tail;   // of a request, around the number
    bool numbered = false;
    long number = 0, body = 0, good = 0, bad = 0;
    std::vector<int> took_us;

    std::string request() { return numbered ? head + std::to_string(++number) + tail : head + tail; }

    void answered(Clock::time_point due) {
        ++good;
        auto const took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - due);
        took_us.push_back(static_cast<int>(took.count()));
    }
};

// The sources take turns, because the ports of one address last for 28,000 connections.
int begun_connection(int port, int buffer) {
    static unsigned turn = 0;
    int const fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int const on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (buffer > 0) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + turn++ % 8);
    bool const bound = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || !bound || (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 && errno != EINPROGRESS)) {
        std::perror("many_load: connect");
        std::exit(1);
    }
    return fd;
}

enum class Seen { partial, complete, lost };

class Connection {
public:
    explicit Connection(Work& work, int buffer = 0) : work_(work), fd_(begun_connection(work.port, buffer)) {}
    ~Connection() { close(fd_); }
    Connection(Connection const&) = delete;
    Connection& operator=(Connection const&) = delete;

    int fd() const { return fd_; }
    Clock::time_point due() const { return due_; }
    bool asked() const { return asked_; }

    /// Sends the next request; its time counts from `due`. False if the connection is lost.
    bool ask(Clock::time_point due) {
        due_ = due;
        left_ = -1;
        head_.clear();
        auto const text = work_.request();
        asked_ = send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
        return asked_;
    }

    /// Reads at most `most` bytes of the response.
    Seen read(size_t most = 1 << 20) {
        auto const n = left_ > 0 ? read_body(most) : read_head();
        if (n < 0 && errno == EAGAIN) return Seen::partial;
        if (n <= 0 || left_ == -2) return Seen::lost;
        return left_ == 0 ? Seen::complete : Seen::partial;
    }

private:
    // MSG_TRUNC drops the bytes inside the kernel: the load shares its core with the origin.
    ssize_t read_body(size_t most) {
        auto const n = recv(fd_, nullptr, std::min(most, static_cast<size_t>(left_)), MSG_TRUNC);
        if (n > 0) left_ -= n;
        return n;
    }

    ssize_t read_head() {
        char piece[4096];
        auto const n = recv(fd_, piece, sizeof piece, 0);
        if (n <= 0) return n;
        head_.append(piece, static_cast<size_t>(n));
        auto const end = head_.find("\r\n\r\n");
        if (end == head_.npos) return n;
        auto const field = strcasestr(head_.c_str(), "\r\nContent-Length:");
        bool const right = head_.compare(8, 5, " 200 ") == 0 && field && std::atol(field + 17) == work_.body;
        left_ = right ? work_.body - static_cast<long>(head_.size() - end - 4) : -2;
        return n;
    }

    Work& work_;
    int fd_;
    bool asked_ = false;
    long left_ = -1;   // bytes of the body; -1: the head is not complete; -2: another response than expected
    std::string head_;
    Clock::time_point due_;
};

class Poller {
public:
    void add(Connection& connection, unsigned events) {
        epoll_event event{events, {.ptr = &connection}};
        epoll_ctl(fd_, EPOLL_CTL_ADD, connection.fd(), &event);
    }
    void change(Connection& connection, unsigned events) {
        epoll_event event{events, {.ptr = &connection}};
        epoll_ctl(fd_, EPOLL_CTL_MOD, connection.fd(), &event);
    }
    template <class Action>
    void wait(std::chrono::nanoseconds most, Action action) {
        epoll_event events[256];
        auto const ns = std::max<long>(0, most.count());
        timespec const time{ns / 1'000'000'000, ns % 1'000'000'000};
        int const ready = epoll_pwait2(fd_, events, 256, &time, nullptr);
        for (int i = 0; i < ready; ++i) action(*static_cast<Connection*>(events[i].data.ptr));
    }

private:
    int fd_ = epoll_create1(0);
};

void open_loop(Work& work, double rate, double seconds, size_t most) {
    Poller poller;
    std::vector<std::unique_ptr<Connection>> all;
    std::deque<Connection*> idle;
    std::deque<Clock::time_point> waiting;
    for (size_t i = 0; i < most; ++i) {
        all.push_back(std::make_unique<Connection>(work));
        poller.add(*all.back(), EPOLLIN);
        idle.push_back(all.back().get());
    }
    poll(nullptr, 0, 200);   // until they are accepted
    auto const begin = Clock::now();
    auto const due = [&](long number) {
        return begin + std::chrono::nanoseconds(static_cast<long>(1e9 / rate * static_cast<double>(number)));
    };
    long const count = static_cast<long>(rate * seconds);
    long next = 0, open = 0;
    auto const patience = begin + std::chrono::nanoseconds(static_cast<long>(1e9 * (seconds + 30)));
    while ((next < count || open > 0 || !waiting.empty()) && Clock::now() < patience) {
        for (; next < count && due(next) <= Clock::now(); ++next) waiting.push_back(due(next));
        for (; !waiting.empty() && !idle.empty(); waiting.pop_front(), idle.pop_front(), ++open)
            if (!idle.front()->ask(waiting.front())) ++work.bad, --open;
        auto const until = next < count ? due(next) - Clock::now() : std::chrono::nanoseconds(100'000'000);
        poller.wait(until, [&](Connection& connection) {
            auto const seen = connection.read();
            if (seen == Seen::partial || (seen == Seen::lost && !connection.asked())) return;
            --open;
            if (seen == Seen::lost) {
                ++work.bad;
                poller.change(connection, 0);
                return;
            }
            work.answered(connection.due());
            idle.push_back(&connection);
        });
        if (idle.empty() && open == 0) break;   // every connection was lost
    }
    work.bad += open + static_cast<long>(waiting.size()) + (count - next);
}

void new_connections(Work& work, double seconds, size_t most) {
    Poller poller;
    std::vector<std::unique_ptr<Connection>> all(most);
    auto const until = Clock::now() + std::chrono::nanoseconds(static_cast<long>(1e9 * seconds));
    long open = 0;
    auto const begin = [&](std::unique_ptr<Connection>& place) {
        place.reset();
        if (Clock::now() >= until) return;
        place = std::make_unique<Connection>(work);
        ++open;
        poller.add(*place, place->ask(Clock::now()) ? EPOLLIN : EPOLLOUT);   // EPOLLOUT: the server has not accepted it yet
    };
    for (auto& place : all) begin(place);
    while (open > 0 && Clock::now() < until + std::chrono::seconds(30)) {
        std::vector<Connection*> ready;
        poller.wait(std::chrono::milliseconds(100), [&](Connection& connection) { ready.push_back(&connection); });
        for (auto* connection : ready) {
            bool const waited = !connection->asked();
            if (waited && connection->ask(connection->due())) {
                poller.change(*connection, EPOLLIN);
                continue;
            }
            auto const seen = waited ? Seen::lost : connection->read();
            if (seen == Seen::partial) continue;
            seen == Seen::complete ? work.answered(connection->due()) : void(++work.bad);
            --open;
            begin(*std::find_if(all.begin(), all.end(), [&](auto& one) { return one.get() == connection; }));
        }
    }
    work.bad += open;
}

bool input_ended() {
    pollfd one{0, POLLIN, 0};
    char byte;
    return poll(&one, 1, 0) > 0 && ::read(0, &byte, 1) <= 0;
}

void wait_until_connected(Connection& connection) {
    pollfd one{connection.fd(), POLLOUT, 0};
    poll(&one, 1, 30'000);
}

// Connects in small steps: no listener is asked for more connections at once than it lets wait.
std::vector<std::unique_ptr<Connection>> asked_connections(Work& work, long count, int buffer, bool whole) {
    std::vector<std::unique_ptr<Connection>> all;
    while (static_cast<long>(all.size()) < count) {
        auto const first = all.size();
        for (long i = 0; i < 64 && static_cast<long>(all.size()) < count; ++i)
            all.push_back(std::make_unique<Connection>(work, buffer));
        for (auto i = first; i < all.size(); ++i) {
            wait_until_connected(*all[i]);
            if (!all[i]->ask(Clock::now())) ++work.bad;
        }
        for (auto i = first; i < all.size(); ++i) {
            auto seen = Seen::partial;
            pollfd one{all[i]->fd(), POLLIN, 0};
            do {
                if (poll(&one, 1, 30'000) <= 0) break;
                seen = all[i]->read(1);
            } while (whole && seen == Seen::partial);
            seen == Seen::lost || (whole && seen != Seen::complete) ? ++work.bad : ++work.good;
        }
    }
    std::printf("ready\n");
    std::fflush(stdout);
    return all;
}

void slow_readers(Work& work, long count, size_t bytes) {
    auto const all = asked_connections(work, count, 16 * 1024, false);
    while (!input_ended()) {
        for (auto const& one : all) one->read(bytes / 10);
        poll(nullptr, 0, 100);
    }
}

int main(int count, char** words) {
    if (count < 8) return std::fprintf(stderr, "many_load: see the head of many_load.cpp\n"), 2;
    Work work;
    work.port = std::atoi(words[1]);
    auto const origin = std::string("127.0.0.1:") + words[2];
    std::string const path = words[5], mode = words[6];
    work.head = "GET " + (std::string(words[3]) == "abs" ? "http://" + origin : std::string()) + path;
    work.tail = " HTTP/1.1\r\nHost: " + origin + "\r\n\r\n";
    work.numbered = path.back() == '/';
    work.number = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch()).count();
    work.body = std::atol(words[4]);

    auto const begin = Clock::now();
    if (mode == "open" && count == 10)
        open_loop(work, std::atof(words[7]), std::atof(words[8]), static_cast<size_t>(std::atol(words[9])));
    else if (mode == "new" && count == 9)
        new_connections(work, std::atof(words[7]), static_cast<size_t>(std::atol(words[8])));
    else if (mode == "hold" && count == 8) {
        auto const all = asked_connections(work, std::atol(words[7]), 0, true);
        while (!input_ended()) poll(nullptr, 0, 100);
    } else if (mode == "slow" && count == 9)
        slow_readers(work, std::atol(words[7]), static_cast<size_t>(std::atol(words[8])));
    else
        return std::fprintf(stderr, "many_load: see the head of many_load.cpp\n"), 2;

    auto const seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::printf("{\"good\": %ld, \"bad\": %ld, \"seconds\": %.3f, \"p50_us\": %d, \"p99_us\": %d, \"p999_us\": %d}\n", work.good,
                work.bad, seconds, quantile(work.took_us, 0.5), quantile(work.took_us, 0.99), quantile(work.took_us, 0.999));
}
