// Clients of every kind that compare each byte, while a test reloads the proxy or takes it over.
#pragma once
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <utility>

#include "story/rest.hpp"
#include "support/traffic.hpp"
#include "support/websocket.hpp"

namespace garner::test {

inline std::string request(Origin const& origin, std::string const& path) {
    return "GET " + origin.url(path) + " HTTP/1.1\r\nHost: " + origin.authority() + "\r\n\r\n";
}

inline std::string wrong(Reply const& reply, std::string const& body) {
    if (reply.body() == body && reply.complete()) return {};
    return "status " + std::to_string(reply.status()) + ", " + std::to_string(reply.body().size()) + " bytes: " + reply.trouble();
}

/// A client that keeps its connection while the proxy does.
inline void add_kept(Traffic& traffic, Proxy const& proxy, Origin const& origin) {
    auto const kept = std::make_shared<Client>(proxy, origin);
    traffic.add("kept", [kept] {
        std::string trouble;
        for (std::string const name : {"page", "live"}) {
            auto const reply = kept->get("/" + name);
            trouble += wrong(reply, name);
            if (reply.field("Connection") == "close") kept->close();
        }
        return trouble;
    });
    traffic.add("new", [&] { return wrong(get(proxy, origin, "/live"), "live"); });
    traffic.add("pipelined", [&] {
        Client client(proxy, origin);
        client.raw(request(origin, "/page") + request(origin, "/live") + request(origin, "/page"));
        auto const first = client.expect(), second = client.expect(), third = client.expect();
        return wrong(first, "page") + wrong(second, "live") + wrong(third, "page");
    });
}

inline std::string const upload_body(300'000, 'u');
inline std::string const slow_body(200'000, 's');

inline void add_bodies(Traffic& traffic, Proxy const& proxy, Origin& origin) {
    origin.by_hand("/upload", [](Hand& hand) {
        hand.read_body();
        hand.answer(no_store(hand.request().body));
    });
    origin.by_hand("/slow", [](Hand& hand) {
        hand.send(no_store("").head_text(slow_body.size()));
        for (std::size_t at = 0; at < slow_body.size(); at += 10'000) {
            hand.send(slow_body.substr(at, 10'000));
            pause_for(50ms);
        }
    });
    traffic.add("upload", [&] { return wrong(Client(proxy, origin).post("/upload", upload_body), upload_body); });
    traffic.add("slow", [&] { return wrong(get(proxy, origin, "/slow"), slow_body); });
}

/// A server that returns all bytes, for one client.
class Echo {
public:
    Echo() : listening_(listen_on("127.0.0.1")), thread_([this] { serve(); }) {}
    ~Echo() {
        ::shutdown(listening_.fd, SHUT_RDWR);
        thread_.join();
        ::close(listening_.fd);
    }
    std::string authority() const { return "127.0.0.1:" + std::to_string(listening_.port); }

private:
    void serve() const {
        int const descriptor = ::accept4(listening_.fd, nullptr, nullptr, SOCK_CLOEXEC);
        if (descriptor < 0) return;
        Wire wire(descriptor);
        while (wire.receive() == Wire::Read::data) wire.send(std::exchange(wire.buffer(), {}));
    }
    Listening listening_;
    std::thread thread_;
};

/// A tunnel that carries bytes all the time.
class Tunnel {
public:
    explicit Tunnel(Proxy const& proxy) : client_(proxy) {
        auto const opened = client_.connect_to(echo_.authority());
        EXPECT_EQ(opened.status(), 200);
    }
    std::string exchange() {
        std::string const bytes = "number " + std::to_string(++sent_) + "\n";
        client_.raw(bytes);
        pause_for(20ms);
        return client_.wire().take(bytes.size()) == bytes ? "" : "other bytes";
    }
    void close() { client_.close(); }

private:
    Echo echo_;
    Client client_;
    int sent_ = 0;
};

/// Another cache that queries by ICP (RFC 2186).
class Neighbour {
public:
    explicit Neighbour(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    }
    ~Neighbour() { ::close(socket_); }
    std::string ask(std::string const& url) {
        constexpr char query = 1, version = 2;
        auto const length = 24 + url.size() + 1;
        std::string const head{query, version, static_cast<char>(length >> 8), static_cast<char>(length), 0, 0, 1, 1};
        auto const datagram = head + std::string(16, '\0') + url + '\0';
        ::send(socket_, datagram.data(), datagram.size(), 0);
        pollfd waits{socket_, POLLIN, 0};
        if (::poll(&waits, 1, 10'000) != 1) return "no reply";
        char bytes[4'096];
        auto const size = ::recv(socket_, bytes, sizeof bytes, 0);
        bool const is_answer = size > 20 && (bytes[0] == 2 || bytes[0] == 3);   // HIT, MISS
        return is_answer ? "" : "opcode " + std::to_string(bytes[0]);
    }

private:
    int const socket_;
};

/// A WebSocket that echoes a frame now and then.
class Chat {
public:
    Chat(Proxy const& proxy, Origin& origin) : client_(proxy, origin) {
        origin.by_hand("/chat", websocket_echo);
        auto const opened = client_.get("/chat", {{"Upgrade", "websocket"},
                                                  {"Connection", "Upgrade"},
                                                  {"Sec-WebSocket-Version", "13"},
                                                  {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}});
        EXPECT_EQ(opened.status(), 101);
    }
    std::string exchange() {
        auto const text = "frame " + std::to_string(++sent_);
        client_.raw(websocket_frame(text, true));
        pause_for(20ms);
        return take_websocket_frame(client_.wire()) == text ? "" : "another frame";
    }
    void close() { client_.close(); }

private:
    Client client_;
    int sent_ = 0;
};

}   // namespace garner::test
