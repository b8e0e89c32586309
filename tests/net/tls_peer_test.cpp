// TLS as peers need it: contexts of their own, client certificates, and TLS in TLS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "net/certificate.hpp"
#include "net/tls_scene.hpp"
#include "support/child.hpp"
#include "support/issued_certificate.hpp"

namespace garner::net {
namespace {

using testing::HasSubstr;

// ---- client certificates ----

struct ClientCertificate : testing::Test {
    ClientCertificate() {
        test::IssuedCertificate const leaf({.common_name = "child.test", .names = "DNS:child.test"}, &clients);
        own = test::made(read_certificate({dir.write("chain.pem", leaf.pem()), dir.write("key.pem", leaf.key_pem())}));
    }
    TlsServer::Options asking() const { return {.client_ca = dir.write("ca.pem", clients.pem())}; }

    TlsScene scene;
    test::TempDir dir;
    test::IssuedCertificate clients{{.common_name = "Clients", .is_ca = true}};
    std::shared_ptr<Certificate const> own;
};

TEST_F(ClientCertificate, is_shown_to_a_server_that_requires_it_and_sessions_are_resumed) {
    scene.context = test::made(TlsContext::make(scene.tls, own));
    TlsServer server(good(), say_hello, asking());
    for (int round = 0; round < 3; ++round) {
        auto result = scene.connect(server.port());
        ASSERT_TRUE(result.transport) << result.reason;
        EXPECT_EQ(scene.read(*result.transport, 5), "hello");
        EXPECT_EQ(server.client_name(), "child.test");
    }
    EXPECT_EQ(server.resumed, 2);
}

TEST_F(ClientCertificate, a_server_that_refuses_tickets_is_connected_to_without_one) {
    scene.context = test::made(TlsContext::make(scene.tls, own));
    auto options = asking();
    options.session_context = false;
    TlsServer server(good(), say_hello, options);
    for (int round = 0; round < 3; ++round) {
        auto result = scene.connect(server.port());
        ASSERT_TRUE(result.transport) << result.reason;
        EXPECT_EQ(scene.read(*result.transport, 5), "hello");
    }
    EXPECT_EQ(server.handshakes, 3);
    EXPECT_EQ(server.resumed, 0);
    EXPECT_EQ(server.failures, 1) << "the ticket was offered once";
}

TEST_F(ClientCertificate, is_missed_by_such_a_server) {
    TlsServer server(good(), say_hello, asking());
    auto result = scene.connect(server.port());
    if (result.transport) scene.read(*result.transport, 5);   // under TLS 1.3 the alert comes after the client's handshake
    EXPECT_EQ(server.handshakes, 0);
}

TEST_F(ClientCertificate, is_not_shown_unasked) {
    scene.context = test::made(TlsContext::make(scene.tls, own));
    TlsServer server(good(), say_hello);
    auto result = scene.connect(server.port());
    ASSERT_TRUE(result.transport) << result.reason;
    EXPECT_EQ(scene.read(*result.transport, 5), "hello");
    EXPECT_EQ(server.client_name(), "");
}

TEST(TlsContexts, have_tickets_and_numbers_of_their_own) {
    TlsScene scene;
    TlsServer server(good(), say_hello);
    auto const hello = [&] {
        auto result = scene.connect(server.port());
        return result.transport ? scene.read(*result.transport, 5) : result.reason;
    };
    EXPECT_EQ(hello(), "hello");
    auto const first = scene.context;
    scene.context = test::made(TlsContext::make(scene.tls));
    EXPECT_NE(scene.context->id(), first->id());
    EXPECT_EQ(hello(), "hello");
    EXPECT_EQ(server.resumed, 0) << "a ticket of one context is not shown by another";
}

// ---- TLS in TLS ----

std::string letters(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i * 7 + i / 251) % 26);
    return text;
}

/// A proxy that takes "CONNECT" over TLS and becomes an origin that speaks TLS inside.
class NestedServer {
public:
    explicit NestedServer(TlsServer::Script script, CertificateWish const& inside = {})
        : inside_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free), identity_(authority().sign(inside)),
          server_(authority().sign({.alternative_names = "DNS:parent.test"}), [this, script = std::move(script)](SSL* outer) {
              if (receive(outer, 7) != "CONNECT") return;
              send(outer, "200");
              serve(outer, script);
          }) {
        SSL_CTX_use_certificate(inside_.get(), identity_.certificate.get());
        SSL_CTX_use_PrivateKey(inside_.get(), identity_.key.get());
        unsigned char const name[] = "inside";
        SSL_CTX_set_session_id_context(inside_.get(), name, sizeof name);
    }
    std::uint16_t port() const { return server_.port(); }
    std::atomic<int> resumed = 0;   // inside

private:
    void serve(SSL* outer, TlsServer::Script const& script) {
        std::unique_ptr<SSL, void (*)(SSL*)> inner(SSL_new(inside_.get()), SSL_free);
        auto* bio = BIO_new(BIO_f_ssl());
        BIO_set_ssl(bio, outer, BIO_NOCLOSE);
        SSL_set_bio(inner.get(), bio, bio);
        if (SSL_accept(inner.get()) != 1) return;
        resumed += SSL_session_reused(inner.get());
        script(inner.get());
        SSL_shutdown(outer);
        receive(outer, 1);   // to the client's end: a socket closed with unread bytes drops what it has not sent yet
    }
    std::shared_ptr<SSL_CTX> inside_;
    Identity identity_;
    TlsServer server_;
};

struct TlsInTls : testing::Test {
    TlsInTls() {
        scene.cache.store("parent.test", {ip("127.0.0.1")}, seconds{60});
        origin = test::made(TlsContext::make(scene.tls));
    }
    /// Through the proxy to origin.test.
    Connected open(NestedServer& server) {
        auto outer = scene.connect(server.port(), "parent.test");
        if (!outer.transport) return outer;
        scene.write(*outer.transport, "CONNECT");
        EXPECT_EQ(scene.read(*outer.transport, 3), "200");
        Connector connector(scene.loop.io, scene.loop.wheel, scene.resolver, scene.options);
        ConnectTarget const target{.host = "origin.test", .port = 443, .tls = origin};
        return scene.loop.run(connector.secure(std::move(outer.transport), target));
    }

    TlsScene scene;
    std::shared_ptr<TlsContext> origin;
};

TEST_F(TlsInTls, bytes_pass_and_both_ends_are_orderly) {
    NestedServer server(say_hello);
    auto result = open(server);
    ASSERT_TRUE(result.transport) << result.reason;
    EXPECT_TRUE(result.transport->secure());
    EXPECT_EQ(scene.read(*result.transport, 5), "hello");
    scene.write(*result.transport, "x");
    scene.read(*result.transport, 1);
    EXPECT_EQ(scene.error, asio::error::eof);
}

TEST_F(TlsInTls, the_inner_session_is_resumed_apart_from_the_outer_one) {
    NestedServer server(say_hello);
    for (int round = 0; round < 3; ++round) {
        auto result = open(server);
        ASSERT_TRUE(result.transport) << result.reason;
        EXPECT_EQ(scene.read(*result.transport, 5), "hello");
    }
    EXPECT_EQ(server.resumed, 2);
}

TEST_F(TlsInTls, a_faulty_certificate_inside_is_refused_in_words) {
    NestedServer server(say_hello, {.alternative_names = "DNS:elsewhere.test"});
    auto const result = open(server);
    EXPECT_EQ(result.failure, ConnectFailure::tls);
    EXPECT_EQ(result.reason, "certificate not accepted: hostname mismatch");
}

TEST_F(TlsInTls, an_inner_session_without_close_notify_was_cut) {
    NestedServer server([](SSL* inner) { send(inner, "partial"); });   // the outer session ends in order
    auto result = open(server);
    ASSERT_TRUE(result.transport) << result.reason;
    EXPECT_EQ(scene.read(*result.transport, 100), "partial");
    EXPECT_EQ(scene.error, asio::error::connection_reset);
    EXPECT_EQ(result.transport->tls_fault(), "connection closed without TLS close_notify");
}

TEST_F(TlsInTls, an_idle_connection_takes_its_tickets_and_notices_its_end) {
    std::atomic<bool> over = false;
    NestedServer server([&](SSL* inner) {
        send(inner, "hello");
        while (!over) std::this_thread::sleep_for(milliseconds{5});
        SSL_shutdown(inner);
    });
    auto result = open(server);
    ASSERT_TRUE(result.transport) << result.reason;
    EXPECT_EQ(scene.read(*result.transport, 5), "hello");
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(result.transport->stale());
    over = true;
    auto const give_up = steady_now() + seconds{10};
    while (!result.transport->stale() && steady_now() < give_up) std::this_thread::sleep_for(milliseconds{5});
    EXPECT_TRUE(result.transport->stale());
}

/// The server reads nothing while it cannot write: it stops in the middle of records of both sessions.
void echo_inside(std::size_t size, std::size_t read_size, TlsInTls& fixture) {
    NestedServer server([](SSL* inner) {
        std::array<char, 50'000> bytes;
        for (;;) {
            int n = SSL_read(inner, bytes.data(), bytes.size());
            if (n <= 0 || SSL_write(inner, bytes.data(), n) <= 0) break;
        }
        SSL_shutdown(inner);
    });
    auto result = fixture.open(server);
    ASSERT_TRUE(result.transport) << result.reason;
    auto& transport = *result.transport;
    auto const body = letters(size);
    std::string got;
    bool written = false, ended = false;
    auto writer = [&]() -> awaitable<void> {
        auto const wrote = co_await transport.write(body, seconds{5});
        EXPECT_FALSE(wrote.error) << wrote.error.message();
        transport.shutdown_send();
        written = true;
    };
    auto reader = [&]() -> awaitable<void> {
        std::vector<char> buffer(read_size);
        while (!ended) {
            auto const read = co_await transport.read_some(buffer, seconds{5});
            if (read.error) EXPECT_EQ(read.error, asio::error::eof);
            ended = bool(read.error);
            got.append(buffer.data(), read.bytes);
        }
    };
    auto rethrow = [](std::exception_ptr fault) {
        if (fault) std::rethrow_exception(fault);
    };
    asio::co_spawn(fixture.scene.loop.io, writer(), rethrow);
    asio::co_spawn(fixture.scene.loop.io, reader(), rethrow);
    fixture.scene.loop.run_until([&] { return written && ended; });
    EXPECT_TRUE(got == body);
}

TEST_F(TlsInTls, big_bodies_pass_both_ways_at_once) { echo_inside(10'000'000, 64 * 1024, *this); }

TEST_F(TlsInTls, small_reads_lose_no_bytes) { echo_inside(200'000, 7, *this); }

TEST_F(TlsInTls, a_cancelled_handshake_ends) {
    TlsServer server(good(), [](SSL* outer) { receive(outer, 100'000); });   // answers nothing
    auto outer = scene.connect(server.port());
    ASSERT_TRUE(outer.transport);
    ConnectStop stop;
    Timer timer(scene.loop.io.get_executor(), milliseconds{100});
    timer.async_wait([&](Error) { stop.request(); });
    Connector connector(scene.loop.io, scene.loop.wheel, scene.resolver, scene.options);
    ConnectTarget const target{.host = "origin.test", .port = 443, .tls = origin};
    auto const result = scene.loop.run(connector.secure(std::move(outer.transport), target, &stop));
    EXPECT_EQ(result.failure, ConnectFailure::cancelled);
}

}   // namespace
}   // namespace garner::net
