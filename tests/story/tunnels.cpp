// Connections that leave HTTP: CONNECT, and Upgrade to a WebSocket.
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "story/scene.hpp"
#include "support/websocket.hpp"

namespace garner::test {

namespace {

/// Allows CONNECT to the tests' ports.
std::string const open_ports = R"({"access": [{"allow": {"destination": ["127.0.0.0/8", "::1"], "port": ["1-65535"]}}]})";

/// A plain TCP server for one connection.
class Plain {
public:
    explicit Plain(std::function<void(Wire&)> talk) : listening_(listen_on("127.0.0.1")) {
        thread_ = std::thread([this, talk = std::move(talk)] {
            int const fd = ::accept4(listening_.fd, nullptr, nullptr, SOCK_CLOEXEC);
            if (fd < 0) return;
            Wire wire(fd);
            talk(wire);
        });
    }
    ~Plain() {
        ::shutdown(listening_.fd, SHUT_RDWR);
        thread_.join();
        ::close(listening_.fd);
    }
    std::string authority() const { return "127.0.0.1:" + std::to_string(listening_.port); }

private:
    Listening listening_;
    std::thread thread_;
};

void echo(Wire& wire) {
    while (wire.receive() == Wire::Read::data)
        while (!wire.buffer().empty()) wire.send(std::exchange(wire.buffer(), {}));   // sending also receives
    wire.half_close();
    wire.take_all();
}

}   // namespace

TEST(Connect, a_tunnel_carries_bytes_both_ways) {
    Plain server(echo);
    Proxy proxy(open_ports);
    Client client(proxy);
    auto opened = client.connect_to(server.authority());
    EXPECT_EQ(opened.status(), 200);
    EXPECT_FALSE(opened.has("Content-Length"));
    EXPECT_FALSE(opened.has("Transfer-Encoding"));
    client.raw("ping");
    EXPECT_EQ(client.wire().take(4), "ping");
    auto const much = pattern(5'000'000);
    client.raw(much);
    EXPECT_TRUE(client.wire().take(much.size()) == much);
    auto const moved = [&](char const* side, char const* way) { return proxy.stats()[side][way] >= much.size(); };
    EXPECT_TRUE(eventually([&] { return moved("origin", "received_bytes") && moved("client", "received_bytes"); }))
        << "counted while the tunnel is open";
    client.half_close();
    EXPECT_EQ(client.wire().take_all(), "");
    auto const logged = proxy.logged(server.authority());
    EXPECT_EQ(logged.method, "CONNECT");
    EXPECT_EQ(logged.tag, "TCP_TUNNEL");
    EXPECT_EQ(logged.status, 200);
}

TEST(Connect, bytes_that_come_right_behind_the_CONNECT_are_not_lost) {
    Plain server(echo);
    Proxy proxy(open_ports);
    Client client(proxy);
    client.raw("CONNECT " + server.authority() + " HTTP/1.1\r\nHost: x\r\n\r\nearly bird");
    EXPECT_EQ(client.expect("CONNECT").status(), 200);
    EXPECT_EQ(client.wire().take(10), "early bird");
}

TEST(Connect, each_side_may_end_its_half_first) {
    Plain counts([](Wire& wire) {
        auto const all = wire.take_all();
        wire.send("got " + std::to_string(all.size()));
    });
    Proxy proxy(open_ports);
    Client client(proxy);
    client.connect_to(counts.authority());
    client.raw(pattern(100'000));
    client.half_close();
    EXPECT_EQ(client.wire().take_all(), "got 100000");

    Plain speaks_first([](Wire& wire) {
        wire.send("greeting");
        wire.half_close();
        EXPECT_EQ(wire.take_all(), "late words");
    });
    Client listener(proxy);
    listener.connect_to(speaks_first.authority());
    EXPECT_EQ(listener.wire().take_all(), "greeting");
    listener.wire().send("late words");
    listener.half_close();
}

TEST(Connect, a_reset_on_one_side_ends_the_other) {
    std::promise<Wire::Read> seen;
    Plain server([&](Wire& wire) {
        wire.send("hello");
        seen.set_value(wire.receive());
    });
    Proxy proxy(open_ports);
    Client client(proxy);
    client.connect_to(server.authority());
    EXPECT_EQ(client.wire().take(5), "hello");
    client.reset();
    EXPECT_THAT(seen.get_future().get(), AnyOf(Wire::Read::end, Wire::Read::reset));
}

TEST(Connect, a_reset_after_a_half_close_ends_the_tunnel) {
    std::promise<void> half_closed, over;
    Plain silent([&](Wire& wire) {
        wire.take_all();
        half_closed.set_value();
        over.get_future().wait();
    });
    Proxy proxy(open_ports);
    auto const is_left = [&] { return eventually([&] { return proxy.stats()["connections"]["now"] == 0; }); };
    {
        Client client(proxy);
        EXPECT_EQ(client.connect_to(silent.authority()).status(), 200);
        client.half_close();
        half_closed.get_future().wait();
        EXPECT_EQ(proxy.stats()["connections"]["now"], 1);
        client.reset();
        EXPECT_TRUE(is_left());
        over.set_value();
    }
    Plain server([&](Wire& wire) {
        wire.half_close();
        pause_for(100ms);
        wire.reset();
    });
    Client client(proxy);
    EXPECT_EQ(client.connect_to(server.authority()).status(), 200);
    EXPECT_EQ(client.wire().take_all(), "");
    EXPECT_TRUE(is_left());
}

TEST(Connect, TLS_runs_through_it_untouched) {
    Certificate certificate;
    Origin origin({.certificate = &certificate});
    origin.answer("/page", no_store("secret"));
    Proxy proxy(open_ports);
    Client client(proxy);
    ASSERT_EQ(client.connect_to(origin.authority()).status(), 200);
    client.start_tls("localhost");
    EXPECT_EQ(client.wire().peer_certificate(), certificate.pem());
    EXPECT_EQ(client.get("/page").body(), "secret");
    EXPECT_EQ(client.get("/page").body(), "secret");
    EXPECT_FALSE(client.get("/page").has("Via"));
}

TEST(Connect, to_a_port_other_than_443_is_refused_unless_a_rule_names_it) {
    Plain server(echo);
    Proxy proxy(R"({"access": [{"allow": {"source": ["127.0.0.0/8"]}}]})");
    Client client(proxy);
    auto refused = client.connect_to("192.0.2.1:25");
    EXPECT_EQ(refused.status(), 403);
    EXPECT_THAT(refused.body(), HasSubstr("443"));
    EXPECT_EQ(Client(proxy).connect_to(server.authority()).status(), 403);
}

TEST(Connect, to_nobody_is_502) {
    Proxy proxy(open_ports);
    Client client(proxy);
    EXPECT_EQ(client.connect_to("127.0.0.1:" + std::to_string(free_port())).status(), 502);
    EXPECT_THAT(Client(proxy).connect_to("no-such-host.invalid:443").status(), AnyOf(502, 503));
}

TEST(Connect, a_faulty_target_is_400) {
    Proxy proxy(open_ports);
    for (auto target : {"127.0.0.1", "127.0.0.1:0", "127.0.0.1:99999", "http://127.0.0.1:443/", "127.0.0.1:443/path"}) {
        Client client(proxy);
        EXPECT_EQ(client.connect_to(target).status(), 400) << target;
    }
}

TEST(Connect, an_idle_tunnel_is_closed_after_its_time) {
    Plain server(echo);
    Proxy proxy(R"({"deadlines": {"tunnel_idle": "3s"}})");
    Client client(proxy);
    ASSERT_EQ(client.connect_to(server.authority()).status(), 200);
    for (int i = 0; i < 10; ++i) {
        client.raw("ping");
        EXPECT_EQ(client.wire().take(4), "ping");
        pause_for(400ms);
    }
    EXPECT_NE(client.wire().receive(20s), Wire::Read::timeout);
}

TEST(Connect, a_tunnel_ends_after_its_whole_time_however_busy_it_is) {
    Plain server(echo);
    Proxy proxy(R"({"deadlines": {"tunnel_total": "1s"}})");
    Client client(proxy);
    ASSERT_EQ(client.connect_to(server.authority()).status(), 200);
    EXPECT_TRUE(eventually(
        [&] {
            client.raw("ping");
            auto const read = client.wire().receive(200ms);
            return read == Wire::Read::end || read == Wire::Read::reset;
        },
        6s));
}

// ---- WebSocket ----

namespace {

/// The words that the origin has sent back.
std::vector<std::string> speak_websocket(Client& client, Origin const& origin, std::vector<std::string> const& words) {
    auto reply = client.get("/chat", {{"Upgrade", "websocket"},
                                      {"Connection", "Upgrade"},
                                      {"Sec-WebSocket-Version", "13"},
                                      {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}});
    EXPECT_EQ(reply.status(), 101);
    if (reply.status() != 101) return {};
    EXPECT_EQ(lower(reply.field("Upgrade")), "websocket");
    EXPECT_EQ(lower(reply.field("Connection")), "upgrade");
    EXPECT_EQ(reply.field("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    EXPECT_EQ(lower(origin.last("/chat").head.field("Upgrade")), "websocket");
    std::vector<std::string> heard;
    for (auto const& word : words) {
        client.raw(websocket_frame(word, true));
        heard.push_back(take_websocket_frame(client.wire()));
    }
    client.close();
    return heard;
}

std::vector<std::string> const words{"hello", "again", pattern(300)};

}   // namespace

TEST(Upgrade, a_WebSocket_speaks_through_the_forward_proxy) {
    Origin origin;
    origin.by_hand("/chat", websocket_echo);
    Proxy proxy;
    Client client(proxy, origin);
    EXPECT_EQ(speak_websocket(client, origin, words), words);
}

TEST(Upgrade, a_WebSocket_speaks_through_an_accelerator) {
    Origin origin;
    origin.by_hand("/chat", websocket_echo);
    Proxy proxy(Proxy::Setup{.accelerates = origin.url()});
    Client client("127.0.0.1", proxy.accelerator());
    EXPECT_EQ(speak_websocket(client, origin, words), words);
}

TEST(Upgrade, an_origin_that_does_not_upgrade_answers_as_ever) {
    Origin origin;
    origin.answer("/chat", no_store("no chat"));
    Proxy proxy;
    Client client(proxy, origin);
    auto reply = client.get("/chat", {{"Upgrade", "websocket"}, {"Connection", "Upgrade"}});
    EXPECT_EQ(reply.status(), 200);
    EXPECT_EQ(reply.body(), "no chat");
    EXPECT_EQ(client.get("/chat").body(), "no chat");
}

TEST(Upgrade, an_origin_that_does_not_upgrade_gets_the_next_request_on_another_connection) {
    Origin origin;
    origin.answer("/chat", no_store("no chat"));
    Proxy proxy(R"({"workers": 1})");
    Client client(proxy, origin);
    EXPECT_EQ(client.get("/chat", {{"Upgrade", "websocket"}, {"Connection", "Upgrade"}}).body(), "no chat");
    auto const first = origin.last("/chat").connection;
    EXPECT_EQ(client.get("/chat").body(), "no chat");
    EXPECT_NE(origin.last("/chat").connection, first);
}

TEST(Upgrade, nobody_gets_past_the_rules_by_another_version_of_HTTP) {
    Origin origin;
    origin.answer("/page", fresh("page"));
    Proxy proxy;
    Client client(proxy, origin);
    Fields const to_h2c{{"Upgrade", "h2c"}, {"Connection", "Upgrade, HTTP2-Settings"}, {"HTTP2-Settings", "AAMAAABk"}};
    EXPECT_EQ(client.get("/page", to_h2c).body(), "page");
    auto const head = origin.last("/page").head;
    EXPECT_FALSE(head.has("Upgrade"));
    EXPECT_FALSE(head.has("HTTP2-Settings"));
    EXPECT_TRUE(client.get("/page", to_h2c).hit());
}

TEST(Upgrade, nobody_is_upgraded_who_did_not_ask) {
    Origin origin;
    origin.raw("/chat", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    Proxy proxy;
    EXPECT_EQ(get(proxy, origin, "/chat").status(), 502);
}

}   // namespace garner::test
