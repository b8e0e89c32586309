// Connections over TLS in a takeover: they end in the former process, within `deadlines.handover`, and no request is lost.
#include "story/takeover/load.hpp"
#include "story/takeover/service.hpp"
#include "story/tls/secure_listener.hpp"
#include "support/programs.hpp"
#include "support/raw_http2.hpp"

namespace garner::test {

namespace {

constexpr Millis after_requests{30'000};

struct TakeoverTls : ::testing::Test {
    TakeoverTls() {
        origin.answer("/page", fresh("page"));
        origin.answer("/live", no_store("live"));
    }
    bool request(RawHttp2& client, std::uint32_t stream, std::string const& path) const {
        h2::WireFields const fields{{":method", "GET"}, {":scheme", "http"}, {":authority", origin.authority()}, {":path", path}};
        return client.send(h2::frame(h2::headers_frame, h2::end_stream | h2::end_headers, stream, h2::field_block(fields)));
    }
    Client client(Service& service) const { return secure_client(service.proxy(), "localhost"); }

    CertificateFiles files{"localhost"};
    Origin origin;
};

}   // namespace

TEST_F(TakeoverTls, requests_and_idle_connections_end_in_the_former_process) {
    Service service(R"({"deadlines": {"drain_idle": "10s"}})", files.tls());
    auto slow = origin.hold("/slow"), stream = origin.hold("/stream");
    auto busy = client(service), idle = client(service);
    RawHttp2 streams(service.proxy().secure());
    EXPECT_EQ(idle.get(origin.url("/live")).body(), "live");
    auto const reply = busy.get(origin.url("/slow"));
    ASSERT_TRUE(request(streams, 1, "/stream"));
    slow.arrived(1);
    stream.arrived(1);
    ASSERT_TRUE(service.take_over()) << service.refused();
    auto later = client(service);
    EXPECT_EQ(later.get(origin.url("/page")).body(), "page") << "in the new process";
    EXPECT_TRUE(service.proxy().child().running()) << "requests are in progress";
    EXPECT_TRUE(streams.receives_goaway()) << service.errors();
    auto const last = idle.get(origin.url("/live"));
    EXPECT_EQ(last.body(), "live") << last.trouble();
    EXPECT_EQ(last.field("Connection"), "close");
    EXPECT_TRUE(idle.closed_by_proxy());
    slow.release(no_store("slow"));
    EXPECT_EQ(reply.body(), "slow") << reply.trouble() << service.errors();
    EXPECT_EQ(reply.field("Connection"), "close");
    stream.release(no_store("of the stream"));
    EXPECT_TRUE(streams.receives("of the stream", 1)) << service.errors();
    service.expect_former_to_end(after_requests);
    EXPECT_TRUE(later.get(origin.url("/page")).hit());
    EXPECT_EQ(later.connections() + idle.connections() + busy.connections(), 3);
}

TEST_F(TakeoverTls, requests_streams_and_tunnels_have_the_time_of_handover) {
    Service service(R"({"deadlines": {"handover": "7s"}})", files.tls());
    auto slow = origin.hold("/slow");
    auto busy = client(service), tunnel = client(service);
    Echo echo;
    ASSERT_EQ(tunnel.connect_to(echo.authority()).status(), 200);
    RawHttp2 streams(service.proxy().secure());
    auto const reply = busy.get(origin.url("/slow"));
    slow.arrived(1);
    ASSERT_TRUE(request(streams, 1, "/slow"));
    auto const begun = std::chrono::steady_clock::now();
    ASSERT_TRUE(service.take_over()) << service.refused();
    for (int i = 0; i < 5; ++i) {
        std::string const text = "number " + std::to_string(i);
        tunnel.raw(text);
        EXPECT_EQ(tunnel.wire().take(text.size()), text) << "it goes on in the former process" << service.errors();
        pause_for(100ms);
    }
    service.expect_former_to_end(Millis{30'000});
    auto const time = std::chrono::steady_clock::now() - begun;
    EXPECT_GT(time, 6s);
    EXPECT_LT(time, 20s);
    EXPECT_TRUE(service.proxy().says("aborting a pending request: GET " + origin.url("/slow"))) << service.proxy().errors();
    EXPECT_TRUE(service.proxy().says("aborting a pending request: CONNECT " + echo.authority())) << service.proxy().errors();
    EXPECT_FALSE(reply.complete());
    EXPECT_TRUE(tunnel.closed_by_proxy());
    EXPECT_TRUE(streams.closed());
    slow.release(no_store("late"));
}

TEST_F(TakeoverTls, sessions_are_resumed_in_the_new_process) {
    NEEDS("openssl");
    Service service("{}", files.tls());
    auto const session = files.dir.path("session").string();
    auto const visit = [&](std::string const& version, std::string const& option) {
        auto const command = "printf 'GET / HTTP/1.0\\r\\n\\r\\n' | openssl s_client -connect localhost:" +
                             std::to_string(service.proxy().secure()) + " -ign_eof " + version + " " + option + " " + session +
                             " 2>&1";
        return run({"sh", "-c", command}, Millis{60'000}).output;
    };
    for (std::string const version : {"-tls1_2", "-tls1_3"}) {
        EXPECT_THAT(visit(version, "-sess_out"), HasSubstr("New, TLSv1"));
        for (int i = 0; i < 2; ++i) {
            ASSERT_TRUE(service.take_over()) << service.refused();
            service.expect_former_to_end(after_requests);
            EXPECT_THAT(visit(version, "-sess_in"), HasSubstr("Reused, TLSv1"));
        }
    }
}

}   // namespace garner::test
