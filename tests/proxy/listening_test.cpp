// A change of the listening addresses that fails leaves the running sockets as they are.
#include "proxy/listening.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "net/original_destination.hpp"
#include "proxy/drain.hpp"
#include "proxy/server.hpp"
#include "support/made.hpp"

namespace garner::proxy {
namespace {

using test::made;

struct Listens : ::testing::Test {
    Listens() {
        ServerOptions options;
        options.workers = 1;
        auto const proxy = std::make_shared<Options>();
        proxy->listen = {at(0)};
        proxy->log.access.clear();
        server = made(Server::make(options, proxy, cache));
        server->start();
    }
    ~Listens() override { EXPECT_TRUE(stop(*server, milliseconds{0})); }

    static Listen at(std::uint16_t port, net::Intercept intercept = net::Intercept::off) {
        Listen listen;
        listen.address = "127.0.0.1";
        listen.port = port;
        listen.intercept = intercept;
        return listen;
    }
    bool is_transparent() {
        int value = 0;
        socklen_t size = sizeof value;
        ::getsockopt(server->listening().sockets().front().descriptor, SOL_IP, IP_TRANSPARENT, &value, &size);
        return value != 0;
    }

    cache::Cache cache{{.size = 8 * MiB}};
    std::unique_ptr<Server> server;
};

TEST_F(Listens, transparently_only_after_the_change_is_applied) {
    auto& listening = server->listening();
    if (net::may_set_transparent(listening.sockets().front().descriptor, true)) GTEST_SKIP() << "needs CAP_NET_ADMIN";
    net::asio::io_context io;
    Acceptor const other(io, net::TcpEndpoint(net::asio::ip::address_v4::loopback(), 0), false);
    std::vector const refused{at(0, net::Intercept::tproxy), at(other.local_endpoint().port())};
    EXPECT_FALSE(listening.prepare(refused));
    EXPECT_FALSE(is_transparent()) << "the second address was in use";
    std::vector const good{at(0, net::Intercept::tproxy)};
    auto const change = made(listening.prepare(good));
    EXPECT_FALSE(is_transparent());
    change();
    EXPECT_TRUE(is_transparent());
    made(listening.prepare(std::vector{at(0)}))();
    EXPECT_FALSE(is_transparent());
}

}   // namespace
}   // namespace garner::proxy
