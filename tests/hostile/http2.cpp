// Hostile HTTP/2 clients, frame by frame (RFC 9113 10.5): another client is served meanwhile, and the attacker is stopped.
#include <atomic>
#include <functional>
#include <thread>

#include "hostile/hostile.hpp"
#include "support/raw_http2.hpp"

namespace garner::test {

namespace {

using namespace h2;   // the frames

struct Http2Attack : ::testing::Test {
    explicit Http2Attack(std::string const& patch = "{}") : proxy(setup(patch)) { origin.answer("/page", fresh("x")); }

    /// `attack` sends for one connection until it returns false, or for a second (longer if the machine is slow). Success: the proxy
    /// has stopped it, and has served a victim all the while.
    ::testing::AssertionResult is_stopped(std::function<bool(RawHttp2&, std::uint32_t step)> const& attack) {
        std::atomic<bool> over{false};
        RawHttp2 attacker(proxy.secure());
        bool stopped = false;
        std::thread thread([&] {
            std::uint32_t step = 0;
            while (!over && !stopped) stopped = !attack(attacker, step++);
        });
        auto const begin = std::chrono::steady_clock::now();
        int served = 0, wrong = 0;
        for (auto taken = 0ns; taken < 1s || (served <= 20 && taken < 20s); taken = std::chrono::steady_clock::now() - begin)
            ++(victim.get("/page").body() == "x" ? served : wrong);
        over = true;
        thread.join();
        bool const served_well = served > 20 && wrong == 0 && victim.connections() == 1;
        if (served_well && (stopped || attacker.closed())) return ::testing::AssertionSuccess();
        return ::testing::AssertionFailure() << "served " << served << ", wrong " << wrong << ", connections of the victim "
                                             << victim.connections() << (stopped ? ", stopped" : ", not stopped");
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

std::string head_frames(std::uint32_t stream, std::string_view block) {
    constexpr std::size_t piece = 16'000;
    std::string frames;
    for (std::size_t at = 0; at < block.size(); at += piece) {
        auto const last = at + piece >= block.size() ? end_headers : no_flag;
        frames += frame(at == 0 ? headers_frame : continuation_frame, at == 0 ? end_stream | last : last, stream,
                        block.substr(at, piece));
    }
    return frames;
}

struct IdleHttp2 : Http2Attack {
    IdleHttp2() : Http2Attack(R"({"deadlines": {"keep_alive": "1s", "head": "1s"}})") {}

    /// The proxy closes the connection although the client sends `bytes` ten times a second.
    static bool is_closed_in_spite_of(RawHttp2& client, std::string_view bytes) {
        for (int i = 0; i < 60; ++i) {
            if (!client.send(bytes)) return true;
            auto const read = client.wire().receive(Millis{100});
            if (read == Wire::Read::end || read == Wire::Read::reset || client.wire().peer_closed()) return true;
            pause_for(100ms);
        }
        return false;
    }
};

struct UnreadHttp2 : Http2Attack {
    UnreadHttp2() : Http2Attack(R"({"deadlines": {"body": "1s"}})") {}
};

}   // namespace

TEST_F(Http2Attack, streams_that_are_reset_at_once) {
    EXPECT_TRUE(is_stopped([](RawHttp2& client, std::uint32_t step) {
        auto const stream = 2 * step + 1;
        return client.request(stream, "/page") && client.send(frame(rst_frame, no_flag, stream, number(8)));
    }));
    EXPECT_EQ(proxy.stats()["http2"]["ended"]["glitches"], 1);
}

TEST_F(Http2Attack, resets_that_the_client_provokes) {
    EXPECT_TRUE(is_stopped([](RawHttp2& client, std::uint32_t step) {
        auto const stream = 2 * step + 1;
        return client.request(stream, "/page") && client.send(frame(window_frame, no_flag, stream, number(0)));
    }));
}

TEST_F(Http2Attack, a_head_without_an_end) {
    EXPECT_TRUE(is_stopped([](RawHttp2& client, std::uint32_t step) {
        if (step == 0) return client.request(1, "/page", end_stream);
        return client.send(frame(continuation_frame, no_flag, 1, field_block({{"x-name", std::string(100, 'v')}})));
    }));
}

TEST_F(Http2Attack, floods_of_pings_and_settings) {
    EXPECT_TRUE(is_stopped([](RawHttp2& client, std::uint32_t) { return client.send(frame(ping_frame, no_flag, 0, "12345678")); }));
    EXPECT_TRUE(is_stopped([](RawHttp2& client, std::uint32_t) { return client.send(frame(settings_frame, no_flag, 0)); }));
}

TEST_F(Http2Attack, floods_of_priorities_and_empty_data) {
    EXPECT_TRUE(is_stopped([](RawHttp2& client, std::uint32_t step) {
        return client.send(frame(priority_frame, no_flag, 2 * step + 1, number(0) + "\x10"));
    }));
    EXPECT_TRUE(is_stopped([](RawHttp2& client, std::uint32_t step) {
        if (step == 0) return client.request(1, "/page", end_headers);
        return client.send(frame(data_frame, no_flag, 1));
    }));
}

TEST_F(Http2Attack, windows_of_zero_hold_no_other_client_up) {
    origin.answer("/film", fresh(pattern(3'000'000)));
    auto const no_window = number(4, 2) + number(0);
    std::vector<std::unique_ptr<RawHttp2>> attackers;
    for (int i = 0; i < 10; ++i) {
        auto& client = *attackers.emplace_back(std::make_unique<RawHttp2>(proxy.secure(), no_window));
        for (std::uint32_t stream = 1; stream < 100; stream += 2) ASSERT_TRUE(client.request(stream, "/film"));
    }
    for (int i = 0; i < 100; ++i) EXPECT_EQ(victim.get("/page").body(), "x");
    EXPECT_EQ(origin.requests("/film"), 1u);
}

TEST_F(UnreadHttp2, a_response_of_which_nothing_is_taken_is_reset_and_the_connection_stays) {
    origin.answer("/film", fresh(pattern(3'000'000)));
    origin.answer("/later", fresh("served all the same"));
    RawHttp2 client(proxy.secure(), number(4, 2) + number(0));
    ASSERT_TRUE(client.request(1, "/film"));
    auto const reset = frame(rst_frame, no_flag, 1, number(0)).substr(0, 9);   // with any code
    EXPECT_TRUE(client.receives(reset, 1));
    ASSERT_TRUE(client.request(3, "/later"));
    ASSERT_TRUE(client.send(frame(window_frame, no_flag, 3, number(1'000))));
    EXPECT_TRUE(client.receives("served all the same", 1));
    EXPECT_EQ(victim.get("/page").body(), "x");
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
    EXPECT_TRUE(client.receives(frame(rst_frame, no_flag, 201, number(7)), 1)) << "REFUSED_STREAM for stream 201";
    EXPECT_TRUE(eventually([&] { return proxy.stats()["http2"]["streams"]["now"] == 0; }));
    auto const stats = proxy.stats();
    auto const& streams = stats["http2"]["streams"];
    EXPECT_GE(streams["refused"], 1);
    EXPECT_EQ(streams["refused"].get<int>() + streams["total"].get<int>(), 300);
    EXPECT_EQ(stats["connections"]["protocols"]["http2"], 1);
}

TEST_F(SlowHttp2, a_head_that_arrives_byte_by_byte_ends_the_connection) {
    RawHttp2 client(proxy.secure());
    ASSERT_TRUE(client.request(1, "/page"));
    ASSERT_TRUE(client.receives("x", 1));
    std::string const value(120, 'v');
    auto const head = request_frame(3, RawHttp2::fields_of("/page", {{"x-name", value}, {"x-name", value}}));
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

TEST_F(Http2Attack, interim_responses_that_are_not_read_are_dropped) {
    constexpr std::size_t streams = 32, hints = 16;
    // Huffman code would make these bytes longer.
    std::string const hint = "HTTP/1.1 103 Early Hints\r\nLink: " + std::string(50'000, '{') + "\r\n\r\n";
    std::atomic<std::size_t> answered = 0;
    origin.by_hand("/hints", [&](Hand& hand) {
        for (std::size_t i = 0; i < hints; ++i) hand.send(hint);
        hand.answer(no_store("here"));
        ++answered;
    });
    RawHttp2 client(Wire::connect("127.0.0.1", proxy.secure(), 64 * 1024), "localhost");
    for (std::uint32_t i = 0; i < streams; ++i) ASSERT_TRUE(client.request(2 * i + 1, "/hints"));
    EXPECT_TRUE(eventually([&] { return answered == streams; }));
    EXPECT_EQ(victim.get("/page").body(), "x");
    while (client.wire().receive(Millis{1'000}) == Wire::Read::data) continue;
    EXPECT_TRUE(client.receives("here", streams));
    // Some arrive while the client reads: the kernel's buffers hold up to 5 MB in each direction.
    EXPECT_LT(client.wire().buffer().size(), streams * hints * hint.size() * 3 / 4);
}

TEST_F(Http2Attack, a_client_that_uses_up_the_memory_for_heads_leaves_some_to_others) {
    origin.by_hand("/slow", [](Hand& hand) {
        pause_for(3s);
        hand.answer(no_store("late"));
    });
    std::string const value(14'000, 'v'), small(8'000, 'v');
    auto const large = field_block(RawHttp2::fields_of("/slow", {{"a", value}, {"b", value}, {"c", value}, {"d", value}}));
    auto const rest = field_block(RawHttp2::fields_of("/slow", {{"a", small}}));
    std::vector<std::unique_ptr<RawHttp2>> attackers;
    for (int i = 0; i < 15; ++i) {
        auto& client = *attackers.emplace_back(
            std::make_unique<RawHttp2>(Wire::connect("127.0.0.1", proxy.secure(), 0, "127.0.0.2"), "localhost"));
        for (std::uint32_t stream = 1; stream < 200; stream += 2)
            ASSERT_TRUE(client.send(i < 13 ? head_frames(stream, large) : head_frames(stream, rest)));
    }
    RawHttp2 client(proxy.secure());
    for (std::uint32_t stream = 1; stream < 40; stream += 2)
        ASSERT_TRUE(client.send(request_frame(stream, RawHttp2::fields_of("/page", {{"cookie", std::string(8'000, 'c')}}))));
    EXPECT_TRUE(client.receives(frame(data_frame, end_stream, 39, "x"), 1));
    for (std::uint32_t stream = 1; stream < 40; stream += 2)
        EXPECT_TRUE(client.receives(frame(data_frame, end_stream, stream, "x"), 1)) << "431 for stream " << stream;
}

TEST_F(Http2Attack, memory_for_uploads_is_given_back_when_they_end) {
    origin.by_hand("/upload", [](Hand& hand) {
        hand.read_body();
        hand.answer(no_store("taken"));
    });
    std::vector<std::unique_ptr<RawHttp2>> clients;
    for (int i = 0; i < 12; ++i) {
        auto& client = *clients.emplace_back(std::make_unique<RawHttp2>(proxy.secure()));
        for (std::uint32_t stream : {1, 3, 5}) {
            auto fields = RawHttp2::fields_of("/upload");
            fields[0].second = "POST";
            ASSERT_TRUE(client.send(request_frame(stream, fields, 0)));
        }
        for (std::uint32_t stream : {1, 3, 5})
            ASSERT_TRUE(client.send(frame(data_frame, end_stream, stream, std::string(10'000, 'u'))));
        EXPECT_TRUE(client.receives("taken", 3));
    }
    EXPECT_TRUE(eventually([&] { return proxy.stats()["http2"]["streams"]["now"] == 0; }));
    auto const stats = proxy.stats();
    for (auto const& part : stats["memory_parts"])
        if (part["name"] == "http2") EXPECT_EQ(part["bytes"], 0);
    EXPECT_EQ(proxy.stats()["connections"]["protocols"]["http2"], 12);
}

TEST_F(IdleHttp2, a_connection_is_closed_when_no_stream_has_run_for_the_limit) {
    origin.by_hand("/slow", [](Hand& hand) {
        pause_for(2'500ms);
        hand.answer(no_store("here"));
    });
    RawHttp2 client(proxy.secure());
    ASSERT_TRUE(client.request(1, "/slow"));
    EXPECT_TRUE(client.receives("here", 1)) << "a request may take longer than the limit";
    auto const begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(client.closed());
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 700ms);
}

TEST_F(IdleHttp2, frames_without_a_request_do_not_keep_a_connection_open) {
    std::string unknown = frame(ping_frame, no_flag, 0, "12345678");
    auto const ping = unknown;
    unknown[3] = '\x42';
    for (auto const& bytes : {ping, unknown, frame(settings_frame, no_flag, 0)}) {
        RawHttp2 client(proxy.secure()), silent(proxy.secure());
        ASSERT_TRUE(client.request(1, "/page"));
        EXPECT_TRUE(client.receives("x", 1));
        EXPECT_TRUE(is_closed_in_spite_of(client, bytes));
        EXPECT_TRUE(is_closed_in_spite_of(silent, bytes)) << "without a request";
    }
}

TEST_F(SlowHttp2, a_connection_without_a_request_is_ended) {
    RawHttp2 client(proxy.secure());
    EXPECT_TRUE(client.closed());
}

}   // namespace garner::test
