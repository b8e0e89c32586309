// Load of decrypted tunnels: a connection for each request. It opens a tunnel by CONNECT, handshakes with the certificate that
// the proxy minted, without a ticket, and requests one URL.
//
//   bump_load PORT HOST TARGET BODY_BYTES CONNECTIONS SECONDS FIRST COUNT
//
// The proxy is on 127.0.0.1 and speaks plain HTTP. HOST is host:port; a % in it becomes the numbers from FIRST on, one for each
// connection, COUNT at most. Without a % there is no such limit. After its preparation the program prints "ready" and waits for
// a line on standard input. Then it measures until the time or the numbers end, and prints {"good": N, "bad": N}: responses
// with status 200 and a body of BODY_BYTES, and failures.
#include <optional>

#include "tls_client.hpp"

namespace {

struct Hosts {
    std::string pattern;
    long count = 0;
    std::atomic<long> next{0};

    /// The host of the next connection; nothing when the numbers are used up.
    std::optional<std::string> take() {
        auto const at = pattern.find('%');
        if (at == pattern.npos) return pattern;
        long const number = next++;
        if (number >= count) return std::nullopt;
        return std::string(pattern).replace(at, 1, std::to_string(number));
    }
};

/// Reads the head of the response to CONNECT, after which the proxy waits for the client.
void open_tunnel(int fd, std::string const& host) {
    std::string const request = "CONNECT " + host + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
    if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
        throw std::runtime_error("CONNECT: write failed");
    std::string head;
    char buffer[4096];
    while (!head.ends_with("\r\n\r\n")) {
        auto const n = recv(fd, buffer, sizeof buffer, 0);
        if (n <= 0) throw std::runtime_error("CONNECT: no response");
        head.append(buffer, static_cast<size_t>(n));
    }
    if (head.compare(8, 5, " 200 ") != 0) throw std::runtime_error("CONNECT: " + head.substr(0, head.find('\r')));
}

void request_inside(Load& load, std::string const& host) {
    int const fd = connect_to(load.port);
    try {
        open_tunnel(fd, host);
    } catch (...) {
        close(fd);
        throw;
    }
    TlsConnection connection(load.context, Socket{fd}, host.substr(0, host.find(':')));
    exchange(connection, "GET " + load.target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n", load.body);
}

}   // namespace

int main(int count, char** words) {
    if (count != 9) return std::fprintf(stderr, "bump_load: see the head of bump_load.cpp\n"), 2;
    signal(SIGPIPE, SIG_IGN);
    Load load;
    load.port = std::atoi(words[1]);
    load.target = words[3];
    load.body = std::atol(words[4]);
    load.connections = std::atoi(words[5]);
    load.seconds = std::atof(words[6]);
    Hosts hosts{.pattern = words[2], .count = std::atol(words[7]) + std::atol(words[8]), .next = std::atol(words[7])};
    run_load(load, [&]() -> std::function<void()> {
        return [&] {
            while (load.more()) {
                auto const host = hosts.take();
                if (!host) return;
                request_inside(load, *host);
                ++load.good;
            }
        };
    });
}
