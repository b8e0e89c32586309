// TLS to origins, tested against real OpenSSL servers.
#include "net/tls_context.hpp"
#include "net/tls_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <csignal>
#include <fstream>
#include <mutex>

#include "net/tls_buffer.hpp"
#include "net/tls_scene.hpp"

namespace garner::net {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Tls, speaks_to_a_verified_origin) {
    TlsScene scene;
    TlsServer server(good(), say_hello);
    auto result = scene.connect(server.port());
    ASSERT_TRUE(result.transport) << result.reason;
    EXPECT_TRUE(result.transport->secure());
    EXPECT_EQ(scene.read(*result.transport, 5), "hello");
    EXPECT_EQ(server.server_name(), "origin.test");
    EXPECT_EQ(server.protocol(), "http/1.1");
    EXPECT_GT(result.transport->received(), 500u);   // counts ciphertext
    EXPECT_GT(result.transport->sent(), 200u);
    scene.write(*result.transport, "x");
    scene.read(*result.transport, 1);
    EXPECT_EQ(scene.error, asio::error::eof);
}

TEST(Tls, tls_1_2_is_spoken_and_1_1_is_not) {
    TlsScene scene;
    TlsServer older(good(), say_hello, {.max_version = TLS1_2_VERSION});
    auto result = scene.connect(older.port());
    ASSERT_TRUE(result.transport) << result.reason;
    EXPECT_EQ(scene.read(*result.transport, 5), "hello");
    TlsServer oldest(good(), say_hello, {.max_version = TLS1_1_VERSION});
    auto refused = scene.connect(oldest.port());
    EXPECT_EQ(refused.failure, ConnectFailure::tls);
    EXPECT_THAT(refused.reason, StartsWith("TLS: "));
}

TEST(Tls, an_address_is_verified_as_one_and_not_sent_as_sni) {
    TlsScene scene;
    TlsServer right(authority().sign({.alternative_names = "IP:127.0.0.1"}), say_hello);
    auto result = scene.connect(right.port(), "127.0.0.1");
    ASSERT_TRUE(result.transport) << result.reason;
    EXPECT_EQ(scene.read(*result.transport, 5), "hello");
    EXPECT_EQ(right.server_name(), "");
    result.transport.reset();
    TlsServer wrong(authority().sign({.alternative_names = "IP:127.0.0.2,DNS:127.0.0.1"}), say_hello);
    EXPECT_THAT(scene.connect(wrong.port(), "127.0.0.1").reason, HasSubstr("IP address mismatch"));
}

TEST(Tls, the_server_name_may_differ_from_the_host) {
    TlsScene scene;
    TlsServer server(good(), say_hello);
    for (auto name : {"origin.test", "origin.test."}) {
        auto result = scene.connect(server.port(), "127.0.0.1", name);
        ASSERT_TRUE(result.transport) << result.reason;
        EXPECT_EQ(scene.read(*result.transport, 5), "hello");
        EXPECT_EQ(server.server_name(), "origin.test");
    }
}

TEST(Tls, wildcards_stand_for_one_label) {
    TlsScene scene;
    TlsServer server(authority().sign({.alternative_names = "DNS:*.wild.test"}), say_hello);
    EXPECT_EQ(scene.connect(server.port(), "www.wild.test").reason, "");
    EXPECT_NE(scene.connect(server.port(), "127.0.0.1", "a.b.wild.test").reason, "");
    TlsServer partial(authority().sign({.alternative_names = "DNS:w*.wild.test"}), say_hello);
    EXPECT_NE(scene.connect(partial.port(), "www.wild.test").reason, "");
}

TEST(Tls, faulty_certificates_are_refused_in_words) {
    TlsScene scene;
    struct {
        Identity identity;
        char const* words;
    } const rows[] = {
        {authority().sign({.alternative_names = "DNS:elsewhere.test"}), "certificate not accepted: hostname mismatch"},
        {authority().sign({.valid_from = -7'200, .valid_until = -3'600}), "certificate not accepted: certificate has expired"},
        {authority().sign({.valid_from = 3'600, .valid_until = 7'200}), "certificate not accepted: certificate is not yet valid"},
        {self_signed({}), "certificate not accepted: self-signed certificate"},
        {Authority().sign({}), "certificate not accepted: unable to get local issuer certificate"},
    };
    for (auto const& row : rows) {
        TlsServer server(row.identity, say_hello);
        auto result = scene.connect(server.port());
        EXPECT_EQ(result.failure, ConnectFailure::tls);
        EXPECT_EQ(result.reason, row.words);
        EXPECT_FALSE(result.transport);
    }
}

TEST(Tls, without_verification_anything_goes) {
    TlsScene scene;
    scene.tls.verify = false;
    TlsServer server(self_signed({.alternative_names = "DNS:elsewhere.test"}), say_hello);
    auto result = scene.connect(server.port());
    ASSERT_TRUE(result.transport) << result.reason;
    EXPECT_EQ(scene.read(*result.transport, 5), "hello");
}

TEST(Tls, a_ca_file_that_cannot_be_read_is_said) {
    EXPECT_THAT(TlsContext::make({.verify = true, .ca_file = "/nowhere/ca.pem"}).fault_text(), HasSubstr("/nowhere/ca.pem"));
    EXPECT_TRUE(TlsContext::make({}));
}

TEST(Tls, several_threads_may_begin_the_first_sessions_of_a_context) {
    auto const context = test::made(TlsContext::make({}));
    std::string const name = "origin.test";
    std::array<SSL*, 4> sessions{};
    {
        std::vector<std::jthread> threads;
        for (auto& session : sessions) threads.emplace_back([&] { session = test::made(context->new_session(name)); });
    }
    EXPECT_THAT(sessions, testing::Each(testing::NotNull()));
    for (auto* session : sessions) SSL_free(session);
}

TEST(Tls, what_is_no_tls_is_said) {
    TlsScene scene;
    Listener listener;
    std::thread plain([&] {
        int fd = listener.accept();
        std::string_view words = "HTTP/1.1 400 Bad Request\r\n\r\n";
        (void)!::send(fd, words.data(), words.size(), MSG_NOSIGNAL);
        ::close(fd);
    });
    auto result = scene.connect(listener.port());
    plain.join();
    EXPECT_EQ(result.failure, ConnectFailure::tls);
    EXPECT_THAT(result.reason, HasSubstr("wrong version number"));
}

TEST(Tls, a_peer_that_closes_during_the_handshake_is_said) {
    TlsScene scene;
    Listener listener;
    std::thread closer([&] {
        int fd = listener.accept();
        char bytes[4096];
        (void)!::recv(fd, bytes, sizeof bytes, 0);
        ::close(fd);
    });
    auto result = scene.connect(listener.port());
    closer.join();
    EXPECT_EQ(result.failure, ConnectFailure::tls);
    EXPECT_EQ(result.reason, "connection closed during the TLS handshake");
}

TEST(Tls, a_peer_that_never_answers_is_timed_out_and_can_be_left) {
    TlsScene scene;
    scene.options.timeout = milliseconds{400};
    Listener silent;
    auto result = scene.connect(silent.port());
    EXPECT_EQ(result.failure, ConnectFailure::timed_out);
    EXPECT_LT(result.took, seconds{2});

    scene.options.timeout = seconds{20};
    ConnectStop stop;
    Timer timer(scene.loop.io.get_executor(), milliseconds{100});
    timer.async_wait([&](Error) { stop.request(); });
    auto left = scene.connect(silent.port(), "origin.test", {}, &stop);
    EXPECT_EQ(left.failure, ConnectFailure::cancelled);
    EXPECT_LT(left.took, seconds{2});
}

class TlsResumption : public testing::TestWithParam<int> {};

TEST_P(TlsResumption, sessions_are_taken_up_again) {
    TlsScene scene;
    TlsServer server(good(), say_hello, {.max_version = GetParam()});
    for (int round = 0; round < 4; ++round) {
        auto result = scene.connect(server.port());
        ASSERT_TRUE(result.transport) << result.reason;
        EXPECT_EQ(scene.read(*result.transport, 5), "hello");   // the session tickets came before
        result.transport->socket().close();
    }
    EXPECT_EQ(server.handshakes, 4);
    EXPECT_EQ(server.resumed, 3);
    EXPECT_NE(scene.connect(server.port(), "127.0.0.1", "elsewhere.test").reason, "")
        << "a ticket is used only for its server name";
    EXPECT_EQ(server.resumed, 3);
}

TEST_P(TlsResumption, a_ticket_outlives_a_reset_connection) {
    TlsScene scene;
    TlsServer server(good(), say_hello, {.max_version = GetParam()});
    for (int round = 0; round < 3; ++round) {
        auto result = scene.connect(server.port());
        ASSERT_TRUE(result.transport) << result.reason;
        scene.read(*result.transport, 5);
        result.transport->close_with_reset();
    }
    EXPECT_EQ(server.resumed, 2);
}

TEST_P(TlsResumption, only_a_valid_certificate_leaves_tickets_when_errors_are_reported) {
    TlsScene scene;
    TlsServer server(good(), say_hello, {.max_version = GetParam()});
    auto const connect = [&](Verification verification, std::string const& server_name) {
        scene.verification = verification;
        auto result = scene.connect(server.port(), "127.0.0.1", server_name);
        if (!result.transport) return false;
        scene.read(*result.transport, 5);
        result.transport->close_with_reset();
        return true;
    };
    EXPECT_TRUE(connect(Verification::reported, "elsewhere.test"));
    EXPECT_FALSE(connect(Verification::required, "elsewhere.test"));
    EXPECT_TRUE(connect(Verification::reported, "origin.test"));
    EXPECT_TRUE(connect(Verification::reported, "origin.test"));
    EXPECT_EQ(server.resumed, 0);
    EXPECT_TRUE(connect(Verification::required, "origin.test"));
    EXPECT_EQ(server.resumed, 1);
}

INSTANTIATE_TEST_SUITE_P(Versions, TlsResumption, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION));

std::string patterned(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
    return text;
}

/// Reads and writes at once against an echoing server, which stops reading while it cannot write.
void echo_scene(std::size_t size, std::size_t read_size) {
    TlsScene scene;
    auto echo = [](SSL* ssl) {
        std::array<char, 50'000> bytes;
        for (;;) {
            int n = SSL_read(ssl, bytes.data(), bytes.size());
            if (n <= 0 || SSL_write(ssl, bytes.data(), n) <= 0) break;
        }
        SSL_shutdown(ssl);
    };
    TlsServer server(good(), echo);
    auto result = scene.connect(server.port());
    ASSERT_TRUE(result.transport) << result.reason;
    auto& transport = *result.transport;
    auto body = patterned(size);
    std::string got;
    bool written = false, ended = false;
    auto writer = [&]() -> awaitable<void> {
        for (std::size_t at = 0; at < body.size();) {
            std::array<iovec, 5> parts;
            std::size_t const sizes[] = {300, 0, 1'000, 100'000, 16'384};
            std::size_t total = 0;
            for (std::size_t i = 0; i < parts.size(); ++i) {
                auto count = std::min(sizes[i], body.size() - at);
                parts[i] = {body.data() + at, count};
                at += count;
                total += count;
            }
            auto wrote = co_await transport.write(std::span<iovec>(parts), seconds{5});
            EXPECT_FALSE(wrote.error) << wrote.error.message();
            EXPECT_EQ(wrote.bytes, total);
            if (wrote.error) co_return;
        }
        transport.shutdown_send();
        written = true;
    };
    auto reader = [&]() -> awaitable<void> {
        std::vector<char> buffer(read_size);
        for (;;) {
            auto read = co_await transport.read_some(buffer, seconds{5});
            if (read.error) {
                EXPECT_EQ(read.error, asio::error::eof);
                ended = true;
                co_return;
            }
            got.append(buffer.data(), read.bytes);
        }
    };
    auto rethrow = [](std::exception_ptr fault) {
        if (fault) std::rethrow_exception(fault);
    };
    asio::co_spawn(scene.loop.io, writer(), rethrow);
    asio::co_spawn(scene.loop.io, reader(), rethrow);
    scene.loop.run_until([&] { return written && ended; });
    EXPECT_TRUE(got == body);
}

TEST(Tls, big_bodies_go_both_ways_at_once) { echo_scene(20'000'000, 64 * 1024); }

TEST(Tls, small_reads_lose_nothing) { echo_scene(300'000, 7); }

TEST(Tls, an_end_without_close_notify_is_no_orderly_end) {
    TlsScene scene;
    TlsServer server(good(), [](SSL* ssl) { send(ssl, "partial"); });
    auto result = scene.connect(server.port());
    ASSERT_TRUE(result.transport) << result.reason;
    EXPECT_EQ(scene.read(*result.transport, 100), "partial");
    EXPECT_EQ(scene.error, asio::error::connection_reset);
    EXPECT_EQ(result.transport->tls_fault(), "connection closed without TLS close_notify");
}

TEST(Tls, a_tampered_record_is_a_fault) {
    TlsScene scene;
    auto tamper = [](SSL* ssl) {
        send(ssl, "first");
        std::string_view forged("\x17\x03\x03\x00\x20"
                                "0123456789abcdef0123456789abcdef",
                                37);
        (void)!::send(SSL_get_fd(ssl), forged.data(), forged.size(), MSG_NOSIGNAL);
        receive(ssl, 1);
    };
    TlsServer server(good(), tamper);
    auto result = scene.connect(server.port());
    ASSERT_TRUE(result.transport) << result.reason;
    EXPECT_EQ(scene.read(*result.transport, 100), "first");
    EXPECT_NE(scene.error, asio::error::eof);
    EXPECT_THAT(result.transport->tls_fault(), HasSubstr("bad record mac"));
}

TEST(Tls, key_updates_are_answered_by_reading) {
    TlsScene scene;
    auto update = [](SSL* ssl) {
        for (int round = 0; round < 3; ++round) {
            SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED);
            send(ssl, "new keys");
        }
        send(ssl, receive(ssl, 6) == "answer" ? "fine" : "what");
        SSL_shutdown(ssl);
    };
    TlsServer server(good(), update);
    auto result = scene.connect(server.port());
    ASSERT_TRUE(result.transport) << result.reason;
    EXPECT_EQ(scene.read(*result.transport, 24), "new keysnew keysnew keys");
    scene.write(*result.transport, "answer");
    EXPECT_EQ(scene.read(*result.transport, 4), "fine");
}

/// Lets the test continue the server.
class Signal {
public:
    void give() {
        std::lock_guard lock(mutex_);
        given_ = true;
        changed_.notify_all();
    }
    void await() {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, seconds{10}, [&] { return given_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool given_ = false;
};

enum class Then { closes, notifies, talks };

void stale_scene(Then then) {
    Signal go_on, done;
    auto script = [&](SSL* ssl) {   // its session tickets were already sent
        go_on.await();
        if (then == Then::notifies) SSL_shutdown(ssl);
        if (then == Then::talks) send(ssl, "408");
        if (then == Then::closes) return;
        done.await();
    };
    TlsScene scene;
    TlsServer server(good(), script);
    auto result = scene.connect(server.port());
    ASSERT_TRUE(result.transport) << result.reason;
    auto& transport = *result.transport;
    auto readable = [&] {
        pollfd watched{transport.descriptor(), POLLIN, 0};
        return ::poll(&watched, 1, 2'000) == 1;
    };
    EXPECT_TRUE(readable()) << "the session tickets arrive";
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(transport.stale());
    go_on.give();
    EXPECT_TRUE(readable());
    EXPECT_TRUE(transport.stale());
    done.give();
}

TEST(Tls, tickets_do_not_make_an_idle_connection_stale_but_an_end_does) { stale_scene(Then::closes); }
TEST(Tls, a_close_notify_makes_an_idle_connection_stale) { stale_scene(Then::notifies); }
TEST(Tls, unexpected_bytes_make_an_idle_connection_stale) { stale_scene(Then::talks); }

TEST(Tls, tickets_taken_in_by_stale_serve_the_next_connection) {
    TlsScene scene;
    Signal done;
    TlsServer server(good(), [&](SSL*) { done.await(); });
    auto first = scene.connect(server.port());
    ASSERT_TRUE(first.transport) << first.reason;
    pollfd watched{first.transport->descriptor(), POLLIN, 0};
    ::poll(&watched, 1, 2'000);
    EXPECT_FALSE(first.transport->stale());
    first.transport.reset();
    done.give();
    auto second = scene.connect(server.port());
    ASSERT_TRUE(second.transport) << second.reason;
    scene.read(*second.transport, 1);   // waits until the server has closed
    EXPECT_EQ(server.resumed, 1);
}

TEST(Tls, a_silent_peer_is_timed_out_and_may_go_on_after) {
    TlsScene scene;
    Signal go_on;
    auto script = [&](SSL* ssl) {
        go_on.await();
        send(ssl, "late");
        receive(ssl, 1);
    };
    TlsServer server(good(), script);
    auto result = scene.connect(server.port());
    ASSERT_TRUE(result.transport) << result.reason;
    std::array<char, 100> buffer;
    EXPECT_EQ(scene.loop.run(result.transport->read_some(buffer, milliseconds{200})).error, asio::error::timed_out);
    go_on.give();
    EXPECT_EQ(scene.read(*result.transport, 4), "late");
}

TEST(Tls, a_reader_may_wait_without_a_buffer) {
    TlsScene scene;
    Signal go_on;
    auto script = [&](SSL* ssl) {
        go_on.await();
        send(ssl, "late");
        receive(ssl, 1);
    };
    TlsServer server(good(), script);
    auto result = scene.connect(server.port());
    ASSERT_TRUE(result.transport) << result.reason;
    auto& transport = *result.transport;
    std::array<char, 100> buffer;
    EXPECT_EQ(transport.try_read(buffer).error, asio::error::would_block);
    // Tickets of the server are input without data.
    while (!scene.loop.run(transport.wait_input(milliseconds{200})))
        ASSERT_EQ(transport.try_read(buffer).error, asio::error::would_block);
    go_on.give();
    IoResult got{asio::error::would_block};
    while (got.error == asio::error::would_block) {
        ASSERT_EQ(scene.loop.run(transport.wait_input(milliseconds{2'000})), Error{});
        got = transport.try_read(buffer);
    }
    EXPECT_EQ(std::string_view(buffer.data(), got.bytes), "late");
}

TEST(Tls, bytes_kept_for_more_are_sent_by_a_write_without_parts) {
    TlsScene scene;
    std::string received;
    Signal done;
    auto script = [&](SSL* ssl) {
        received = receive(ssl, 4);
        done.give();
    };
    TlsServer server(good(), script);
    auto result = scene.connect(server.port());
    ASSERT_TRUE(result.transport) << result.reason;
    auto& transport = *result.transport;
    auto const before = transport.sent();
    std::string text = "kept";
    iovec part{text.data(), text.size()};
    std::span<iovec> parts(&part, 1);
    EXPECT_EQ(transport.try_write(parts, true).bytes, 4u);
    EXPECT_EQ(transport.sent(), before);
    std::span<iovec> const nothing;
    EXPECT_EQ(scene.loop.run(transport.write(nothing, milliseconds{2'000})).error, Error{});
    done.await();
    EXPECT_EQ(received, "kept");
}

TEST(Tls, a_peer_that_takes_nothing_is_timed_out) {
    TlsScene scene;
    Signal done;
    TlsServer server(good(), [&](SSL*) { done.await(); });
    auto result = scene.connect(server.port());
    ASSERT_TRUE(result.transport) << result.reason;
    std::string body(32'000'000, 'b');
    auto written = scene.loop.run(result.transport->write(body, milliseconds{300}));
    EXPECT_EQ(written.error, asio::error::timed_out);
    EXPECT_LT(written.bytes, body.size());
    done.give();
}

TEST(Tls, a_session_may_outlive_its_context) {
    TlsScene scene;
    TlsServer server(good(), say_hello);
    auto result = scene.connect(server.port());
    ASSERT_TRUE(result.transport) << result.reason;
    scene.context.reset();
    EXPECT_EQ(scene.read(*result.transport, 5), "hello");
}

TEST(TlsBuffer, holds_what_came_in_order_and_memory_only_meanwhile) {
    TlsBuffer buffer;
    EXPECT_TRUE(buffer.empty());
    EXPECT_EQ(buffer.room().size(), TlsBuffer::received_at_once);
    buffer.added(0);
    std::string expected;
    for (int i = 0; i < 600; ++i) {   // beyond TlsBuffer::large
        auto text = std::string(1'000, static_cast<char>('a' + i % 26));
        buffer.append(text);
        expected += text;
        if (i % 3 == 0) {
            EXPECT_EQ(buffer.bytes().substr(0, 500), expected.substr(0, 500));
            buffer.consume(500);
            expected.erase(0, 500);
        }
    }
    EXPECT_EQ(buffer.bytes(), expected);
    buffer.consume(expected.size());
    EXPECT_TRUE(buffer.empty());
    EXPECT_EQ(buffer.bytes().data(), nullptr);
}

TEST(TlsBuffer, does_not_move_what_it_has_reserved_memory_for) {
    std::string const record(16'406, 'x');
    for (std::size_t const size : {6 * record.size(), std::size_t{1'000'000}}) {
        TlsBuffer buffer;
        buffer.reserve(size);
        buffer.append(record);
        auto const* const begin = buffer.bytes().data();
        while (buffer.bytes().size() < std::min(size, buffer.batch_max())) buffer.append(record);
        EXPECT_EQ(buffer.bytes().data(), begin);
        buffer.consume(record.size());
        buffer.reserve(size);
        EXPECT_EQ(buffer.bytes().data(), begin + record.size());
    }
}

TEST(TlsBuffer, peers_that_do_not_read_hold_few_large_ones) {
    std::vector<std::unique_ptr<TlsBuffer>> held;
    std::string const much(TlsBuffer::medium + 1, 'x');
    while (held.size() < TlsBuffer::large_max) {
        EXPECT_GT(TlsBuffer().batch_max(), TlsBuffer::medium);
        held.push_back(std::make_unique<TlsBuffer>());
        held.back()->append(much);
    }
    EXPECT_LT(TlsBuffer().batch_max(), TlsBuffer::medium);
    EXPECT_GT(held.front()->batch_max(), TlsBuffer::medium);   // it has one already
    held.pop_back();
    EXPECT_GT(TlsBuffer().batch_max(), TlsBuffer::medium);
}

}   // namespace
}   // namespace garner::net
