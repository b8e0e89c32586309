// Hostile HTTP/2 clients, frame by frame (RFC 9113 10.5): another client is served meanwhile, and the attacker is stopped.
#include <atomic>
#include <functional>
#include <thread>

#include "hostile/hostile.hpp"

namespace garner::test {

namespace {

std::string frame(char type, char flags, std::uint32_t stream, std::string_view payload) {
    std::string bytes;
    for (int shift : {16, 8, 0}) bytes += static_cast<char>(payload.size() >> shift);
    bytes += type;
    bytes += flags;
    for (int shift : {24, 16, 8, 0}) bytes += static_cast<char>(stream >> shift);
    return bytes.append(payload);
}

/// A literal field without indexing, its name in full (RFC 7541 6.2.2).
std::string field(std::string_view name, std::string_view value) {
    std::string bytes(1, '\0');
    bytes += static_cast<char>(name.size());
    bytes.append(name);
    bytes += static_cast<char>(value.size());
    return bytes.append(value);
}

enum Type : char {
    data = 0,
    headers = 1,
    priority = 2,
    rst_stream = 3,
    settings = 4,
    ping = 6,
    window_update = 8,
    continuation = 9
};
enum Flag : char { none = 0, end_stream = 1, end_headers = 4 };

/// A client that writes its own frames.
class RawHttp2 {
public:
    explicit RawHttp2(std::uint16_t port, std::string settings_payload = "") : wire_(Wire::connect("127.0.0.1", port)) {
        wire_.start_tls_client("localhost", "h2");
        send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(settings, none, 0, settings_payload));
    }
    bool send(std::string_view bytes) { return wire_.send(bytes); }
    bool request(std::uint32_t stream, std::string const& path, char flags = end_stream | end_headers) {
        auto const block = "\x82\x87" + field(":path", path) + field(":authority", "localhost");   // GET, https
        return send(frame(headers, flags, stream, block));
    }
    /// True once these bytes have come so often.
    bool receives(std::string_view bytes, std::size_t count) {
        return eventually([&] {
            std::size_t found = 0;
            auto const& all = wire_.buffer();
            for (auto at = all.find(bytes); at != all.npos; at = all.find(bytes, at + 1)) ++found;
            return found >= count || (wire_.receive(Millis{50}), false);
        });
    }
    /// The connection has ended.
    bool closed() {
        return eventually([&] { return wire_.receive(Millis{50}) != Wire::Read::data && wire_.peer_closed(); });
    }
    Wire& wire() { return wire_; }

private:
    Wire wire_;
};

struct Http2Attack : ::testing::Test {
    explicit Http2Attack(std::string const& patch = "{}") : proxy(setup(patch)) { origin.answer("/page", fresh("x")); }

    /// `attack` sends for one connection until it returns false, or for a second; a victim is served all the while.
    void run(std::function<bool(RawHttp2&, std::uint32_t step)> const& attack, bool is_stopped = true) {
        std::atomic<bool> over{false};
        RawHttp2 attacker(proxy.secure());
        bool stopped = false;
        std::thread thread([&] {
            std::uint32_t step = 0;
            while (!over && !stopped) stopped = !attack(attacker, step++);
        });
        auto const end = std::chrono::steady_clock::now() + 1s;
        int served = 0;
        while (std::chrono::steady_clock::now() < end) {
            EXPECT_EQ(victim.get("/page").body(), "x");
            ++served;
        }
        over = true;
        thread.join();
        EXPECT_GT(served, 20);
        if (is_stopped) EXPECT_TRUE(stopped || attacker.closed());
        EXPECT_EQ(victim.connections(), 1);
    }

    Proxy::Setup setup(std::string const& patch) {
        return {.patch = patch,
                .accelerates = origin.url(),
                .tls = R"({"certificates": [{"chain": ")" + dir.write("chain.pem", certificate.pem()) + R"(", "key": ")" +
                       dir.write("key.pem", certificate.key_pem()) + R"("}]})",
                .secure_origin = origin.url()};
    }

    Certificate certificate{"localhost"};
    TempDir dir;
    Origin origin;
    Proxy proxy;
    Client victim{"127.0.0.1", proxy.accelerator()};
};

struct SlowHttp2 : Http2Attack {
    SlowHttp2() : Http2Attack(R"({"deadlines": {"head": "300ms"}})") {}
};

}   // namespace

TEST_F(Http2Attack, streams_that_are_reset_at_once) {
    run([](RawHttp2& client, std::uint32_t step) {
        auto const stream = 2 * step + 1;
        return client.request(stream, "/page") && client.send(frame(rst_stream, none, stream, std::string_view("\0\0\0\x08", 4)));
    });
}

TEST_F(Http2Attack, resets_that_the_client_provokes) {
    run([](RawHttp2& client, std::uint32_t step) {
        auto const stream = 2 * step + 1;
        return client.request(stream, "/page") && client.send(frame(window_update, none, stream, std::string_view("\0\0\0\0", 4)));
    });
}

TEST_F(Http2Attack, a_head_without_an_end) {
    run([](RawHttp2& client, std::uint32_t step) {
        if (step == 0) return client.request(1, "/page", end_stream);
        return client.send(frame(continuation, none, 1, field("x-name", std::string(100, 'v'))));
    });
}

TEST_F(Http2Attack, floods_of_pings_and_settings) {
    run([](RawHttp2& client, std::uint32_t) { return client.send(frame(ping, none, 0, "12345678")); });
    run([](RawHttp2& client, std::uint32_t) { return client.send(frame(settings, none, 0, {})); });
}

TEST_F(Http2Attack, floods_of_priorities_and_empty_data) {
    run([](RawHttp2& client, std::uint32_t step) {
        return client.send(frame(priority, none, 2 * step + 1, std::string_view("\0\0\0\0\x10", 5)));
    });
    run([](RawHttp2& client, std::uint32_t step) {
        if (step == 0) return client.request(1, "/page", end_headers);
        return client.send(frame(data, none, 1, {}));
    });
}

TEST_F(Http2Attack, windows_of_zero_hold_no_other_client_up) {
    origin.answer("/film", fresh(pattern(3'000'000)));
    std::string const no_window("\0\x04\0\0\0\0", 6);
    std::vector<std::unique_ptr<RawHttp2>> attackers;
    for (int i = 0; i < 10; ++i) {
        auto& client = *attackers.emplace_back(std::make_unique<RawHttp2>(proxy.secure(), no_window));
        for (std::uint32_t stream = 1; stream < 100; stream += 2) ASSERT_TRUE(client.request(stream, "/film"));
    }
    for (int i = 0; i < 100; ++i) EXPECT_EQ(victim.get("/page").body(), "x");
    EXPECT_EQ(origin.requests("/film"), 1u);
}

TEST_F(Http2Attack, more_streams_than_allowed_are_refused_and_the_others_answered) {
    origin.by_hand("/slow", [](Hand& hand) {
        pause_for(300ms);
        hand.answer(no_store("here"));
    });
    RawHttp2 client(proxy.secure());
    for (std::uint32_t i = 0; i < 300; ++i) ASSERT_TRUE(client.request(2 * i + 1, "/slow"));
    EXPECT_EQ(victim.get("/page").body(), "x");
    EXPECT_TRUE(client.receives("here", 100));
    EXPECT_TRUE(client.receives(std::string_view("\0\0\x04\x03\0\0\0\0\xc9\0\0\0\x07", 13), 1)) << "REFUSED_STREAM for stream 201";
}

TEST_F(SlowHttp2, a_head_that_arrives_byte_by_byte_ends_the_connection) {
    RawHttp2 client(proxy.secure());
    ASSERT_TRUE(client.request(1, "/page"));
    ASSERT_TRUE(client.receives("x", 1));
    auto const head = frame(headers, end_stream | end_headers, 3,
                            "\x82\x87" + field("x-name", std::string(120, 'v')) + field("x-name", std::string(120, 'v')));
    std::size_t sent = 0;
    while (sent < head.size() - 1 && client.send(std::string_view(head).substr(sent, 1)) && !client.wire().peer_closed()) {
        pause_for(10ms);
        client.wire().receive(Millis{1});
        ++sent;
    }
    EXPECT_LT(sent, head.size() - 1);
    EXPECT_TRUE(client.closed());
    EXPECT_EQ(victim.get("/page").body(), "x");
}

TEST_F(SlowHttp2, a_connection_without_a_request_is_ended) {
    RawHttp2 client(proxy.secure());
    EXPECT_TRUE(client.closed());
}

}   // namespace garner::test
