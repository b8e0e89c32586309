// A worker of the test's own that connects to TLS servers.
#pragma once
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/connector.hpp"
#include "net/ip_text.hpp"
#include "net/listener.hpp"
#include "net/loop.hpp"
#include "net/tls_server.hpp"
#include "support/made.hpp"

namespace garner::net {

/// One authority for all scenes: key generation is slow under sanitizers.
inline Authority& authority() {
    static Authority one;
    return one;
}

inline Identity good() { return authority().sign({}); }

inline void say_hello(SSL* ssl) {
    send(ssl, "hello");
    receive(ssl, 1);
    SSL_shutdown(ssl);
}

struct TlsScene {
    TlsScene() {
        std::signal(SIGPIPE, SIG_IGN);   // the servers' blocking OpenSSL writes without MSG_NOSIGNAL
        tls.ca_file = authority().file();
        for (auto host : {"origin.test", "www.wild.test"}) cache.store(host, {ip("127.0.0.1")}, seconds{60});
    }

    Connected connect(std::uint16_t port, std::string host = "origin.test", std::string server_name = {},
                      ConnectStop* stop = nullptr) {
        if (!context) context = test::made(TlsContext::make(tls));
        Connector connector(loop.io, loop.wheel, resolver, options);
        ConnectTarget target{.host = host, .port = port, .tls = context, .server_name = server_name};
        target.verification = verification;
        AddressFilter all;
        return loop.run(connector.connect(target, all, stop));
    }

    /// Reads up to `count` bytes, or until an error, which is stored in `error`.
    std::string read(Transport& from, std::size_t count, std::size_t at_a_time = 64 * 1024) {
        std::string got;
        auto work = [&]() -> awaitable<void> {
            std::vector<char> buffer(at_a_time);
            while (got.size() < count) {
                auto result = co_await from.read_some(buffer, seconds{5});
                error = result.error;
                if (error) co_return;
                EXPECT_GT(result.bytes, 0u);
                got.append(buffer.data(), result.bytes);
            }
        };
        loop.run(work());
        return got;
    }
    void write(Transport& to, std::string_view bytes) { EXPECT_FALSE(loop.run(to.write(bytes, seconds{5})).error); }

    Loop loop;
    ResolverOptions dns = [] {
        ResolverOptions made;
        made.hosts_file = "";
        made.servers = {"127.0.0.1:1"};
        return made;
    }();
    NameCache cache{dns};
    Resolver resolver{loop.io, loop.wheel, cache, dns};
    ConnectorOptions options;
    TlsOptions tls;
    Verification verification = Verification::required;
    std::shared_ptr<TlsContext> context;
    Error error;
};

}   // namespace garner::net
