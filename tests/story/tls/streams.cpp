// Streams of one HTTP/2 connection beside each other: one that stands still stops no other, and holds little memory.
#include <atomic>
#include <future>

#include "story/tls/secure_listener.hpp"
#include "support/raw_http2.hpp"
#include "support/websocket.hpp"

namespace garner::test {

namespace {

using namespace h2;   // the frames

constexpr std::size_t memory_of_a_stream = 2 << 20;   // windows, and a buffer for each direction
constexpr std::size_t of_sockets = 200'000'000;       // more than the kernel buffers of loopback take

/// The receive window of a stream, or of the connection (0), that the proxy has granted so far.
std::size_t granted(std::string_view received, std::uint32_t stream) {
    constexpr std::size_t frame_head = 9;
    std::size_t sum = 65'535;
    while (received.size() >= frame_head) {
        auto const size = frame_head + read_number(received.substr(0, 3));
        if (received.size() < size) break;
        bool const is_window = received[3] == window_frame && read_number(received.substr(5, 4)) == stream;
        if (is_window) sum += read_number(received.substr(frame_head, 4));
        received.remove_prefix(size);
    }
    return sum;
}

/// Sends DATA of `sent` bytes and more, until the proxy grants nothing for half a second. All bytes of the stream.
std::size_t send_until_blocked(RawHttp2& client, std::uint32_t stream, std::size_t sent = 0) {
    std::string const data(16'000, 'x');
    auto last = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - last < 500ms) {
        auto const& received = client.wire().buffer();
        if (std::min(granted(received, 0), granted(received, stream)) < sent + data.size()) {
            client.wire().receive(50ms);
            continue;
        }
        if (!client.send(frame(data_frame, no_flag, stream, data))) break;
        sent += data.size();
        last = std::chrono::steady_clock::now();
    }
    return sent;
}

struct Streams : ::testing::Test {
    ~Streams() override { over.set_value(); }

    WireFields fields(std::string_view method, std::string_view path) const {
        return {{":method", method}, {":scheme", "http"}, {":authority", authority}, {":path", path}};
    }
    std::string connect() const { return request_frame(1, {{":method", "CONNECT"}, {":authority", authority}}, no_flag); }
    std::string get_page(std::uint32_t stream) const { return request_frame(stream, fields("GET", "/page")); }
    static std::size_t memory(Proxy const& proxy) { return proxy.stats()["memory_sum"]["bytes"]; }

    /// The origin reads nothing more of requests for "/stuck".
    void be_stuck() {
        origin.by_hand("/stuck", [is_over = over.get_future().share()](Hand& hand) {
            hand.leave();
            is_over.wait();
        });
    }
    void expect_page(RawHttp2& client, std::uint32_t stream) const {
        EXPECT_TRUE(client.send(get_page(stream)));
        EXPECT_TRUE(client.receives("hello", 1));
    }

    CertificateFiles files{"localhost"};
    std::atomic<std::size_t> sent{0};   // by the origin
    std::atomic<bool> blocked{false};
    Origin origin;
    std::string const authority = origin.authority();
    std::promise<void> over;
    Proxy::Setup const forward{.patch = R"({"http2": {"window": "256 KiB"}})", .tls = files.tls()};
};

}   // namespace

TEST_F(Streams, an_upload_that_its_origin_does_not_read_stops_no_other) {
    be_stuck();
    origin.answer("/page", no_store("hello"));
    Proxy proxy(forward);
    RawHttp2 client(proxy.secure());
    auto const before = memory(proxy);
    ASSERT_TRUE(client.send(request_frame(1, fields("POST", "/stuck"), no_flag)));
    auto const taken = send_until_blocked(client, 1);
    EXPECT_GE(taken, 64'000u);
    EXPECT_LT(taken, of_sockets);
    EXPECT_LE(memory(proxy), before + memory_of_a_stream);
    expect_page(client, 3);
}

TEST_F(Streams, an_upload_that_its_client_resets_ends_although_its_origin_does_not_read) {
    be_stuck();
    Proxy proxy(forward);
    RawHttp2 client(proxy.secure());
    ASSERT_TRUE(client.send(request_frame(1, fields("POST", "/stuck"), no_flag)));
    send_until_blocked(client, 1);
    EXPECT_EQ(proxy.stats()["http2"]["streams"]["now"], 1);
    ASSERT_TRUE(client.send(frame(rst_frame, no_flag, 1, number(8))));
    EXPECT_TRUE(eventually([&] { return proxy.stats()["http2"]["streams"]["now"] == 0; }, 3s));
    EXPECT_THAT(proxy.logged("/stuck").tag, EndsWith("_ABORTED"));
}

TEST_F(Streams, a_tunnel_that_its_origin_does_not_read_stops_no_other) {
    be_stuck();
    origin.answer("/page", no_store("hello"));
    Proxy proxy(forward);
    RawHttp2 client(proxy.secure());
    auto const before = memory(proxy);
    auto const head = "POST /stuck HTTP/1.1\r\nHost: " + authority + "\r\nContent-Length: 1000000000\r\n\r\n";
    ASSERT_TRUE(client.send(connect() + frame(data_frame, no_flag, 1, head)));
    auto const taken = send_until_blocked(client, 1, head.size());
    EXPECT_GE(taken, 64'000u);
    EXPECT_LT(taken, of_sockets);
    EXPECT_LE(memory(proxy), before + memory_of_a_stream);
    expect_page(client, 3);
}

TEST_F(Streams, a_tunnel_that_its_client_does_not_read_stops_no_other) {
    origin.by_hand("/endless", [this](Hand& hand) {
        hand.leave();
        auto const block = pattern(1'000'000);
        for (auto size = block.size(); size == block.size() && sent < of_sockets; sent += size)
            size = hand.wire().send_until_blocked(block, 500ms);
        blocked = true;
    });
    origin.answer("/page", no_store("hello"));
    Proxy proxy(forward);
    RawHttp2 client(proxy.secure());
    auto const before = memory(proxy);
    auto const of_connection = frame(window_frame, no_flag, 0, number(10'000'000));
    ASSERT_TRUE(client.send(of_connection + connect() + frame(data_frame, no_flag, 1, "GET /endless HTTP/1.1\r\n\r\n")));
    EXPECT_TRUE(eventually([&] { return blocked.load(); }));
    EXPECT_LT(sent.load(), of_sockets);
    EXPECT_LE(memory(proxy), before + memory_of_a_stream);
    expect_page(client, 3);
}

TEST_F(Streams, an_upload_that_pauses_for_too_long_is_408_and_the_connection_stays) {
    origin.answer("/upload", no_store("taken"));
    origin.answer("/page", no_store("hello"));
    Proxy proxy(Proxy::Setup{.patch = R"({"deadlines": {"body": "300ms"}})", .tls = files.tls()});
    RawHttp2 client(proxy.secure());
    auto const head = request_frame(1, fields("POST", "/upload"), no_flag);
    ASSERT_TRUE(client.send(head + frame(data_frame, no_flag, 1, "hello")));
    EXPECT_EQ(proxy.logged("/upload").status, 408);
    EXPECT_EQ(proxy.stats()["connections"]["protocols"]["http2"], 1);
    ASSERT_TRUE(client.send(get_page(3)));
    EXPECT_TRUE(client.receives("hello", 1));
}

TEST_F(Streams, forty_requests_open_sixteen_connections_to_their_origin_at_once) {
    origin.otherwise([is_over = over.get_future().share()](Hand& hand) {
        hand.leave();
        is_over.wait();
    });
    Proxy proxy(forward);
    RawHttp2 client(proxy.secure());
    std::string requests;
    for (std::uint32_t i = 0; i < 40; ++i) requests += request_frame(2 * i + 1, fields("GET", "/" + std::to_string(i)));
    auto const begun = std::chrono::steady_clock::now();
    ASSERT_TRUE(client.send(requests));
    for (;;) {
        auto const connections = origin.connections();
        if (std::chrono::steady_clock::now() - begun > 900ms) break;   // fetches older than a second do not count
        EXPECT_LE(connections, 16u);
        pause_for(20ms);
    }
    EXPECT_TRUE(eventually([&] { return origin.connections() == 40; }));
}

TEST_F(Streams, a_WebSocket_speaks_through_the_forward_proxy_by_extended_CONNECT) {
    origin.by_hand("/chat", websocket_echo);
    Proxy proxy(forward);
    RawHttp2 client(proxy.secure());
    auto opening = fields("CONNECT", "/chat");
    opening.insert(opening.end(), {{":protocol", "websocket"}, {"sec-websocket-version", "13"}});
    ASSERT_TRUE(client.send(request_frame(1, opening, no_flag)));
    ASSERT_TRUE(client.send(frame(data_frame, no_flag, 1, websocket_frame("hello", true))));
    EXPECT_TRUE(client.receives(websocket_frame("hello", false), 1));
    ASSERT_TRUE(client.send(frame(data_frame, end_stream, 1)));
    EXPECT_EQ(proxy.logged(origin.url("/chat")).all.value("http", ""), "2.0");
}

}   // namespace garner::test
