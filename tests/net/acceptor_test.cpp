// Accepted sockets: their flags and addresses, and that a closed one leaves nothing behind.
#include "net/acceptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/system/system_error.hpp>
#include <memory>
#include <string_view>
#include <thread>

#include "net/loop.hpp"

namespace garner::net {
namespace {

struct AcceptorScene {
    Loop loop;
    Acceptor acceptor{loop.io, TcpEndpoint(asio::ip::address_v4::loopback(), 0)};
    asio::io_context other;
    asio::ip::tcp::socket client{other};
    TcpEndpoint remote;

    awaitable<std::unique_ptr<TcpSocket>> next() {
        auto [error, socket] = co_await acceptor.async_accept(remote, as_values);
        if (error) throw boost::system::system_error(error);
        note_sole_owner(socket);
        co_return std::make_unique<TcpSocket>(std::move(socket));
    }
    std::unique_ptr<TcpSocket> accept() {
        client = asio::ip::tcp::socket(other);
        client.connect(acceptor.local_endpoint());
        return loop.run(next());
    }
    awaitable<std::size_t> read(TcpSocket& socket, std::array<char, 16>& into) {
        auto [error, bytes] = co_await socket.async_read_some(asio::buffer(into), as_values);
        if (error) throw boost::system::system_error(error);
        co_return bytes;
    }
};

TEST(Acceptor, a_socket_does_not_block_and_is_closed_on_exec) {
    AcceptorScene scene;
    auto socket = scene.accept();
    EXPECT_TRUE(::fcntl(socket->native_handle(), F_GETFL) & O_NONBLOCK);
    EXPECT_TRUE(::fcntl(socket->native_handle(), F_GETFD) & FD_CLOEXEC);
    EXPECT_EQ(scene.remote, scene.client.local_endpoint());
    EXPECT_EQ(socket->remote_endpoint(), scene.client.local_endpoint());
}

TEST(Acceptor, sockets_that_follow_each_other_under_one_number_read_their_own_bytes) {
    AcceptorScene scene;
    int number = -1;
    for (auto const* text : {"first", "second", "third"}) {
        auto socket = scene.accept();
        if (number < 0) number = socket->native_handle();
        EXPECT_EQ(socket->native_handle(), number) << "the number of the closed one";
        scene.client.send(asio::buffer(text, std::string_view(text).size()));
        std::array<char, 16> bytes{};
        auto const count = scene.loop.run(scene.read(*socket, bytes));
        EXPECT_EQ(std::string_view(bytes.data(), count), text);
    }
}

TEST(Acceptor, waits_for_a_client) {
    AcceptorScene scene;
    std::jthread later([&] {
        std::this_thread::sleep_for(milliseconds{20});
        scene.client.connect(scene.acceptor.local_endpoint());
    });
    auto const socket = scene.loop.run(scene.next());
    EXPECT_TRUE(socket->is_open());
}

}   // namespace
}   // namespace garner::net
