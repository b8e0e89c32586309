// Hostile clients: floods, header bombs, malformed requests, windows that are never opened.
#include <gtest/gtest.h>

#include <list>
#include <span>

#include "h2/client.hpp"

namespace garner::h2 {
namespace {

/// The codes of the RST_STREAM frames, and of the GOAWAY frame if there is one.
struct Verdict {
    std::vector<std::uint32_t> resets;
    std::optional<std::uint32_t> goaway;
    friend bool operator==(Verdict const&, Verdict const&) = default;
    friend void PrintTo(Verdict const& verdict, std::ostream* out) {
        *out << "resets " << testing::PrintToString(verdict.resets) << ", goaway " << testing::PrintToString(verdict.goaway);
    }
};

Verdict verdict_in(std::string_view output) {
    Verdict verdict;
    for (auto const& one : frames_in(output)) {
        if (one.type == rst_frame) verdict.resets.push_back(one.code());
        if (one.type == goaway_frame) verdict.goaway = one.code();
    }
    return verdict;
}

/// Sends `frames` again and again, and reads what is answered. After how many the connection was ended with
/// ENHANCE_YOUR_CALM; 0: never.
int ended_after(Server& server, std::string_view frames, int times) {
    server.exchange(opening());
    for (int i = 1; i <= times; ++i) {
        auto const verdict = verdict_in(server.exchange(frames));
        if (!verdict.goaway) continue;
        EXPECT_EQ(verdict.goaway, NGHTTP2_ENHANCE_YOUR_CALM);
        EXPECT_TRUE(server.session.finished());
        EXPECT_NE(server.session.fault(), "");
        EXPECT_EQ(server.ended(ConnectionFault::glitches), 1u);
        return i;
    }
    return 0;
}

int ended_after(std::string_view frames, int times = 3'000) {
    Server server;
    return ended_after(server, frames, times);
}

// ---- floods ----

TEST(H2Hostile, floods_of_control_frames_end_the_connection) {
    EXPECT_EQ(ended_after(frame(ping_frame, 0, 0, "12345678")), 1'001);
    EXPECT_EQ(ended_after(frame(ping_frame, ack, 0, "12345678")), 1'001);
    EXPECT_EQ(ended_after(frame(settings_frame, 0, 0)), 1'001);
    EXPECT_EQ(ended_after(frame(priority_frame, 0, 3, number(0) + "\x10")), 1'001);
    EXPECT_EQ(ended_after(frame(goaway_frame, 0, 0, number(0) + number(0))), 0);   // nothing is read after the first one
}

TEST(H2Hostile, control_frames_at_a_moderate_rate_are_no_flood) {
    Server server;
    server.exchange(opening());
    for (int i = 0; i < 5'000; ++i) {
        server.now += milliseconds{10};
        ASSERT_EQ(verdict_in(server.exchange(frame(ping_frame, 0, 0, "12345678"))), Verdict{});
    }
}

TEST(H2Hostile, empty_data_frames_end_the_connection) {
    for (std::string const& empty : {frame(data_frame, 0, 1), frame(data_frame, padded, 1,
                                                                    "\x03"
                                                                    "abc")}) {
        Server server;
        server.exchange(opening() + request_frame(1, get_fields(), 0));
        int sent = 0;
        while (server.session.fault().empty() && ++sent < 3'000) server.exchange(empty);
        EXPECT_EQ(sent, 1'001);
    }
}

TEST(H2Hostile, a_client_that_resets_its_requests_is_ended) {
    Server server;
    server.answer = [&](Stream& stream) { ADD_FAILURE() << "stream " << stream.id() << " was reset before it was reported"; };
    server.exchange(opening());
    std::uint32_t id = 1;
    std::optional<std::uint32_t> goaway;
    int sent = 0;
    while (!goaway && ++sent < 3'000) {
        goaway = verdict_in(server.exchange(request_frame(id, get_fields()) + frame(rst_frame, 0, id, number(8)))).goaway;
        id += 2;
    }
    EXPECT_EQ(goaway, NGHTTP2_ENHANCE_YOUR_CALM);
    EXPECT_EQ(sent, 1'001);
}

TEST(H2Hostile, a_client_that_provokes_resets_is_ended) {
    struct Row {
        char const* how;
        std::function<std::string(std::uint32_t)> frames;
        std::uint32_t code;
    };
    std::vector<Row> const rows{
        {"overflowing windows",
         [](std::uint32_t id) { return request_frame(id, get_fields(), 0) + frame(window_frame, 0, id, number(0x7fffffff)); },
         NGHTTP2_FLOW_CONTROL_ERROR},
        {"malformed requests",
         [](std::uint32_t id) {
             return request_frame(id, get_fields({{"connection", "x"}}));
         },
         NGHTTP2_PROTOCOL_ERROR},
        {"more DATA than announced",
         [](std::uint32_t id) {
             return request_frame(id, get_fields({{"content-length", "1"}}), 0) + frame(data_frame, end_stream, id, "ab");
         },
         NGHTTP2_PROTOCOL_ERROR},
    };
    for (auto const& row : rows) {
        Server server;
        server.exchange(opening());
        int sent = 0;
        for (std::uint32_t id = 1; sent < 3'000; id += 2) {
            ++sent;
            auto const verdict = verdict_in(server.exchange(row.frames(id)));
            for (auto* stream : server.requests) server.session.release(*stream);
            server.requests.clear();
            if (verdict.goaway) break;
            ASSERT_FALSE(verdict.resets.empty()) << row.how;
            EXPECT_EQ(verdict.resets[0], row.code) << row.how;
        }
        EXPECT_EQ(sent, 1'001) << row.how;
    }
}

TEST(H2Hostile, a_window_opened_byte_by_byte_ends_the_connection) {
    Server server;
    std::string const text = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + std::string(100'000, 'x');
    server.answer = [&](Stream& stream) { server.send(stream, text); };
    server.exchange(std::string(preface) + frame(settings_frame, 0, 0, number(4, 2) + number(0)));
    server.exchange(request_frame(1, get_fields()));
    int sent = 0;
    while (server.session.fault().empty() && ++sent < 3'000) server.exchange(frame(window_frame, 0, 1, number(1)));
    EXPECT_EQ(sent, 1'002);   // the first tiny frame does not count
}

TEST(H2Hostile, continuation_frames_without_end_end_the_connection) {
    Server server;
    server.exchange(opening() + frame(headers_frame, end_stream, 1, field_block(get_fields())));
    int sent = 0;
    while (server.session.fault().empty() && ++sent < 100) server.exchange(frame(continuation_frame, 0, 1));
    EXPECT_LE(sent, 10);
    EXPECT_TRUE(server.session.finished());
    EXPECT_EQ(server.ended(ConnectionFault::flood), 1u);
}

TEST(H2Hostile, a_client_that_reads_nothing_queues_few_frames) {
    SessionLimits limits;
    limits.glitches = 0;
    Server server(limits);
    server.session.receive(opening(), server.now);
    std::uint32_t id = 1;
    int sent = 0;
    for (; server.session.fault().empty() && sent < 10'000; ++sent, id += 2)
        server.session.receive(request_frame(id, get_fields({{"connection", "x"}})), server.now);
    EXPECT_LT(sent, 2'000);
    EXPECT_EQ(server.ended(ConnectionFault::flood), 1u);
}

// ---- responses that the client does not read ----

Bytes size_of(std::span<iovec const> parts) {
    Bytes size = 0;
    for (auto const& part : parts) size += part.iov_len;
    return size;
}

TEST(H2Hostile, interim_heads_that_the_client_does_not_read_are_not_queued) {
    Server server;
    std::string const interim = "HTTP/1.1 103 Early Hints\r\nLink: " + std::string(30'000, 'x') + "\r\n\r\n";
    server.exchange(opening());
    for (std::uint32_t id = 1; id < 200; id += 2) server.session.receive(request_frame(id, get_fields()), server.now);
    Bytes queued = 0;
    for (int i = 0; i < 16; ++i) {
        for (auto* stream : server.requests) {
            server.send(*stream, interim);
            queued += interim.size() - size_of(server.session.withdraw(*stream));
        }
    }
    EXPECT_EQ(server.requests.size(), 100u);
    EXPECT_GE(queued, interim.size());
    EXPECT_LE(queued, 128 * KiB);
    EXPECT_GE(server.heads.used(), queued / 2) << "all but the last are charged";
    server.output();
    EXPECT_EQ(server.heads.used(), 0u);
    server.send(*server.requests[99], interim);
    EXPECT_TRUE(server.session.withdraw(*server.requests[99]).empty());
}

TEST(H2Hostile, without_budget_a_connection_queues_few_heads) {
    Server server({}, 0);
    std::string const interim = "HTTP/1.1 103 Early Hints\r\nLink: " + std::string(3'000, 'x') + "\r\n\r\n";
    server.exchange(opening() + request_frame(1, get_fields()));
    int queued = 0;
    while (queued < 100) {
        server.send(*server.requests[0], interim);
        if (!server.session.withdraw(*server.requests[0]).empty()) break;
        ++queued;
    }
    EXPECT_EQ(queued, 2);
}

TEST(H2Hostile, heads_wait_for_a_client_that_does_not_read_and_are_sent_when_it_does) {
    std::string const with_body = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX: " + std::string(30'000, 'x') + "\r\n\r\nbody";
    std::string const without = "HTTP/1.1 204 No Content\r\nX: " + std::string(30'000, 'x') + "\r\n\r\n";
    Server server;
    server.answer = [&](Stream& stream) {
        server.send(stream, stream.id() % 4 == 1 ? with_body : without);
        if (stream.is_sent()) server.session.release(stream);
    };
    server.at_sent = [&](Stream& stream) { server.session.release(stream); };
    Client client;
    for (int i = 0; i < 100; ++i) client.request(get_fields());
    EXPECT_TRUE(client.run(server));
    ASSERT_EQ(client.responses.size(), 100u);
    for (auto const& [id, response] : client.responses) {
        EXPECT_EQ(response.status(), id % 4 == 1 ? "200" : "204") << id;
        EXPECT_EQ(response.body, id % 4 == 1 ? "body" : "") << id;
        EXPECT_TRUE(response.ended) << id;
    }
    EXPECT_EQ(server.session.streams(), 0u);
    EXPECT_EQ(server.heads.used(), 0u);
}

TEST(H2Hostile, a_head_that_waits_is_forgotten_when_its_stream_is_reset) {
    std::string const head = "HTTP/1.1 200 OK\r\nX: " + std::string(60'000, 'x') + "\r\n\r\nbody";
    Server server;
    server.answer = [&](Stream& stream) { server.send(stream, head); };
    server.exchange(opening());
    for (std::uint32_t id = 1; id < 20; id += 2) server.session.receive(request_frame(id, get_fields()), server.now);
    EXPECT_FALSE(server.requests[9]->is_sent());
    server.session.receive(frame(rst_frame, 0, 19, number(8)), server.now);
    EXPECT_TRUE(server.requests[9]->is_gone());
    server.session.release(*server.requests[9]);
    for (std::uint32_t id = 21; id < 41; id += 2) server.session.receive(request_frame(id, get_fields()), server.now);
    EXPECT_TRUE(verdict_in(server.output()).resets.empty());
    for (auto* stream : server.requests)
        if (stream != server.resets[0] || stream->id() != 19) EXPECT_TRUE(stream->is_sent()) << stream->id();
}

// ---- heads ----

/// A head whose fields repeat one large entry of the dynamic table: one byte each.
std::string bomb(std::uint32_t id, int repeats) {
    std::string const value(4'000, 'x');
    std::string block = field_block(get_fields());
    block += '\x40';   // literal with indexing
    block.append(hpack_number(1, 127)).append("x").append(hpack_number(value.size(), 127)).append(value);
    for (int i = 0; i < repeats; ++i) block += '\xbe';   // index 62, the newest entry
    return frame(headers_frame, end_stream | end_headers, id, block);
}

TEST(H2Hostile, a_head_of_more_than_twice_the_limit_ends_the_connection) {
    Server server;
    server.exchange(opening());
    server.exchange(bomb(1, 8'000));
    EXPECT_EQ(server.session.fault(), "a head of more than twice the limit");
    EXPECT_TRUE(server.session.finished());
    EXPECT_TRUE(server.requests.empty());
    EXPECT_EQ(server.heads.used(), 0u);
    EXPECT_EQ(server.ended(ConnectionFault::large_head), 1u);
}

TEST(H2Hostile, large_heads_are_answered_431_and_the_connection_lives) {
    Server server;
    std::string const page = "HTTP/1.1 431 Too Large\r\nContent-Length: 0\r\n\r\n";
    server.answer = [&](Stream& stream) {
        EXPECT_EQ(stream.parsed().kind, http::HeadParse::Kind::refused);
        EXPECT_EQ(stream.parsed().status, 431);
        server.send(stream, page);
        server.session.release(stream);
    };
    server.exchange(opening());
    for (std::uint32_t id = 1; id < 200; id += 2) EXPECT_EQ(verdict_in(server.exchange(bomb(id, 25))), Verdict{});
    EXPECT_EQ(server.requests.size(), 100u);
    EXPECT_EQ(server.heads.used(), 0u);
    server.answer = nullptr;
    server.exchange(request_frame(201, get_fields()));   // the header table is intact
    EXPECT_EQ(server.requests.back()->parsed().kind, http::HeadParse::Kind::complete);
}

TEST(H2Hostile, too_many_refused_heads_end_the_connection) {
    Server server({.head = {.fields = 5}});
    server.answer = [&](Stream& stream) { server.session.release(stream); };
    server.exchange(opening());
    int sent = 0;
    for (std::uint32_t id = 1; server.session.fault().empty() && sent < 3'000; id += 2, ++sent)
        server.exchange(request_frame(id, get_fields({{"a", ""}, {"b", ""}, {"c", ""}, {"d", ""}, {"e", ""}, {"f", ""}})));
    EXPECT_EQ(sent, 1'001);
}

TEST(H2Hostile, large_heads_of_all_connections_share_the_budget) {
    Server server({}, 160 * KiB);   // a client alone has a quarter
    std::string const value(10'000, 'x');
    server.exchange(opening());
    for (std::uint32_t id = 1; id < 12; id += 2) server.exchange(request_frame(id, get_fields({{"x", value}})));
    std::vector<bool> accepted;
    for (auto* stream : server.requests) accepted.push_back(stream->parsed().kind == http::HeadParse::Kind::complete);
    EXPECT_EQ(accepted, (std::vector<bool>{true, true, true, true, true, false}));
    server.exchange(request_frame(21, get_fields({{"x", std::string_view(value).substr(0, 1'000)}})));
    EXPECT_EQ(server.requests.back()->parsed().kind, http::HeadParse::Kind::complete);
    for (auto* stream : server.requests) server.session.release(*stream);
    server.output();
    EXPECT_EQ(server.heads.used(), 0u);
}

TEST(H2Hostile, an_incomplete_head_is_seen_and_a_malformed_one_holds_no_memory) {
    Server server;
    std::string const value(10'000, 'x');
    std::string const block = field_block(get_fields({{"a", value}, {"connection", "x"}}));
    server.exchange(opening());
    EXPECT_EQ(server.session.incomplete_head(), 0);
    server.exchange(frame(headers_frame, end_stream, 1, block.substr(0, block.size() - 5)));
    EXPECT_EQ(server.session.incomplete_head(), 1);
    EXPECT_GT(server.heads.used(), 0u);
    server.exchange(frame(continuation_frame, end_headers, 1, block.substr(block.size() - 5)));
    EXPECT_EQ(server.session.incomplete_head(), 0);
    EXPECT_EQ(server.heads.used(), 0u);
    EXPECT_EQ(server.session.streams(), 0u);
}

// ---- streams ----

TEST(H2Hostile, streams_beyond_the_limit_are_refused) {
    Server server({.streams = 3, .head = {}});
    server.exchange(opening());
    Verdict expected;
    for (std::uint32_t id = 1; id < 12; id += 2) {
        auto const verdict = verdict_in(server.exchange(request_frame(id, get_fields())));
        if (id < 7)
            expected = {};
        else
            expected = {{NGHTTP2_REFUSED_STREAM}, std::nullopt};
        EXPECT_EQ(verdict, expected) << id;
    }
    EXPECT_EQ(server.requests.size(), 3u);
    EXPECT_EQ(server.counters.streams.value(), 3u);
    EXPECT_EQ(server.counters.streams_refused.value(), 3u);
    EXPECT_EQ(server.counters.streams_ended.value(), 0u);
}

TEST(H2Hostile, streams_of_an_ended_session_count_as_ended) {
    Budget budget{MiB};
    ClientMemory client{budget, budget};
    Counters counters;
    struct Silent : Handler {
        void on_request(Stream&) override {}
        void on_body(Stream&) override {}
        void on_sent(Stream&) override {}
        void on_reset(Stream&) override {}
    } handler;
    {
        Session session(handler, {}, client, counters);
        session.receive(opening() + request_frame(1, get_fields()) + request_frame(3, get_fields()), SteadyTime{});
        EXPECT_EQ(counters.streams.value(), 2u);
        EXPECT_EQ(counters.streams_ended.value(), 0u);
    }
    EXPECT_EQ(counters.streams_ended.value(), 2u);
}

/// nghttp2's own rule, stricter than RFC 9113 5.1.2.
TEST(H2Hostile, a_client_that_opens_more_streams_than_it_acknowledged_is_ended) {
    Server server({.streams = 3, .head = {}});
    server.exchange(opening() + frame(settings_frame, ack, 0));
    for (std::uint32_t id = 1; id < 6; id += 2) EXPECT_EQ(verdict_in(server.exchange(request_frame(id, get_fields()))), Verdict{});
    EXPECT_EQ(verdict_in(server.exchange(request_frame(7, get_fields()))).goaway, NGHTTP2_PROTOCOL_ERROR);
}

TEST(H2Hostile, a_reset_stream_counts_until_its_work_is_over) {
    Server server({.streams = 3, .head = {}});
    server.exchange(opening());
    for (std::uint32_t id = 1; id < 6; id += 2)
        server.exchange(request_frame(id, get_fields())), server.exchange(frame(rst_frame, 0, id, number(8)));
    EXPECT_EQ(server.resets.size(), 3u);
    EXPECT_EQ(verdict_in(server.exchange(request_frame(7, get_fields()))), (Verdict{{NGHTTP2_REFUSED_STREAM}, std::nullopt}));
    server.session.release(*server.resets[0]);
    EXPECT_EQ(verdict_in(server.exchange(request_frame(9, get_fields()))), Verdict{});
    EXPECT_EQ(server.requests.size(), 4u);
}

// ---- malformed requests ----

TEST(H2Hostile, malformed_requests_are_reset_and_never_told_of) {
    auto const without = [](std::string_view name) {
        auto fields = get_fields();
        std::erase_if(fields, [&](auto const& field) { return field.first == name; });
        return fields;
    };
    auto const with = [](std::string_view name, std::string_view value) {
        auto fields = get_fields();
        for (auto& field : fields)
            if (field.first == name) field.second = value;
        return fields;
    };
    auto late = get_fields({{"accept", "*/*"}});
    std::swap(late[3], late[4]);
    std::vector<WireFields> const rows{
        get_fields({{"connection", "close"}}),
        get_fields({{"keep-alive", "1"}}),
        get_fields({{"transfer-encoding", "chunked"}}),
        get_fields({{"upgrade", "h2c"}}),
        get_fields({{"proxy-connection", "x"}}),
        get_fields({{"te", "gzip"}}),
        get_fields({{":path", "/"}}),
        get_fields({{":unknown", "x"}}),
        late,
        without(":method"),
        without(":scheme"),
        without(":path"),
        without(":authority"),
        with(":method", "GET\r\nX: y"),
        with(":method", "G T"),
        with(":path", "/a b"),
        with(":path", "/ HTTP/1.1\r\nX: y"),
        with(":path", {"/\0", 2}),
        with(":path", "a"),
        with(":authority", "a\r\nb"),
        with(":authority", "a/b"),
        get_fields({{"X", "y"}}),
        get_fields({{"x", "a\r\nb: c"}}),
        get_fields({{"x", {"a\0", 2}}}),
        get_fields({{"x\r\ny", "z"}}),
        get_fields({{"x y", "z"}}),
        get_fields({{"", "z"}}),
        get_fields({{"x", " y"}}),
        get_fields({{"content-length", "5"}}),
        get_fields({{"content-length", "x"}}),
        get_fields({{"content-length", "0"}, {"content-length", "0"}}),
        get_fields({{"host", "a.example"}, {"host", "a.example"}}),
        {{":method", "CONNECT"}, {":authority", "a:1"}, {":path", "/"}},
    };
    for (auto const& fields : rows) {
        Server server;
        server.exchange(opening());
        EXPECT_EQ(verdict_in(server.exchange(request_frame(1, fields))), (Verdict{{NGHTTP2_PROTOCOL_ERROR}, std::nullopt}))
            << testing::PrintToString(fields);
        EXPECT_TRUE(server.requests.empty());
        EXPECT_EQ(server.session.streams(), 0u);
    }
}

TEST(H2Hostile, a_host_that_differs_from_the_authority_is_refused) {
    Server server;
    server.exchange(opening());
    server.exchange(request_frame(1, get_fields({{"host", "b.example"}})));
    ASSERT_EQ(server.requests.size(), 1u);
    EXPECT_EQ(server.requests[0]->parsed().status, 400);
    EXPECT_STREQ(server.requests[0]->parsed().refusal, "Host differs from :authority");
}

TEST(H2Hostile, a_length_that_differs_from_the_data_is_reset) {
    for (std::string const data : {"abcd", "abcdef"}) {
        Server server;
        server.exchange(opening() + request_frame(1, get_fields({{"content-length", "5"}}), 0));
        EXPECT_EQ(verdict_in(server.exchange(frame(data_frame, end_stream, 1, data))),
                  (Verdict{{NGHTTP2_PROTOCOL_ERROR}, std::nullopt}));
        EXPECT_EQ(server.resets.size(), 1u);
        EXPECT_FALSE(server.requests[0]->body_done());
    }
}

TEST(H2Hostile, pseudo_fields_in_trailers_are_reset) {
    Server server;
    server.exchange(opening() + request_frame(1, get_fields(), 0));
    EXPECT_EQ(verdict_in(server.exchange(request_frame(1, {{":path", "/"}}))), (Verdict{{NGHTTP2_PROTOCOL_ERROR}, std::nullopt}));
    EXPECT_EQ(server.resets.size(), 1u);
}

TEST(H2Hostile, trailers_of_running_requests_are_charged) {
    Server server({}, 160 * KiB);   // a client alone has a quarter
    server.exchange(opening());
    std::string const block = field_block({{"a", std::string(9'000, 'x')}});
    for (std::uint32_t id = 1; id < 12; id += 2) server.exchange(request_frame(id, get_fields(), 0));
    for (std::uint32_t id = 1; id < 12; id += 2) server.exchange(frame(headers_frame, end_stream | end_headers, id, block));
    int refused = 0;
    for (auto* stream : server.requests) refused += stream->body_refusal() != nullptr;
    EXPECT_EQ(refused, 2);
    EXPECT_STREQ(server.requests[5]->body_refusal(), "no memory for the trailer section");
    for (auto* stream : server.requests) server.session.release(*stream);
    server.output();
    EXPECT_EQ(server.heads.used(), 0u);
}

TEST(H2Hostile, trailers_that_are_too_large_are_refused) {
    Server server;
    server.exchange(opening() + request_frame(1, get_fields(), 0));
    std::string const value(9'000, 'x');
    std::string const block = field_block({{"a", value}, {"b", value}});
    server.exchange(frame(headers_frame, end_stream, 1, block.substr(0, 10'000)) +
                    frame(continuation_frame, end_headers, 1, block.substr(10'000)));
    EXPECT_STREQ(server.requests[0]->body_refusal(), "trailer section too large");
}

// ---- the connection ----

TEST(H2Hostile, broken_rules_of_the_connection_end_it) {
    struct Row {
        std::string bytes;
        std::uint32_t code;
    };
    std::vector<Row> const rows{
        {frame(data_frame, 0, 0, "x"), NGHTTP2_PROTOCOL_ERROR},
        {frame(data_frame, 0, 1, "x"), NGHTTP2_PROTOCOL_ERROR},
        {frame(headers_frame, end_headers, 2, field_block(get_fields())), NGHTTP2_PROTOCOL_ERROR},
        {frame(headers_frame, end_headers, 1, "\xff\xff\xff\xff\xff\xff"), NGHTTP2_COMPRESSION_ERROR},
        {frame(push_frame, end_headers, 1, number(2) + field_block(get_fields())), NGHTTP2_PROTOCOL_ERROR},
        {frame(window_frame, 0, 0, number(0)), NGHTTP2_PROTOCOL_ERROR},
        {frame(window_frame, 0, 0, number(0x7fffffff)), NGHTTP2_FLOW_CONTROL_ERROR},
        {frame(settings_frame, 0, 0, "x"), NGHTTP2_FRAME_SIZE_ERROR},
        {frame(settings_frame, ack, 0), NGHTTP2_NO_ERROR},   // acknowledges this server's settings
        {frame(ping_frame, 0, 0, "x"), NGHTTP2_FRAME_SIZE_ERROR},
        {frame(continuation_frame, 0, 1), NGHTTP2_PROTOCOL_ERROR},
        {number(16'385, 3) + std::string(6, '\0'), NGHTTP2_FRAME_SIZE_ERROR},
    };
    for (auto const& row : rows) {
        Server server;
        server.exchange(opening());
        auto const verdict = verdict_in(server.exchange(row.bytes));
        EXPECT_EQ(verdict.goaway.value_or(0), row.code) << testing::PrintToString(row.bytes);
        EXPECT_EQ(server.session.finished(), row.code != 0);
        EXPECT_EQ(server.session.fault().empty(), row.code == 0);
        EXPECT_EQ(server.ended(ConnectionFault::protocol), row.code != 0 ? 1u : 0u);
    }
}

TEST(H2Hostile, bytes_that_are_no_http2_end_the_connection_without_an_answer) {
    Server server;
    server.output();
    EXPECT_FALSE(server.session.receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n", server.now));
    EXPECT_EQ(server.output(), "");
    EXPECT_TRUE(server.session.finished());
    EXPECT_EQ(server.ended(ConnectionFault::protocol), 1u);
    EXPECT_FALSE(server.session.receive(opening(), server.now));
}

TEST(H2Hostile, a_client_may_send_no_more_than_the_window) {
    Server server;
    server.reads = false;
    server.exchange(opening() + request_frame(1, get_fields(), 0));
    std::string const chunk = frame(data_frame, 0, 1, std::string(16'000, 'x'));
    std::optional<std::uint32_t> goaway;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(verdict_in(server.exchange(chunk)), Verdict{});
    goaway = verdict_in(server.exchange(chunk)).goaway;
    EXPECT_EQ(goaway, NGHTTP2_FLOW_CONTROL_ERROR);
}

TEST(H2Hostile, bodies_are_charged_until_they_are_taken) {
    Server server;
    server.reads = false;
    server.exchange(opening() + frame(window_frame, 0, 0, number(1'000'000)));
    for (std::uint32_t id = 1; id < 8; id += 2) server.exchange(request_frame(id, get_fields(), 0));
    for (std::uint32_t id = 1; id < 8; id += 2)
        for (int i = 0; i < 4; ++i) server.exchange(frame(data_frame, i == 3 ? end_stream : 0, id, std::string(16'000, 'x')));
    EXPECT_EQ(server.session.fault(), "");
    EXPECT_GE(server.windows.used(), 4 * 64'000u - 65'535);
    server.reads = true;
    for (auto* stream : server.requests) server.on_body(*stream);
    EXPECT_EQ(server.windows.used(), 0u);
}

TEST(H2Hostile, a_window_that_was_given_back_is_not_used_twice) {
    Server server;
    Client client;
    server.at_end = [&](Stream& stream) {
        server.send(stream, "HTTP/1.1 204 No Content\r\n\r\n");
        server.session.release(stream);
    };
    std::list<Client::Upload> uploads;
    for (int i = 0; i < 50; ++i) {
        auto const id = client.request(get_fields({}), &uploads.emplace_back(std::string(3'000'000, 'x')));
        ASSERT_TRUE(client.run(server)) << i;
        ASSERT_TRUE(client.responses[id].ended) << i;
        ASSERT_EQ(server.windows.used(), 0u) << i;
    }
    // What the client may send now was promised while it had a large window: nothing more comes on top.
    server.reads = false;
    server.requests.clear();
    for (int i = 0; i < 50; ++i) {
        client.request(get_fields({}), &uploads.emplace_back(std::string(60'000, 'x'), true));
        client.run(server);
    }
    Bytes held = 0;
    for (auto* stream : server.requests) held += stream->received();
    EXPECT_GE(held, 2'900'000u);
    EXPECT_GE(server.windows.used() + 65'535, held);
}

TEST(H2Hostile, an_upload_is_refused_if_a_former_promise_is_all_it_could_use) {
    Server server({}, 4 * MiB);   // a client alone has a quarter
    Client client;
    server.at_end = [&](Stream& stream) {
        server.send(stream, "HTTP/1.1 204 No Content\r\n\r\n");
        server.session.release(stream);
    };
    std::list<Client::Upload> uploads;
    client.request(get_fields({}), &uploads.emplace_back(std::string(600'000, 'x')));
    ASSERT_TRUE(client.run(server));
    EXPECT_EQ(server.windows.used(), 0u);
    ASSERT_TRUE(server.client.windows.take(MiB)) << "by another connection of the client";
    server.reads = false;
    std::vector<std::int32_t> ids;
    for (int i = 0; i < 3; ++i)
        ids.push_back(client.request(get_fields({}), &uploads.emplace_back(std::string(60'000, 'x'), true)));
    client.run(server);
    EXPECT_EQ(client.responses[ids[0]].closed, std::nullopt);
    EXPECT_EQ(client.responses[ids[1]].closed, NGHTTP2_REFUSED_STREAM);
    EXPECT_EQ(client.responses[ids[2]].closed, NGHTTP2_REFUSED_STREAM);
    EXPECT_EQ(server.counters.streams_refused.value(), 2u);
    EXPECT_EQ(server.session.fault(), "");
    server.client.windows.give(MiB);
}

TEST(H2Hostile, requests_cut_anywhere_are_the_same) {
    std::string const all = opening() + request_frame(1, get_fields({{"x", "y"}}), 0) + frame(data_frame, 0, 1, "hello") +
                            frame(data_frame, end_stream, 1, "world") + frame(ping_frame, 0, 0, "12345678");
    for (std::size_t step = 1; step < 20; ++step) {
        Server server;
        for (std::size_t at = 0; at < all.size(); at += step) server.exchange(std::string_view(all).substr(at, step));
        ASSERT_EQ(server.requests.size(), 1u);
        EXPECT_EQ(server.body_of(*server.requests[0]), "helloworld");
        EXPECT_TRUE(server.requests[0]->body_done());
        EXPECT_EQ(server.session.fault(), "");
    }
}

}   // namespace
}   // namespace garner::h2
