// garner takeover, from a former process that speaks by hand: it ends, refuses, and sends its messages in any order.
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "story/takeover/takeovers.hpp"

namespace garner::test {

namespace {

using nlohmann::json;

/// A process that takes over from one that speaks by hand.
class Successor {
public:
    Successor() : control_((dir_.path("") / "control").string()), child_({garner_binary(), "takeover", "--config", written()}) {}
    ~Successor() { let_go(); }

    /// Up to the descriptors.
    Partner begin() {
        auto former = control_.accept();
        EXPECT_EQ(former.receive().value("do", ""), "hello");
        EXPECT_TRUE(former.send(Partner::welcome()));
        auto const name = "listen/127.0.0.1:" + std::to_string(listening_.port) + "/0";
        EXPECT_TRUE(
            former.send({{"do", "sockets"}, {"names", {name, "control"}}, {"last", true}}, {listening_.fd, control_.descriptor()}));
        return former;
    }
    static void release_disk(Partner& former) {
        EXPECT_TRUE(former.until("ready").is_object());
        EXPECT_TRUE(former.send({{"do", "disk"}}));
    }
    static bool forget(Partner& former, char const* what, int number, std::vector<std::string> const& keys = {}) {
        return former.send({{"do", what}, {"number", number}, {"keys", keys}, {"power", false}, {"everything", false}});
    }
    void let_go() {
        if (listening_.fd >= 0) ::close(std::exchange(listening_.fd, -1));
    }
    Child& child() { return child_; }
    std::uint16_t port() const { return listening_.port; }
    std::string path() const { return (dir_.path("") / "control").string(); }

private:
    std::string written() {
        json configuration{{"listen", {{{"address", "127.0.0.1:" + std::to_string(listening_.port)}}}},
                           {"user", "root"},
                           {"disk", {{"path", dir_.path("").string()}, {"size", "64 MiB"}}},
                           {"control", {{"path", (dir_.path("") / "control").string()}}},
                           {"admin", {{"address", "127.0.0.1:" + std::to_string(free_port())}}},
                           {"access", {{{"allow", {{"destination", {"127.0.0.0/8"}}, {"port", {"1-65535"}}}}}}}};
        return dir_.write("garner.json", configuration.dump());
    }
    TempDir dir_;
    Listening listening_ = listen_on("127.0.0.1");
    PartnerSocket control_;
    Child child_;
};

}   // namespace

TEST_F(Takeovers, a_former_process_that_ends_at_any_step_is_followed_by_the_new_one) {
    std::vector<std::string> const steps{"sockets", "disk", "go"};
    for (std::size_t last = 0; last < steps.size(); ++last) {
        SCOPED_TRACE(steps[last]);
        Successor successor;
        auto& fresh = successor.child();
        {
            auto former = successor.begin();
            if (last >= 1) Successor::release_disk(former);
            if (last >= 2) {
                ASSERT_TRUE(former.until("serving").is_object());
                ASSERT_TRUE(Successor::forget(former, "go", 0));
                ASSERT_EQ(former.receive().value("do", ""), "settled");
            }
        }
        successor.let_go();
        EXPECT_TRUE(eventually([&] { return fresh.errors().find("garner listens on") != std::string::npos || !fresh.running(); }));
        ASSERT_TRUE(fresh.running()) << fresh.errors();
        EXPECT_EQ(Client("127.0.0.1", successor.port()).get(origin.url("/live")).body(), "live") << fresh.errors();
        EXPECT_TRUE(eventually([&] { return fresh.errors().find("the former process has ended early") != std::string::npos; }));
        fresh.signal(SIGTERM);
        EXPECT_EQ(fresh.exit_code().value_or(-1), 0) << fresh.errors();
        EXPECT_FALSE(std::filesystem::exists(successor.path()));
    }
}

TEST_F(Takeovers, acknowledge_only_the_last_message_of_a_batch) {
    Successor successor;
    auto former = successor.begin();
    Successor::release_disk(former);
    ASSERT_TRUE(former.until("serving").is_object());
    ASSERT_TRUE(Successor::forget(former, "forget", 0, {"f" + origin.url("/a")}));
    ASSERT_TRUE(Successor::forget(former, "go", 2, {"f" + origin.url("/b")}));
    EXPECT_EQ(former.receive(), (json{{"do", "settled"}, {"number", 2}}));
    Client client("127.0.0.1", successor.port());
    EXPECT_EQ(client.get(origin.url("/page")).body(), "page");
    EXPECT_TRUE(client.get(origin.url("/page")).hit());
    ASSERT_TRUE(Successor::forget(former, "forget", 2, {"f" + origin.url("/page")}));
    ASSERT_TRUE(Successor::forget(former, "forget", 5));
    EXPECT_EQ(former.receive(), (json{{"do", "settled"}, {"number", 5}}));
    EXPECT_FALSE(client.get(origin.url("/page")).hit());
    EXPECT_TRUE(client.get(origin.url("/page")).hit());
    ASSERT_TRUE(former.send({{"do", "forget"}, {"number", 6}, {"keys", json::array()}, {"power", true}, {"everything", true}}));
    EXPECT_EQ(former.receive(), (json{{"do", "settled"}, {"number", 6}}));
    EXPECT_FALSE(client.get(origin.url("/page")).hit());
    ASSERT_TRUE(former.send({{"do", "bye"}}));
    client.close();
    successor.child().signal(SIGTERM);
    EXPECT_EQ(successor.child().exit_code().value_or(-1), 0) << successor.child().errors();
}

TEST_F(Takeovers, a_request_that_misses_asks_the_former_process_for_the_object) {
    Successor successor;
    auto former = successor.begin();
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ASSERT_TRUE(former.until("ready").is_object());
    ASSERT_TRUE(former.send({{"do", "objects"}, {"wants", true}}, {ends[1]}));
    ::close(ends[1]);
    ASSERT_TRUE(former.send({{"do", "disk"}}));
    ASSERT_TRUE(former.until("serving").is_object());
    ASSERT_TRUE(Successor::forget(former, "go", 1, {"f" + origin.url("/live")}));
    ASSERT_TRUE(former.until("settled").is_object());
    Client client("127.0.0.1", successor.port()), other("127.0.0.1", successor.port());
    auto const reply = client.get(origin.url("/page"));
    auto const key = "f" + origin.url("/page");
    std::string asked(4 + key.size(), '\0');
    ASSERT_EQ(::recv(ends[0], asked.data(), asked.size(), MSG_WAITALL), static_cast<ssize_t>(asked.size()));
    EXPECT_EQ(asked.substr(4), key);
    EXPECT_EQ(other.get(origin.url("/live")).body(), "live") << "it was removed there: nobody asks";
    EXPECT_EQ(reply.body(), "page") << "no answer comes";
    EXPECT_TRUE(client.get(origin.url("/page")).hit());
    EXPECT_EQ(::recv(ends[0], asked.data(), asked.size(), MSG_DONTWAIT), -1);
    ::close(ends[0]);
    ASSERT_TRUE(former.send({{"do", "bye"}}));
    client.close();
    other.close();
    successor.child().signal(SIGTERM);
    EXPECT_EQ(successor.child().exit_code().value_or(-1), 0) << successor.child().errors();
}

TEST_F(Takeovers, a_new_process_that_is_refused_at_the_end_leaves_the_control_socket) {
    Successor successor;
    auto& fresh = successor.child();
    auto former = successor.begin();
    Successor::release_disk(former);
    auto const serving = former.until("serving");
    EXPECT_EQ(serving.value("control", false), true);
    ASSERT_TRUE(former.send({{"do", "refused"}, {"reason", "a worker does not respond"}}));
    EXPECT_EQ(fresh.exit_code().value_or(-1), 1);
    EXPECT_TRUE(fresh.says("a worker does not respond")) << fresh.errors();
    EXPECT_TRUE(std::filesystem::exists(successor.path())) << "commands reach the running process";
}

}   // namespace garner::test
