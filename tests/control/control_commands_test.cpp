// Real sockets between two threads of the test.
#include "control/control_commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "control/socket_address.hpp"

namespace garner::control {
namespace {

using testing::HasSubstr;

/// A directory that is removed at the end.
class Directory {
public:
    Directory() {
        char name[] = "/tmp/garner-control-XXXXXX";
        path_ = ::mkdtemp(name);
    }
    ~Directory() { std::filesystem::remove_all(path_); }
    std::string socket() const { return path_ + "/control"; }

private:
    std::string path_;
};

/// A proxy's main thread that answers commands.
class Process {
public:
    Process(std::string const& path, CommandServer::Execute execute)
        : server_(*Socket::open(path)), thread_([this, execute = std::move(execute)] {
              while (!over_) {
                  std::vector<pollfd> descriptors;
                  server_.add_to(descriptors);
                  ::poll(descriptors.data(), descriptors.size(), 10);
                  server_.serve(execute, [](Channel, Json const&) {});
              }
          }) {}
    ~Process() {
        over_ = true;
        thread_.join();
    }

private:
    CommandServer server_;
    std::atomic<bool> over_{false};
    std::thread thread_;
};

CommandResult echo(Json const& command) { return {7, {command.dump()}}; }

/// Sends bytes as one message, and returns what comes back: empty if the connection is closed.
std::string exchange(std::string const& path, std::string const& bytes) {
    auto channel = *Channel::connect(path);
    EXPECT_EQ(::send(channel.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    auto const reply = channel.receive(seconds{5});
    return reply ? reply->dump() : "";
}

TEST(Commands, get_lines_and_an_exit_code) {
    Directory const directory;
    Process const process(directory.socket(), echo);
    std::ostringstream out;
    auto const code = execute(directory.socket(), {{"do", "reload"}, {"dry_run", true}}, seconds{5}, out);
    ASSERT_TRUE(code) << code.fault_text();
    EXPECT_EQ(code->code, 7);
    EXPECT_EQ(out.str(), R"({"do":"reload","dry_run":true})"
                         "\n");
}

TEST(Commands, may_have_answers_longer_than_a_message) {
    Directory const directory;
    std::vector<std::string> const lines(300, std::string(3'900, 'x') + "\xff");
    Process const process(directory.socket(), [&](Json const&) { return CommandResult{0, lines}; });
    std::ostringstream out;
    auto const code = execute(directory.socket(), {{"do", "reload"}}, seconds{5}, out);
    ASSERT_TRUE(code) << code.fault_text();
    EXPECT_EQ(code->code, 0);
    EXPECT_EQ(out.str().size(), 300 * (3'900 + 3 + 1));   // one invalid byte became U+FFFD
}

TEST(Commands, that_are_none_end_their_connection_only) {
    Directory const directory;
    Process const process(directory.socket(), echo);
    EXPECT_EQ(exchange(directory.socket(), "no CBOR"), "");
    EXPECT_EQ(exchange(directory.socket(), "\x80"), "");   // a list
    EXPECT_EQ(exchange(directory.socket(), "\xa1\x62"
                                           "do\x9b\xff\xff\xff\xff\xff\xff\xff\xff"),
              "");   // an excessive list
    EXPECT_EQ(exchange(directory.socket(), "\xa1\x62"
                                           "do" +
                                               std::string(60'000, '\x81')),
              "");   // lists in lists
    EXPECT_EQ(exchange(directory.socket(), "\xa1\x62"
                                           "do\x01"),
              "");                                                                       // do: 1
    EXPECT_EQ(exchange(directory.socket(), std::string(message_max + 1, '\xa0')), "");   // too long
    EXPECT_THAT(exchange(directory.socket(), "\xa1\x62"
                                             "do\x64quit"),
                HasSubstr("quit"));
}

TEST(Commands, wait_for_no_silent_client) {
    Directory const directory;
    Process const process(directory.socket(), echo);
    std::vector<Channel> silent;
    for (int i = 0; i < 40; ++i) silent.push_back(*Channel::connect(directory.socket()));
    std::ostringstream out;
    auto const code = execute(directory.socket(), {{"do", "confirm"}}, seconds{5}, out);
    ASSERT_TRUE(code) << code.fault_text();
    EXPECT_EQ(code->code, 7);
}

TEST(ControlSocket, is_for_its_user_and_gone_at_the_end) {
    Directory const directory;
    {
        auto const socket = Socket::open(directory.socket());
        ASSERT_TRUE(socket) << socket.fault_text();
        struct stat file {};
        ASSERT_EQ(::stat(directory.socket().c_str(), &file), 0);
        EXPECT_EQ(file.st_mode & 0777, 0600u);
    }
    EXPECT_FALSE(std::filesystem::exists(directory.socket()));
    EXPECT_THAT(Channel::connect(directory.socket()).fault_text(), HasSubstr("start the proxy"));
}

TEST(ControlSocket, that_was_adopted_stays_until_it_is_owned) {
    Directory const directory;
    auto const former = *Socket::open(directory.socket());
    former->leave();
    for (bool const owns : {false, true}) {
        auto adopted = Socket::adopt(::dup(former->descriptor()), directory.socket());
        ASSERT_TRUE(adopted);
        EXPECT_FALSE(adopted->is_own());
        if (owns) adopted->own();
        adopted = nullptr;
        EXPECT_EQ(std::filesystem::exists(directory.socket()), !owns);
    }
}

TEST(ControlSocket, waits_for_descriptors_without_a_busy_loop) {
    Directory const directory;
    CommandServer server(*Socket::open(directory.socket()));
    auto const polled = [&] {
        std::vector<pollfd> descriptors;
        server.add_to(descriptors);
        return descriptors.size();
    };
    auto const client = *Channel::connect(directory.socket());
    rlimit usual{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
    rlimit const none{.rlim_cur = 1, .rlim_max = usual.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    server.serve(echo, [](Channel, Json const&) {});
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
    EXPECT_EQ(polled(), 0u) << "no descriptor was free";
    std::this_thread::sleep_for(milliseconds{150});
    EXPECT_EQ(polled(), 1u);
    server.serve(echo, [](Channel, Json const&) {});
    EXPECT_EQ(polled(), 2u) << "the client is accepted";
}

TEST(ControlSocket, replaces_that_of_a_process_that_has_ended) {
    Directory const directory;
    auto const address = *address_of(directory.socket());
    int const dead = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
    ASSERT_EQ(::bind(dead, reinterpret_cast<sockaddr const*>(&address), sizeof address), 0);
    ::close(dead);
    auto const socket = Socket::open(directory.socket());
    EXPECT_TRUE(socket) << socket.fault_text();
}

TEST(ControlSocket, of_another_user_gets_no_command) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    Directory const directory;
    auto const parent = std::filesystem::path(directory.socket()).parent_path();
    std::filesystem::permissions(parent, std::filesystem::perms::all);
    ASSERT_EQ(::seteuid(65534), 0);
    auto const foreign = Socket::open(directory.socket());
    ASSERT_EQ(::seteuid(0), 0);
    ASSERT_TRUE(foreign) << foreign.fault_text();
    EXPECT_THAT(Channel::connect(directory.socket()).fault_text(), HasSubstr("another user listens there"));
    // The user of the proxy, which alone may write into the directory.
    ASSERT_EQ(::chown(parent.c_str(), 65534, 65534), 0);
    std::filesystem::permissions(parent, std::filesystem::perms::owner_all);
    EXPECT_TRUE(Channel::connect(directory.socket()));
}

TEST(ControlSocket, is_not_taken_from_a_running_process_or_a_file) {
    Directory const directory;
    {
        auto const running = *Socket::open(directory.socket());
        EXPECT_THAT(Socket::open(directory.socket()).fault_text(), HasSubstr("another process listens there"));
    }
    std::ofstream(directory.socket()) << "mine";
    EXPECT_THAT(Socket::open(directory.socket()).fault_text(), HasSubstr("is no socket"));
    EXPECT_THAT(Socket::open(std::string(200, 'x')).fault_text(), HasSubstr("1 to 107 bytes"));
    EXPECT_THAT(Socket::open("/nowhere/control").fault_text(), HasSubstr("create its directory"));
}

TEST(Channels, tell_a_slow_receiver_from_one_that_has_ended) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    Channel sender(ends[0]);
    std::optional<Channel> receiver(std::in_place, ends[1]);
    Json const message{{"do", "forget"}, {"keys", {std::string(60'000, 'x')}}};
    EXPECT_EQ(sender.try_send({{"keys", {std::string(message_max, 'x')}}}), Sent::too_long);
    int sent = 0;
    auto last = Sent::done;
    for (; sent < 1'000 && last == Sent::done; ++sent) last = sender.try_send(message);
    EXPECT_EQ(last, Sent::slow) << sent;
    while (receiver->receive(milliseconds{0})) {
    }
    EXPECT_EQ(sender.try_send(message), Sent::done);
    receiver.reset();
    EXPECT_EQ(sender.try_send(message), Sent::ended);
}

TEST(Channels, open_no_more_descriptors_than_are_wanted) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    Channel sender(ends[0]), receiver(ends[1]);
    std::vector<int> const given(descriptors_max, ends[0]);
    for (std::size_t const wanted : {std::size_t{0}, std::size_t{1}, std::size_t{5}, descriptors_max, std::size_t{1'000'000}}) {
        ASSERT_TRUE(sender.send({{"do", "clients"}}, given));
        auto const message = receiver.poll(wanted);
        ASSERT_TRUE(message && *message) << wanted;
        EXPECT_EQ((*message)->json["do"], "clients");
        EXPECT_EQ((*message)->descriptors.size(), std::min(wanted, descriptors_max));
    }
}

}   // namespace
}   // namespace garner::control
