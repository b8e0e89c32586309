// HTTP/2 with real clients: curl, Chromium, nghttp2's nghttp and h2load, node:http2.
#include <signal.h>

#include "story/tls/secure_listener.hpp"
#include "support/raw_http2.hpp"
#include "support/websocket.hpp"

namespace garner::test {

namespace {

constexpr int parts = 100;

struct Http2 : ::testing::Test {
    std::string secure_url(Proxy const& proxy, std::string const& path) {
        return "https://localhost:" + std::to_string(proxy.secure()) + path;
    }
    /// curl with ALPN h2 to the accelerator; the body and the version.
    std::string curl(std::vector<std::string> const& arguments) {
        std::vector<std::string> command{"curl",     "-sS",         "--http2", "--max-time",         "60",
                                         "--cacert", files.chain(), "-w",      " by %{http_version}"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        auto const finished = run(command, 70s);
        EXPECT_EQ(finished.code, 0) << finished.errors;
        return finished.output;
    }
    /// Runs a script of node:http2; `c` is a session with the forward proxy, `origin` an authority.
    std::string node(Proxy const& proxy, std::string const& authority, std::string const& script) {
        auto const file =
            files.dir.write("script.js", "const http2 = require('http2');\nconst origin = '" + authority + "';\n" +
                                             "const c = http2.connect('https://localhost:" + std::to_string(proxy.secure()) +
                                             "', {rejectUnauthorized: false});\n" + script);
        auto const finished = run({"node", file}, 60s);
        EXPECT_EQ(finished.code, 0) << finished.errors;
        return finished.output;
    }
    /// What nghttp prints: the body, or its log of frames with "-v".
    std::string nghttp(std::vector<std::string> const& arguments) {
        std::vector<std::string> command{"nghttp", "-t", "60"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        auto const finished = run(command, 70s);
        EXPECT_EQ(finished.code, 0) << finished.errors;
        return finished.output;
    }
    /// Pseudo-fields of a request to the forward proxy for http://AUTHORITY.
    std::vector<std::string> of_origin() const { return {"-H", ":scheme: http", "-H", ":authority: " + origin.authority()}; }
    std::string spki_flag() const { return "--ignore-certificate-errors-spki-list=" + files.certificate.spki_hash(); }

    CertificateFiles files{"localhost"};
    Origin origin;
    Proxy::Setup const forward{.tls = files.tls()};
    Proxy::Setup const accelerator{.tls = files.tls(), .secure_origin = origin.url()};
};

/// A page with parts that each count, and the protocol by which they came.
void script_page(Origin& origin) {
    std::string page = "<!DOCTYPE html><link rel=icon href=data:,><body><script>var came = 0;</script>\n";
    for (int i = 0; i < parts; ++i) {
        auto const path = "/part/" + std::to_string(i) + ".js";
        origin.answer(path, fresh("came++; // " + pattern(1000, i), 600, {{"Content-Type", "text/javascript"}}));
        page += "<script src='" + path + "'></script>\n";
    }
    page += "<p id=result></p><script>onload = () => { var all = performance.getEntriesByType('resource');\n"
            "result.textContent = 'came: ' + came + ' by ' + all[all.length - 1].nextHopProtocol; }</script>\n";
    origin.answer("/page", fresh(page, 600, {{"Content-Type", "text/html"}}));
}

}   // namespace

TEST_F(Http2, responses_of_every_kind_are_those_of_HTTP_1) {
    NEEDS("curl");
    auto const film = pattern(3'000'000);
    origin.answer("/page", fresh("hello"));
    origin.answer("/film", fresh(film));
    origin.answer("/live", {.body = "live", .delimited = Delimited::by_chunks});
    Proxy proxy(accelerator);
    EXPECT_EQ(curl({secure_url(proxy, "/page")}), "hello by 2");
    EXPECT_EQ(proxy.logged("/page").tag, "TCP_MISS");   // two workers write their lines in either order
    EXPECT_EQ(curl({secure_url(proxy, "/page")}), "hello by 2");
    EXPECT_EQ(proxy.logged("/page", 2).tag, "TCP_MEM_HIT");
    EXPECT_TRUE(curl({secure_url(proxy, "/film")}) == film + " by 2");
    EXPECT_EQ(curl({"-r", "1000-1999", secure_url(proxy, "/film")}), film.substr(1000, 1000) + " by 2");
    EXPECT_EQ(curl({secure_url(proxy, "/live")}), "live by 2");
    EXPECT_THAT(curl({"-I", secure_url(proxy, "/film")}), HasSubstr("content-length: 3000000"));
    EXPECT_EQ(origin.last("/page").head.field("X-Forwarded-Proto"), "https");
    EXPECT_THAT(origin.last("/page").head.field("Via"), StartsWith("2.0 "));
}

TEST_F(Http2, uploads_with_and_without_a_length_arrive) {
    NEEDS("curl");
    origin.answer("/upload", no_store("taken"));
    Proxy proxy(accelerator);
    auto const body = pattern(5'000'000, 7);
    auto const file = files.dir.write("body", body);
    EXPECT_EQ(curl({"--data-binary", "@" + file, secure_url(proxy, "/upload")}), "taken by 2");
    EXPECT_TRUE(origin.last("/upload").body == body);
    auto const piped =
        run({"sh", "-c",
             "cat " + file + " | curl -sS --http2 -T - -X POST --cacert " + files.chain() + " " + secure_url(proxy, "/upload")},
            60s);
    EXPECT_EQ(piped.output, "taken");
    EXPECT_TRUE(origin.last("/upload").body == body);
}

TEST_F(Http2, an_upload_may_wait_for_100_Continue) {
    NEEDS("curl");
    origin.answer("/upload", no_store("taken"));
    Proxy proxy(accelerator);
    auto const text = curl({"-i", "-H", "Expect: 100-continue", "-d", "body", secure_url(proxy, "/upload")});
    EXPECT_THAT(text, AllOf(StartsWith("HTTP/2 100"), HasSubstr("HTTP/2 200"), EndsWith("taken by 2")));
    EXPECT_EQ(origin.last("/upload").body, "body");
}

TEST_F(Http2, responses_may_have_trailers) {
    NEEDS("nghttp");
    origin.answer("/live", {.fields = {{"Cache-Control", "no-store"}, {"Trailer", "X-Sum"}},
                            .body = "live",
                            .delimited = Delimited::by_chunks,
                            .trailers = {{"X-Sum", "7"}}});
    Proxy proxy(accelerator);
    EXPECT_THAT(nghttp({"-v", "-n", "-H", "te: trailers", secure_url(proxy, "/live")}), HasSubstr("x-sum: 7"));
}

TEST_F(Http2, an_empty_body_of_unknown_length_has_an_end) {
    origin.answer("/upload", no_store("taken"));
    origin.answer("/page", no_store("hello"));
    auto const authority = origin.authority();
    h2::WireFields const fields{{":method", "POST"}, {":scheme", "http"}, {":authority", authority}, {":path", "/upload"}};
    Proxy proxy(forward);
    RawHttp2 client(proxy.secure());
    auto const empty = h2::frame(h2::data_frame, h2::end_stream, 1);
    ASSERT_TRUE(client.send(h2::request_frame(1, fields, h2::no_flag) + empty));
    EXPECT_TRUE(client.receives("taken", 1));
    auto const trailers = h2::request_frame(3, {{"x-sum", "1"}});
    ASSERT_TRUE(client.send(h2::request_frame(3, fields, h2::no_flag) + trailers));
    EXPECT_TRUE(client.receives("taken", 2));
    EXPECT_EQ(origin.last("/upload").body, "");
    Client next(proxy);   // it may get the same connection to the origin
    EXPECT_EQ(next.get(origin.url("/page")).body(), "hello");
}

TEST_F(Http2, interim_responses_come_before_the_final_one) {
    NEEDS("curl");
    origin.by_hand("/page", [](Hand& hand) {
        hand.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
        pause_for(100ms);
        hand.send("HTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\n");
        hand.answer(no_store("hello"));
    });
    Proxy proxy(accelerator);
    auto const text = curl({"-i", secure_url(proxy, "/page")});
    EXPECT_THAT(text, AllOf(StartsWith("HTTP/2 103"), HasSubstr("link: </a>"), HasSubstr("link: </b>"), HasSubstr("HTTP/2 200")));
    EXPECT_THAT(text, EndsWith("hello by 2"));
}

TEST_F(Http2, a_body_that_its_origin_truncates_is_reset) {
    NEEDS("curl");
    origin.by_hand("/broken", [](Hand& hand) {
        hand.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
        hand.wire().reset();
    });
    Proxy proxy(accelerator);
    auto const finished = run({"curl", "-sS", "--http2", "--cacert", files.chain(), secure_url(proxy, "/broken")}, 60s);
    EXPECT_EQ(finished.code, 92) << finished.errors;   // CURLE_HTTP2_STREAM
}

TEST_F(Http2, many_streams_of_many_connections_are_all_answered) {
    NEEDS("h2load");
    origin.answer("/page", fresh("hello"));
    origin.answer("/film", fresh(pattern(1'000'000)));
    Proxy proxy(accelerator);
    auto const load = [&](std::string const& path, std::string const& count) {
        return run({"h2load", "-n", count, "-c", "8", "-m", "32", secure_url(proxy, path)}, 60s).output;
    };
    EXPECT_THAT(load("/page", "5000"), HasSubstr("5000 succeeded, 0 failed, 0 errored"));
    EXPECT_THAT(load("/film", "100"), HasSubstr("100 succeeded, 0 failed, 0 errored"));
}

TEST_F(Http2, many_streams_through_the_forward_proxy_are_all_answered) {
    NEEDS("h2load");
    origin.answer("/page", fresh("hello"));
    Proxy proxy(forward);
    std::vector<std::string> command{"h2load", "-n", "3000", "-c", "4", "-m", "32"};
    for (auto const& word : of_origin()) command.push_back(word);
    command.push_back(secure_url(proxy, "/page"));
    auto const told = run(command, 60s).output;
    EXPECT_THAT(told, HasSubstr("3000 succeeded, 0 failed, 0 errored"));
    EXPECT_THAT(told, HasSubstr("status codes: 3000 2xx"));
    EXPECT_THAT(told, HasSubstr("Application protocol: h2"));
    EXPECT_EQ(origin.requests("/page"), 1u);
    EXPECT_EQ(proxy.stats()["connections"]["protocols_total"]["http2"], 4);
}

TEST_F(Http2, each_stream_counts_for_a_quota) {
    NEEDS("h2load");
    origin.answer("/page", no_store("hello"));
    auto setup = accelerator;
    setup.patch = R"({"quotas": [{"name": "guests", "requests": 7}]})";
    Proxy proxy(setup);
    auto const told = run({"h2load", "-n", "40", "-c", "2", "-m", "20", secure_url(proxy, "/page")}, 60s).output;
    EXPECT_THAT(told, HasSubstr("status codes: 7 2xx, 0 3xx, 33 4xx, 0 5xx"));
    EXPECT_EQ(origin.requests("/page"), 7u);
    EXPECT_EQ(proxy.stats()["quotas"][0]["used"], 7);
}

TEST_F(Http2, nghttp_gets_pages_from_an_accelerator_and_uploads_with_trailers) {
    NEEDS("nghttp");
    auto const film = pattern(3'000'000);
    origin.answer("/film", fresh(film));
    origin.answer("/upload", no_store("taken"));
    Proxy proxy(accelerator);
    EXPECT_TRUE(nghttp({secure_url(proxy, "/film")}) == film);
    EXPECT_TRUE(nghttp({secure_url(proxy, "/film")}) == film);
    EXPECT_EQ(proxy.logged("/film", 2).status, 200);
    EXPECT_EQ(origin.requests("/film"), 1u);
    EXPECT_THAT(nghttp({"-v", "-H", ":method: HEAD", secure_url(proxy, "/film")}), HasSubstr("content-length: 3000000"));
    auto const body = pattern(300'000, 5);
    auto const file = files.dir.write("body", body);
    EXPECT_EQ(nghttp({"-d", file, "--no-content-length", "--trailer", "x-sum: 7", secure_url(proxy, "/upload")}), "taken");
    auto const uploaded = origin.last("/upload");
    EXPECT_TRUE(uploaded.body == body);
    EXPECT_EQ(uploaded.head.method(), "POST");
    EXPECT_EQ(uploaded.trailers, (Fields{{"x-sum", "7"}}));
}

TEST_F(Http2, nghttp_gets_pages_through_the_forward_proxy) {
    NEEDS("nghttp");
    origin.answer("/page", fresh("hello"));
    Proxy proxy(Proxy::Setup{.patch = R"({"workers": 1})", .tls = files.tls()});   // one worker: its log lines are in order
    auto arguments = of_origin();
    arguments.push_back(secure_url(proxy, "/page"));
    EXPECT_EQ(nghttp(arguments), "hello");
    arguments.insert(arguments.begin(), "-v");
    EXPECT_THAT(nghttp(arguments), HasSubstr("; hit; ttl="));
    EXPECT_EQ(proxy.logged(origin.url("/page"), 2).tag, "TCP_MEM_HIT");
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST_F(Http2, a_stream_that_is_not_read_stops_no_other) {
    NEEDS("node");
    origin.answer("/film", fresh(pattern(10'000'000)));
    origin.answer("/page", fresh("hello"));
    Proxy proxy(forward);
    auto const get = "const get = (path) => c.request({':scheme': 'http', ':authority': origin, ':path': path});\n";
    EXPECT_EQ(node(proxy, origin.authority(), std::string(get) + R"(
const film = get('/film'); film.pause();
film.on('response', () => { const page = get('/page'); page.setEncoding('utf8');
  page.on('data', (d) => process.stdout.write(d));
  page.on('end', () => { let n = 0; film.on('data', (d) => n += d.length);
    film.on('end', () => { process.stdout.write(' ' + n); c.close(); }); film.resume(); }); });
)"),
              "hello 10000000");
}

TEST_F(Http2, CONNECT_carries_bytes_both_ways_and_half_closes) {
    NEEDS("node");
    origin.by_hand("/echo", [](Hand& hand) {
        hand.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        while (hand.wire().receive() == Wire::Read::data) {
            hand.send(hand.wire().buffer());
            hand.wire().buffer().clear();
        }
    });
    Proxy proxy(forward);
    EXPECT_EQ(node(proxy, origin.authority(), R"(
const s = c.request({':method': 'CONNECT', ':authority': origin});
let text = '';
s.on('response', (h) => { text += h[':status'] + ' '; s.write('GET /echo HTTP/1.1\r\nHost: x\r\n\r\n');
  setTimeout(() => { s.write('A'.repeat(3000000)); s.end(); }, 200); });
let n = 0; s.on('data', (d) => n += d.length);
s.on('end', () => { process.stdout.write(text + (n > 3000000)); c.close(); });
)"),
              "200 true");
    EXPECT_EQ(proxy.logged(origin.authority()).method, "CONNECT");
}

TEST_F(Http2, a_tunnel_that_the_client_resets_after_its_half_close_ends_at_once) {
    auto held = origin.hold("/held");
    Proxy proxy(forward);
    RawHttp2 client(proxy.secure());
    auto const authority = origin.authority();
    ASSERT_TRUE(client.send(h2::request_frame(1, {{":method", "CONNECT"}, {":authority", authority}}, h2::no_flag)));
    auto const text = "GET /held HTTP/1.1\r\nHost: " + authority + "\r\n\r\n";
    ASSERT_TRUE(client.send(h2::frame(h2::data_frame, h2::end_stream, 1, text)));
    held.arrived();
    EXPECT_EQ(proxy.stats()["http2"]["streams"]["now"], 1);
    ASSERT_TRUE(client.send(h2::frame(h2::rst_frame, h2::no_flag, 1, h2::number(8))));
    EXPECT_TRUE(eventually([&] { return proxy.stats()["http2"]["streams"]["now"] == 0; }, 3s));
    EXPECT_EQ(proxy.logged(authority).method, "CONNECT");
}

TEST_F(Http2, a_refused_tunnel_has_its_page) {
    NEEDS("node");
    Proxy proxy(Proxy::Setup{.patch = R"({"access": [{"deny": "all"}]})", .tls = files.tls()});
    EXPECT_THAT(node(proxy, "blocked.example:443", R"(
const s = c.request({':method': 'CONNECT', ':authority': origin});
s.setEncoding('utf8');
s.on('response', (h) => process.stdout.write(h[':status'] + ' '));
s.on('data', (d) => process.stdout.write(d));
s.on('end', () => c.close());
)"),
                StartsWith("403 "));
}

TEST_F(Http2, SIGTERM_lets_running_streams_end) {
    NEEDS("node");
    origin.by_hand("/slow", [](Hand& hand) {
        hand.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
        pause_for(1s);
        hand.send("world");
    });
    Proxy proxy(forward);
    std::string output;
    std::thread client([&] {
        output = node(proxy, origin.authority(), R"(
const s = c.request({':scheme': 'http', ':authority': origin, ':path': '/slow'});
s.setEncoding('utf8');
s.on('data', (d) => process.stdout.write(d));
s.on('end', () => process.stdout.write(' end'));
c.on('close', () => process.stdout.write(' closed'));
)");
    });
    ASSERT_TRUE(eventually([&] { return origin.requests("/slow") == 1; }));
    pause_for(300ms);
    proxy.signal(SIGTERM);
    client.join();
    EXPECT_EQ(output, "helloworld end closed");
    EXPECT_EQ(proxy.ended(), 0);
}

/// Without GOAWAY such a client sends request after request until the deadline of the stop aborts them.
TEST_F(Http2, a_connection_whose_handshake_ends_during_a_stop_gets_GOAWAY) {
    origin.answer("/page", fresh("hello"));
    auto setup = accelerator;
    setup.patch = R"({"deadlines": {"drain_idle": "20s", "drain": "60s"}})";
    Proxy proxy(setup);
    auto connected = Wire::connect("127.0.0.1", proxy.secure());
    ASSERT_TRUE(eventually([&] { return proxy.stats()["connections"]["now"] == 1; }));
    proxy.signal(SIGTERM);
    ASSERT_TRUE(proxy.refuses_connections());
    {
        RawHttp2 client(std::move(connected), "localhost");
        ASSERT_TRUE(client.request(1, "/page"));
        EXPECT_TRUE(client.receives("hello", 1));
        EXPECT_TRUE(client.receives_goaway());
    }
    EXPECT_EQ(proxy.ended(), 0);
}

TEST_F(Http2, a_browser_loads_a_page_of_a_hundred_parts_from_an_accelerator) {
    NEEDS("chromium");
    script_page(origin);
    Proxy proxy(accelerator);
    auto const came = "came: " + std::to_string(parts) + " by h2";
    EXPECT_THAT(browse(secure_url(proxy, "/page"), "", {spki_flag()}), HasSubstr(came));
    EXPECT_THAT(browse(secure_url(proxy, "/page"), "", {spki_flag()}), HasSubstr(came));
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST_F(Http2, a_browser_loads_it_through_an_HTTPS_proxy) {
    NEEDS("chromium");
    script_page(origin);
    Proxy proxy(forward);
    auto const page = browse(origin.url("/page"), secure_url(proxy, ""), {spki_flag()});
    EXPECT_THAT(page, HasSubstr("came: " + std::to_string(parts) + " by h2"));
}

/// A page that speaks over a WebSocket, and keeps loading until that has answered.
void script_chat(Origin& origin) {
    origin.answer("/page", no_store("<!DOCTYPE html><link rel=icon href=data:,><body><p id=result>silence</p><script>\n"
                                    "var scheme = location.protocol == 'https:' ? 'wss://' : 'ws://';\n"
                                    "var socket = new WebSocket(scheme + location.host + '/chat');\n"
                                    "socket.onopen = () => socket.send('hello');\n"
                                    "socket.onmessage = (m) => { result.textContent = 'heard: ' + m.data; fetch('/heard'); };\n"
                                    "</script><img src=/gate>"));
    origin.by_hand("/chat", websocket_echo);
    origin.answer("/heard", no_store("good"));
    origin.by_hand("/gate", [&origin](Hand& hand) {
        eventually([&] { return origin.requests("/heard") > 0; });
        hand.answer(no_store(""));
    });
}

TEST_F(Http2, a_WebSocket_speaks_through_an_HTTPS_proxy) {
    NEEDS("chromium");
    script_chat(origin);
    Proxy proxy(forward);
    EXPECT_THAT(browse(origin.url("/page"), secure_url(proxy, ""), {spki_flag()}), HasSubstr("heard: hello"));
    EXPECT_EQ(origin.requests("/chat"), 1u);
}

TEST_F(Http2, a_WebSocket_that_its_origin_accepts_wrongly_is_502) {
    NEEDS("node");
    std::string const switches = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n";
    std::vector<std::pair<std::string, std::string>> const rows{
        {switches + "Upgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n", "Sec-WebSocket-Accept"},
        {switches + "Upgrade: websocket\r\n\r\n", "Sec-WebSocket-Accept"},
        {switches + "Upgrade: chat\r\n\r\n", "another protocol than websocket"}};
    std::string text;
    origin.by_hand("/chat", [&](Hand& hand) {
        hand.leave();
        hand.send(text);
        hand.wire().take_all();
    });
    origin.by_hand("/good", websocket_echo);
    Proxy proxy(accelerator);
    auto const ask = [&](std::string const& path) {
        return node(proxy, "localhost", "const path = '" + path + "';" + R"(
c.on('remoteSettings', () => {
  const s = c.request({':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'https', ':path': path, ':authority': origin,
                       'sec-websocket-version': '13'});
  s.setEncoding('utf8');
  s.on('response', (h) => { process.stdout.write(h[':status'] + ' '); if (h[':status'] == 200) { s.close(8); c.close(); } });
  s.on('data', (d) => process.stdout.write(d));
  s.on('error', () => {});
  s.on('close', () => c.close());
});
)");
    };
    for (auto const& [response, reason] : rows) {
        text = response;
        EXPECT_THAT(ask("/chat"), AllOf(StartsWith("502 "), HasSubstr(reason)));
    }
    EXPECT_EQ(origin.requests("/chat"), rows.size());
    EXPECT_EQ(ask("/good"), "200 ");
}

TEST_F(Http2, a_WebSocket_speaks_through_an_accelerator_by_extended_CONNECT) {
    NEEDS("chromium");
    script_chat(origin);
    Proxy proxy(accelerator);
    EXPECT_THAT(browse(secure_url(proxy, "/page"), "", {spki_flag()}), HasSubstr("heard: hello"));
    EXPECT_EQ(origin.requests("/chat"), 1u);
    EXPECT_EQ(proxy.logged("/chat").all.value("http", ""), "2.0");
}

}   // namespace garner::test
