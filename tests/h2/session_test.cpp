// Exchanges with nghttp2's client: requests and responses of every form, back-pressure, tunnels, draining.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "h2/client.hpp"

namespace garner::h2 {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::string made_body(std::size_t size) {
    std::string body(size, ' ');
    for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>('a' + (i * 7 + i / 1'000) % 26);
    return body;
}

std::string response_of(std::string_view body, std::string_view more = {}) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + std::string(more) + "\r\n" +
           std::string(body);
}

/// A server that answers every request with `text`, and releases its stream when the text is framed.
struct Answering : Server {
    explicit Answering(std::string answered, SessionLimits const& limits = {}) : Server(limits), text(std::move(answered)) {
        answer = [this](Stream& stream) {
            Server::send(stream, text);
            if (stream.is_sent()) session.release(stream);   // a head alone
        };
        at_sent = [this](Stream& stream) {
            if (releases) session.release(stream);
        };
    }
    std::string text;
    bool releases = true;
};

TEST(H2Session, answers_a_get_with_one_head_and_one_data_frame) {
    Answering server(response_of("hello", "Age: 7\r\nConnection: close\r\n"));
    auto const frames = frames_in(server.exchange(opening() + request_frame(1, get_fields())));
    ASSERT_EQ(frames.size(), 4u);
    EXPECT_EQ(frames[0].type, settings_frame);
    EXPECT_EQ(frames[1].type, settings_frame);
    EXPECT_EQ(frames[1].flags, ack);
    EXPECT_EQ(frames[2].type, headers_frame);
    EXPECT_EQ(frames[2].flags, end_headers);
    EXPECT_EQ(frames[3].type, data_frame);
    EXPECT_EQ(frames[3].flags, end_stream);
    EXPECT_EQ(frames[3].payload, "hello");
    EXPECT_EQ(server.session.streams(), 0u);
}

TEST(H2Session, announces_its_limits) {
    Server server({.streams = 7, .head = {.bytes = 5'000}});
    auto const frames = frames_in(server.output());
    ASSERT_EQ(frames.size(), 1u);
    std::map<std::uint32_t, std::uint32_t> settings;
    for (std::string_view rest = frames[0].payload; !rest.empty(); rest.remove_prefix(6))
        settings[read_number(rest.substr(0, 2))] = read_number(rest.substr(2, 4));
    EXPECT_EQ(settings, (std::map<std::uint32_t, std::uint32_t>{{3, 7}, {6, 5'000}, {8, 1}, {9, 1}}));
}

TEST(H2Session, client_gets_fields_and_body) {
    Answering server(response_of("hello", "Age: 7\r\nConnection: close\r\n"));
    Client client;
    auto const id = client.request(get_fields());
    EXPECT_TRUE(client.run(server));
    auto const& response = client.responses[id];
    EXPECT_THAT(response.fields, ElementsAre(Pair(":status", "200"), Pair("content-length", "5"), Pair("age", "7")));
    EXPECT_EQ(response.body, "hello");
    EXPECT_TRUE(response.ended);
    EXPECT_EQ(response.closed, 0u);
}

TEST(H2Session, responses_without_body_end_with_their_head) {
    WireFields head = get_fields();
    head[0].second = "HEAD";
    struct Row {
        WireFields request;
        std::string response;
    };
    for (auto const& row : {Row{head, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"}, Row{head, response_of("this is dropped")},
                            Row{get_fields(), "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"},
                            Row{get_fields(), "HTTP/1.1 204 No Content\r\n\r\n"}, Row{get_fields(), response_of("")}}) {
        Answering server(row.response);
        Client client;
        auto const id = client.request(row.request);
        EXPECT_TRUE(client.run(server));
        EXPECT_TRUE(client.responses[id].ended) << row.response;
        EXPECT_EQ(client.responses[id].closed, 0u) << row.response;
        EXPECT_EQ(client.responses[id].body, "");
        EXPECT_EQ(server.session.streams(), 0u) << row.response;
    }
}

TEST(H2Session, interim_heads_come_before_the_final_one) {
    std::string const hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    Answering server(hints + hints + response_of("x"));
    Client client;
    auto const id = client.request(get_fields());
    EXPECT_TRUE(client.run(server));
    EXPECT_THAT(client.responses[id].interim, ElementsAre(ElementsAre(Pair(":status", "103"), Pair("link", "</a>")),
                                                          ElementsAre(Pair(":status", "103"), Pair("link", "</a>"))));
    EXPECT_EQ(client.responses[id].status(), "200");
    EXPECT_EQ(client.responses[id].body, "x");
}

TEST(H2Session, a_body_of_unknown_length_ends_when_told_with_its_trailers) {
    for (std::string const trailers : {"", "X-Sum: 1\r\nY: 2\r\n"}) {
        Server server;
        std::string const text = "HTTP/1.1 200 OK\r\n\r\nhello";
        server.answer = [&](Stream& stream) {
            server.send(stream, text);
            server.session.end(stream, trailers);   // before or after the last bytes: the proxy's writer does both
        };
        server.at_sent = [&](Stream& stream) { server.session.release(stream); };
        Client client;
        auto const id = client.request(get_fields());
        EXPECT_TRUE(client.run(server));
        auto const& response = client.responses[id];
        EXPECT_EQ(response.body, "hello");
        EXPECT_TRUE(response.ended);
        EXPECT_EQ(response.closed, 0u);
        if (!trailers.empty()) EXPECT_THAT(response.trailers, ElementsAre(Pair("x-sum", "1"), Pair("y", "2")));
        EXPECT_EQ(server.session.streams(), 0u);
    }
}

TEST(H2Session, the_end_may_be_told_long_after_the_bytes) {
    Server server;
    std::string const text = "HTTP/1.1 200 OK\r\n\r\nhello";
    server.answer = [&](Stream& stream) { server.send(stream, text); };
    Client client;
    auto const id = client.request(get_fields());
    EXPECT_TRUE(client.run(server));
    EXPECT_EQ(client.responses[id].body, "hello");
    EXPECT_FALSE(client.responses[id].ended);
    server.session.end(*server.requests[0], {});
    server.session.release(*server.requests[0]);
    EXPECT_TRUE(client.run(server));
    EXPECT_TRUE(client.responses[id].ended);
    EXPECT_EQ(client.responses[id].closed, 0u);
    EXPECT_EQ(server.session.streams(), 0u);
}

TEST(H2Session, a_truncated_body_is_reset_and_never_ended) {
    for (bool const told : {true, false}) {
        Server server;
        std::string const text = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello";
        server.answer = [&](Stream& stream) { server.send(stream, text); };
        Client client;
        auto const id = client.request(get_fields());
        client.run(server);
        if (told) server.session.end(*server.requests[0], {});
        if (!told) server.session.release(*server.requests[0]);
        client.run(server);
        EXPECT_FALSE(client.responses[id].ended);
        EXPECT_EQ(client.responses[id].closed, NGHTTP2_INTERNAL_ERROR);
    }
}

TEST(H2Session, a_stream_released_without_response_is_reset) {
    Server server;
    server.answer = [&](Stream& stream) { server.session.release(stream); };
    Client client;
    auto const id = client.request(get_fields());
    client.run(server);
    EXPECT_EQ(client.responses[id].closed, NGHTTP2_INTERNAL_ERROR);
    EXPECT_EQ(server.session.streams(), 0u);
}

TEST(H2Session, what_is_no_response_is_reset) {
    for (std::string const text :
         {"nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nNo-End: 1\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n"}) {
        Server server;
        server.answer = [&](Stream& stream) { server.send(stream, text); };
        Client client;
        auto const id = client.request(get_fields());
        client.run(server);
        EXPECT_EQ(client.responses[id].closed, NGHTTP2_INTERNAL_ERROR) << text;
    }
}

// ---- large responses ----

TEST(H2Session, a_large_body_waits_for_the_window_and_fills_records) {
    auto const body = made_body(300'000);
    Answering server(response_of(body));
    Client client;
    client.takes = false;
    auto const id = client.request(get_fields());
    client.run(server);
    EXPECT_EQ(client.responses[id].body.size(), 65'535u);
    EXPECT_FALSE(server.requests[0]->is_sent());
    EXPECT_EQ(server.sent, 0);
    client.takes = true;
    nghttp2_session_consume(client.session(), id, 65'535);
    EXPECT_TRUE(client.run(server));
    EXPECT_EQ(client.responses[id].body, body);
    EXPECT_EQ(client.responses[id].closed, 0u);
    EXPECT_EQ(server.sent, 1);
}

TEST(H2Session, frames_fit_into_the_room_that_is_left) {
    auto const body = made_body(60'000);
    for (std::size_t const room : {1'024u, 1'500u, 9'000u, 16'384u, 65'536u}) {
        Answering server(response_of(body));
        Client client;
        auto const id = client.request(get_fields());
        EXPECT_TRUE(client.run(server, room));
        EXPECT_EQ(client.responses[id].body, body) << room;
    }
}

TEST(H2Session, a_data_frame_fills_a_tls_record) {
    auto const body = made_body(60'000);
    Answering server(response_of(body));
    std::size_t largest = 0;
    for (auto const& one : frames_in(server.exchange(opening() + request_frame(1, get_fields()))))
        if (one.type == data_frame) largest = std::max(largest, one.payload.size());
    EXPECT_EQ(largest, 16'384u - 9);
}

TEST(H2Session, unframed_parts_can_be_taken_back) {
    auto const text = response_of(made_body(100'000));
    Server server;
    server.answer = [&](Stream& stream) { server.send(stream, text); };
    server.exchange(opening() + request_frame(1, get_fields()));
    auto& stream = *server.requests[0];
    auto const rest = server.session.withdraw(stream);
    ASSERT_EQ(rest.size(), 1u);
    EXPECT_EQ(rest[0].iov_len, 100'000u - 65'535u);
    EXPECT_TRUE(stream.is_sent());
    server.session.send(stream, rest);
    std::string const more = frame(window_frame, 0, 1, number(100'000)) + frame(window_frame, 0, 0, number(100'000));
    server.exchange(more);
    EXPECT_TRUE(stream.is_sent());
}

TEST(H2Session, responses_share_the_connection) {
    auto const body = made_body(200'000);
    Answering server(response_of(body));
    Client client(1'000'000);
    nghttp2_session_set_local_window_size(client.session(), NGHTTP2_FLAG_NONE, 0, 1'000'000);
    server.releases = false;
    for (int i = 0; i < 3; ++i) client.request(get_fields());
    server.session.receive(client.output(), server.now);
    std::vector<std::uint32_t> order;
    for (auto const& one : frames_in(server.output()))
        if (one.type == data_frame) order.push_back(one.id);
    ASSERT_GT(order.size(), 30u);
    EXPECT_EQ(std::set<std::uint32_t>(order.begin(), order.begin() + 3).size(), 3u);
}

TEST(H2Session, a_client_may_ask_for_responses_one_after_the_other) {
    auto const body = made_body(60'000);
    Answering server(response_of(body));
    Client client(1'000'000);
    nghttp2_session_set_local_window_size(client.session(), NGHTTP2_FLAG_NONE, 0, 1'000'000);
    for (int i = 0; i < 3; ++i) client.request(get_fields({{"priority", i == 2 ? "u=0" : "u=3"}}));
    server.session.receive(client.output(), server.now);
    std::vector<std::uint32_t> order;
    for (auto const& one : frames_in(server.output()))
        if (one.type == data_frame && (order.empty() || order.back() != one.id)) order.push_back(one.id);
    EXPECT_THAT(order, ElementsAre(5u, 1u, 3u));
}

TEST(H2Session, a_handler_may_pull_while_it_is_told_of_requests) {
    Server server;
    std::string const text = response_of("hello");
    std::string wire;
    int nested = 0, depth = 0;
    server.answer = [&](Stream& stream) {
        nested = std::max(nested, ++depth);
        server.send(stream, text);
        wire += server.output();
        EXPECT_TRUE(stream.is_sent());
        server.session.release(stream);
        --depth;
    };
    Client client;
    for (int i = 0; i < 50; ++i) client.request(get_fields());
    server.session.receive(client.output(), server.now);
    client.input(wire);
    EXPECT_EQ(nested, 1);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(client.responses[2 * i + 1].body, "hello");
    EXPECT_EQ(server.session.streams(), 0u);
}

// ---- uploads ----

WireFields post_fields(WireFields more = {}) {
    auto fields = get_fields(std::move(more));
    fields[0].second = "POST";
    return fields;
}

TEST(H2Session, an_empty_body_without_length_may_end_before_its_head_is_sent) {
    Server server;
    server.answer = [&](Stream& stream) {
        server.session.end(stream, stream.id() == 1 ? "" : "X-Sum: 1\r\n");
        server.send(stream, "HTTP/1.1 200 OK\r\n\r\n");
        server.session.release(stream);
    };
    Client client;
    for (int i = 0; i < 2; ++i) client.request(get_fields());
    EXPECT_TRUE(client.run(server));
    for (std::int32_t id : {1, 3}) {
        EXPECT_EQ(client.responses[id].status(), "200");
        EXPECT_TRUE(client.responses[id].ended);
        EXPECT_EQ(client.responses[id].closed, NGHTTP2_NO_ERROR);
        EXPECT_EQ(client.responses[id].trailers.size(), id == 1 ? 0u : 1u);
    }
}

TEST(H2Session, takes_an_upload_with_trailers) {
    Server server;
    std::string trailers;
    server.at_end = [&](Stream& stream) {
        trailers = stream.trailers();
        EXPECT_EQ(stream.body_refusal(), nullptr);
        server.send(stream, "HTTP/1.1 204 No Content\r\n\r\n");
        server.session.release(stream);
    };
    Client client;
    Client::Upload upload{made_body(500'000), false, {{"x-sum", "1"}, {"authorization", "x"}}};
    auto const id = client.request(post_fields(), &upload);
    EXPECT_TRUE(client.run(server));
    EXPECT_EQ(client.responses[id].status(), "204");
    EXPECT_EQ(server.body_of(*server.requests[0]), upload.text);
    EXPECT_EQ(trailers, "x-sum: 1\r\n");
}

TEST(H2Session, an_upload_that_is_not_taken_is_bounded_and_stops_no_other) {
    Server server;
    server.reads = false;
    Client client;
    std::vector<Client::Upload> uploads(50, Client::Upload{made_body(100'000)});
    std::vector<std::int32_t> ids;
    for (auto& upload : uploads) ids.push_back(client.request(post_fields(), &upload));
    EXPECT_TRUE(client.run(server));
    for (std::size_t i = 0; i < uploads.size(); ++i) EXPECT_EQ(uploads[i].at, 65'535u) << i;
    server.reads = true;
    Client::Upload another{made_body(300'000)};
    client.request(post_fields(), &another);
    EXPECT_TRUE(client.run(server));
    EXPECT_EQ(another.at, another.text.size());
    EXPECT_EQ(server.body_of(*server.requests[50]), another.text);
    for (auto* stream : server.requests) server.on_body(*stream);
    EXPECT_TRUE(client.run(server));
    for (std::size_t i = 0; i < uploads.size(); ++i) EXPECT_EQ(server.body_of(*server.requests[i]), uploads[i].text) << i;
}

TEST(H2Session, windows_stay_small_without_budget) {
    Server server({}, 0);
    server.reads = false;
    Client client;
    std::vector<Client::Upload> uploads(5, Client::Upload{made_body(100'000)});
    for (auto& upload : uploads) client.request(post_fields(), &upload);
    EXPECT_TRUE(client.run(server));
    std::size_t sum = 0;
    for (auto const& upload : uploads) sum += upload.at;
    EXPECT_EQ(sum, 65'535u);
    server.reads = true;
    for (auto* stream : server.requests) server.on_body(*stream);
    EXPECT_TRUE(client.run(server));
    for (std::size_t i = 0; i < uploads.size(); ++i) EXPECT_EQ(server.body_of(*server.requests[i]), uploads[i].text) << i;
}

TEST(H2Session, bytes_that_are_dropped_do_not_use_up_the_window_of_the_connection) {
    Server server({}, 0);
    server.reads = false;
    Client client;
    std::vector<Client::Upload> uploads(20, Client::Upload{made_body(60'000), true});
    for (std::size_t i = 0; i < uploads.size(); ++i) {
        auto const id = client.request(post_fields(), &uploads[i]);
        EXPECT_TRUE(client.run(server));
        EXPECT_EQ(uploads[i].at, 60'000u) << i;
        if (i % 2 == 0) client.reset(id);
        client.run(server);
        server.session.release(*server.requests.back());
        client.run(server);
    }
}

TEST(H2Session, a_response_before_the_end_of_the_upload_is_delivered_whole) {
    Server server;
    server.reads = false;
    std::string const text = response_of("enough");
    server.answer = [&](Stream& stream) { server.send(stream, text); };
    server.at_sent = [&](Stream& stream) { server.session.release(stream); };
    Client client;
    Client::Upload upload{made_body(1'000'000)};
    auto const id = client.request(post_fields(), &upload);
    EXPECT_TRUE(client.run(server));
    EXPECT_EQ(client.responses[id].body, "enough");
    EXPECT_TRUE(client.responses[id].ended);
    EXPECT_EQ(client.responses[id].closed, NGHTTP2_NO_ERROR);
    EXPECT_EQ(server.session.streams(), 0u);
}

TEST(H2Session, the_rest_of_an_upload_is_refused_only_after_the_end_of_the_response) {
    Server server;
    server.answer = [&](Stream& stream) {
        server.send(stream, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
        server.session.release(stream);   // the head is queued, and not sent yet
    };
    Client client;
    Client::Upload upload{made_body(10), true};
    auto const id = client.request(post_fields(), &upload);
    EXPECT_TRUE(client.run(server));
    EXPECT_EQ(client.responses[id].status(), "403");
    EXPECT_TRUE(client.responses[id].ended);
    EXPECT_EQ(client.responses[id].closed, NGHTTP2_NO_ERROR);
    EXPECT_EQ(server.session.streams(), 0u);
}

// ---- tunnels ----

TEST(H2Session, connect_is_a_tunnel_that_each_side_closes_by_itself) {
    Server server;
    server.answer = [&](Stream& stream) {
        EXPECT_EQ(stream.head().method, http::Method::connect);
        server.send(stream, "HTTP/1.1 200 Connection established\r\n\r\n");
    };
    std::string const reply = made_body(100'000);
    Client client;
    Client::Upload upload{made_body(1'000), true};
    auto const id = client.request({{":method", "CONNECT"}, {":authority", "a.example:443"}}, &upload);
    EXPECT_TRUE(client.run(server));
    auto& stream = *server.requests[0];
    EXPECT_EQ(client.responses[id].status(), "200");
    EXPECT_EQ(server.body_of(stream), upload.text);
    server.send(stream, reply);
    EXPECT_TRUE(client.run(server));
    EXPECT_EQ(client.responses[id].body, reply);
    upload.open = false;
    client.resume(id);
    EXPECT_TRUE(client.run(server));
    EXPECT_TRUE(stream.body_done());
    EXPECT_FALSE(client.responses[id].ended);
    server.send(stream, "last words");
    server.session.end(stream, {});
    EXPECT_TRUE(client.run(server));
    EXPECT_EQ(client.responses[id].body, reply + "last words");
    EXPECT_EQ(client.responses[id].closed, 0u);
    server.session.release(stream);
    EXPECT_EQ(server.session.streams(), 0u);
}

TEST(H2Session, a_failed_tunnel_is_reset_with_connect_error) {
    Server server;
    server.answer = [&](Stream& stream) { server.send(stream, "HTTP/1.1 200 Connection established\r\n\r\n"); };
    Client client;
    Client::Upload upload{"hello", true};
    auto const id = client.request({{":method", "CONNECT"}, {":authority", "a.example:443"}}, &upload);
    client.run(server);
    server.session.reset(*server.requests[0], ErrorCode::connect);
    server.session.release(*server.requests[0]);
    client.run(server);
    EXPECT_EQ(client.responses[id].closed, NGHTTP2_CONNECT_ERROR);
}

TEST(H2Session, a_refused_connect_has_a_page) {
    std::string const page = "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno";
    Answering server(page);
    Client client;
    Client::Upload upload{"", true};
    auto const id = client.request({{":method", "CONNECT"}, {":authority", "a.example:443"}}, &upload);
    client.run(server);
    EXPECT_EQ(client.responses[id].status(), "403");
    EXPECT_EQ(client.responses[id].body, "no");
    EXPECT_TRUE(client.responses[id].ended);
}

TEST(H2Session, an_extended_connect_opens_a_websocket) {
    Server server;
    server.answer = [&](Stream& stream) {
        EXPECT_TRUE(stream.is_websocket());
        EXPECT_EQ(stream.head().fields.first(http::Name::upgrade), "websocket");
        EXPECT_EQ(stream.head().fields.find("sec-websocket-key")->value.size(), 24u);
        server.send(stream, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            "Sec-WebSocket-Accept: x\r\n\r\nframes");
    };
    Client client;
    client.run(server);   // the server's settings allow it
    Client::Upload upload{"hello", true};
    auto const id = client.request({{":method", "CONNECT"},
                                    {":protocol", "websocket"},
                                    {":scheme", "https"},
                                    {":authority", "a.example"},
                                    {":path", "/chat"},
                                    {"sec-websocket-version", "13"}},
                                   &upload);
    EXPECT_TRUE(client.run(server));
    EXPECT_THAT(client.responses[id].fields, ElementsAre(Pair(":status", "200")));
    EXPECT_EQ(client.responses[id].body, "frames");
    EXPECT_EQ(server.body_of(*server.requests[0]), "hello");
}

// ---- the connection ----

TEST(H2Session, drains_without_a_failed_request) {
    Server server;
    std::string const text = response_of("hello");
    Client client;
    auto const first = client.request(get_fields());
    client.run(server);
    server.session.drain();
    auto const notice = server.output();
    auto const second = client.request(get_fields());   // on its way when the client learns of the drain
    auto const to_server = client.output();
    client.input(notice);
    ASSERT_EQ(client.goaways.size(), 1u);
    EXPECT_EQ(client.goaways[0].last, INT32_MAX);
    server.session.receive(to_server, server.now);
    client.run(server);
    ASSERT_EQ(client.goaways.size(), 2u);
    EXPECT_EQ(client.goaways[1].last, second);
    EXPECT_EQ(client.goaways[1].code, 0u);
    EXPECT_FALSE(server.session.finished());
    ASSERT_EQ(server.requests.size(), 2u);
    for (auto* stream : server.requests) {
        server.send(*stream, text);
        client.run(server);
        server.session.release(*stream);
    }
    EXPECT_TRUE(client.run(server));
    EXPECT_EQ(client.responses[first].body, "hello");
    EXPECT_EQ(client.responses[second].body, "hello");
    EXPECT_TRUE(server.session.finished());
    EXPECT_EQ(server.session.fault(), "");
}

TEST(H2Session, a_second_drain_does_not_wait_for_the_client) {
    Server server;
    server.exchange(opening());
    server.session.drain();
    auto const notice = frames_in(server.output());
    ASSERT_EQ(notice.size(), 2u);
    EXPECT_EQ(notice[0].type, goaway_frame);
    EXPECT_EQ(notice[1].type, NGHTTP2_PING) << "its answer shows that the client has the GOAWAY";
    EXPECT_FALSE(server.session.finished());
    server.session.drain();
    server.session.drain();
    auto const frames = frames_in(server.output());
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].type, goaway_frame);
    EXPECT_TRUE(server.session.finished());
}

TEST(H2Session, a_reset_is_reported_and_the_place_is_used_again) {
    Server server;
    Client client;
    auto const id = client.request(get_fields());
    client.run(server);
    auto* stream = server.requests[0];
    client.reset(id);
    client.run(server);
    EXPECT_THAT(server.resets, ElementsAre(stream));
    EXPECT_TRUE(stream->is_gone());
    server.send(*stream, "HTTP/1.1 200 OK\r\n\r\n");   // goes nowhere
    server.session.end(*stream, {});
    EXPECT_EQ(server.session.streams(), 1u);
    server.session.release(*stream);
    EXPECT_EQ(server.session.streams(), 0u);
    client.request(get_fields());
    client.run(server);
    EXPECT_EQ(server.requests[1], stream);
    EXPECT_FALSE(stream->is_gone());
}

TEST(H2Session, a_head_swapped_away_stays_valid) {
    Server server;
    Client client;
    http::RequestHead mine;
    server.answer = [&](Stream& stream) { std::swap(mine, stream.head()); };
    client.request(get_fields({{"x", "y"}}));
    client.run(server);
    EXPECT_EQ(mine.target, "https://a.example/");
    EXPECT_EQ(mine.fields.find("x")->value, "y");
}

}   // namespace
}   // namespace garner::h2
