// The load that wrk cannot make: each URL of a numbered series exactly once, URLs of a series drawn evenly, and requests
// inside CONNECT tunnels.
//
//   load PROXY_PORT ORIGIN_PORT abs|rel|tunnel CONNECTIONS BODY_BYTES PATH series FIRST COUNT
//   load PROXY_PORT ORIGIN_PORT abs|rel|tunnel CONNECTIONS BODY_BYTES PATH same COUNT
//   load PROXY_PORT ORIGIN_PORT abs|rel|tunnel CONNECTIONS BODY_BYTES PATH seconds SECONDS
//   load PROXY_PORT ORIGIN_PORT abs|rel|tunnel CONNECTIONS BODY_BYTES PATH evenly FIRST COUNT SECONDS
//
// Both ends are on 127.0.0.1. Prints the numbers of responses with status 200 and a body of BODY_BYTES, and of others, the
// duration, and the median and 99th percentile of the response times:
// {"good": N, "bad": N, "seconds": S, "p50_us": N, "p99_us": N}. A lost connection counts as bad and is not replaced.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "quantile.hpp"

using Clock = std::chrono::steady_clock;

struct Work {
    std::string origin, prefix, path;
    bool tunnel = false;
    bool series = false;   // a number of requests, for a series of URLs or for one; otherwise until a time
    bool same = false;
    long next = 0, left = 0;     // place in the series, and requests left of it
    long first = 0, count = 0;   // the URLs to draw from
    Clock::time_point until;     // without a series
    long body = 0;
    long good = 0, bad = 0;
    std::vector<int> took_us;
    std::mt19937_64 random{1};

    bool more() const { return series ? left > 0 : Clock::now() < until; }

    std::string request() {
        auto url = prefix + path;
        if (series) {
            if (!same) url += std::to_string(next++);
            --left;
        } else if (count > 0) {
            url += std::to_string(first + static_cast<long>(random() % static_cast<unsigned long>(count)));
        }
        return "GET " + url + " HTTP/1.1\r\nHost: " + origin + "\r\n\r\n";
    }
};

int connected(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int const fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        std::perror("load: connect");
        std::exit(1);
    }
    int const on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

class Connection {
public:
    Connection(Work& work, int port) : work_(work), fd_(connected(port)) {
        if (work_.tunnel)
            send_all("CONNECT " + work_.origin + " HTTP/1.1\r\nHost: " + work_.origin + "\r\n\r\n");
        else
            ask();
    }
    ~Connection() { close(fd_); }
    Connection(Connection const&) = delete;
    Connection& operator=(Connection const&) = delete;

    int fd() const { return fd_; }

    /// Reads what has come; false when the connection is done or lost.
    bool readable() {
        auto const n = body_left_ > 0 ? skip_body() : read_head();
        if (n == 0 || (n < 0 && errno != EAGAIN)) {
            ++work_.bad;
            return false;
        }
        return !done_;
    }

private:
    void send_all(std::string const& text) {
        if (send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) done_ = true;
    }

    void ask() {
        asked_ = Clock::now();
        if (work_.more())
            send_all(work_.request());
        else
            done_ = true;
    }

    // MSG_TRUNC drops the bytes inside the kernel: the load shares its core with the origin.
    ssize_t skip_body() {
        auto const n = recv(fd_, nullptr, static_cast<size_t>(body_left_), MSG_TRUNC | MSG_DONTWAIT);
        if (n > 0) {
            body_left_ -= n;
            if (body_left_ == 0) answered();
        }
        return n;
    }

    ssize_t read_head() {
        char piece[4096];
        auto const n = recv(fd_, piece, sizeof piece, MSG_DONTWAIT);
        if (n <= 0) return n;
        head_.append(piece, static_cast<size_t>(n));
        auto const end = head_.find("\r\n\r\n");
        if (end == head_.npos) return n;

        auto const beyond = static_cast<long>(head_.size() - end - 4);
        bool const ok = head_.compare(8, 5, " 200 ") == 0;
        bool const opens_tunnel = work_.tunnel && !open_;
        auto const field = opens_tunnel ? nullptr : strcasestr(head_.c_str(), "\r\nContent-Length:");
        auto const length = field ? std::atol(field + 17) : 0;
        head_.clear();

        if (!ok || (!opens_tunnel && length != work_.body)) {
            ++work_.bad;
            done_ = true;
        } else if (opens_tunnel) {
            open_ = true;
            ask();
        } else {
            body_left_ = length - beyond;
            if (body_left_ <= 0) answered();
        }
        return n;
    }

    void answered() {
        ++work_.good;
        auto const took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - asked_);
        work_.took_us.push_back(static_cast<int>(took.count()));
        ask();
    }

    Work& work_;
    int fd_;
    std::string head_;
    Clock::time_point asked_;
    long body_left_ = 0;
    bool open_ = false, done_ = false;
};

int main(int count, char** words) {
    if (count < 9) return std::fprintf(stderr, "load: see the head of load.cpp\n"), 2;
    std::string const form = words[3];
    Work work;
    work.origin = std::string("127.0.0.1:") + words[2];
    work.tunnel = form == "tunnel";
    work.prefix = form == "abs" ? "http://" + work.origin : "";
    work.body = std::atol(words[5]);
    work.path = words[6];
    work.series = std::string(words[7]) == "series" && count == 10;
    bool const drawn = std::string(words[7]) == "evenly" && count == 11;
    auto const begin = Clock::now();
    work.same = std::string(words[7]) == "same";
    if (work.same) {
        work.series = true;
        work.left = std::atol(words[8]);
    } else if (work.series) {
        work.next = std::atol(words[8]);
        work.left = std::atol(words[9]);
    } else {
        if (drawn) {
            work.first = std::atol(words[8]);
            work.count = std::atol(words[9]);
        }
        work.until = begin + std::chrono::milliseconds(static_cast<long>(1000 * std::atof(words[drawn ? 10 : 8])));
    }

    int const poll = epoll_create1(0);
    std::vector<std::unique_ptr<Connection>> connections;
    for (int i = 0; i < std::atoi(words[4]); ++i) {
        connections.push_back(std::make_unique<Connection>(work, std::atoi(words[1])));
        epoll_event event{EPOLLIN, {.ptr = connections.back().get()}};
        epoll_ctl(poll, EPOLL_CTL_ADD, connections.back()->fd(), &event);
    }

    auto alive = connections.size();
    while (alive > 0) {
        epoll_event events[64];
        int const ready = epoll_wait(poll, events, 64, 60'000);
        if (ready == 0) break;   // a minute of silence: open requests count as bad
        for (int i = 0; i < ready; ++i) {
            auto* connection = static_cast<Connection*>(events[i].data.ptr);
            if (connection->readable()) continue;
            epoll_ctl(poll, EPOLL_CTL_DEL, connection->fd(), nullptr);
            --alive;
        }
    }
    auto const seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::printf("{\"good\": %ld, \"bad\": %ld, \"seconds\": %.3f, \"p50_us\": %d, \"p99_us\": %d}\n", work.good,
                work.bad + static_cast<long>(alive), seconds, quantile(work.took_us, 0.5), quantile(work.took_us, 0.99));
}
