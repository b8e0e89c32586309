// The peer monitor running on its own worker.
#include "icp/peer_monitor.hpp"

#include <gtest/gtest.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "icp/mesh.hpp"
#include "io/log.hpp"
#include "support/made.hpp"

namespace garner::icp {
namespace {

using std::chrono::operator""ms;
using std::chrono::operator""s;

/// A listener on 127.0.0.1 that does not accept by itself.
class Port {
public:
    explicit Port(int backlog = 16) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        where_.sin_family = AF_INET;
        where_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof where_;
        auto* address = reinterpret_cast<sockaddr*>(&where_);
        check(bind(fd_, address, length) == 0 && getsockname(fd_, address, &length) == 0 && listen(fd_, backlog) == 0);
    }
    ~Port() {
        for (int const fd : fillers_) close(fd);
        close(fd_);
    }
    Port(Port const&) = delete;
    std::uint16_t number() const { return ntohs(where_.sin_port); }
    /// Fills the backlog, so that later connections get no answer.
    void fill() {
        for (int i = 0; i < 8; ++i) {
            fillers_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
            (void)!connect(fillers_.back(), reinterpret_cast<sockaddr*>(&where_), sizeof where_);
        }
        std::this_thread::sleep_for(50ms);
    }

private:
    int fd_;
    sockaddr_in where_{};
    std::vector<int> fillers_;
};

PeerOptions a_parent(std::string host, std::uint16_t http = 3128) {
    PeerOptions options;
    options.name = "p";
    options.host = std::move(host);
    options.http = http;
    return options;
}

/// One worker and a mesh of one peer, whose name is resolved by a hosts file.
class PeerMonitors : public testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() / ("garner-peer_monitor-" + std::to_string(getpid()));
        std::filesystem::create_directory(folder_);
        dns_.servers = {"127.0.0.1:1"};   // a server that never responds
        dns_.hosts_file = folder_ / "hosts";
        write_hosts("");
    }
    void TearDown() override {
        if (worker_) stop();
        std::filesystem::remove_all(folder_);
    }

    void write_hosts(std::string const& text) { std::ofstream(dns_.hosts_file) << text; }

    std::shared_ptr<Peer> start(PeerOptions peer) {
        names_.emplace(dns_);
        worker_.emplace(0u, *names_, nullptr, net::WorkerOptions{dns_, {}, {}});
        Options options;
        options.peers.push_back(std::move(peer));
        net::Worker* const workers[] = {&*worker_};
        mesh_ = test::made(Mesh::make(std::move(options), workers, cache_));
        mesh_->start();
        // Both threads log. TSan does not see the lock of the first use: the library is not instrumented.
        spdlog::default_logger();
        worker_->start();
        return mesh_->peer_table()->peers.front();
    }
    void stop() {
        net::asio::post(worker_->io, [this] { mesh_->stop(0); });
        worker_->finish();
        ASSERT_TRUE(worker_->join(10s));
        mesh_.reset();
        worker_.reset();
    }

    template <class Condition>
    static bool soon(Condition holds, milliseconds limit = 10s) {
        for (auto const give_up = steady_now() + limit; steady_now() < give_up; std::this_thread::sleep_for(10ms))
            if (holds()) return true;
        return holds();
    }

    std::filesystem::path folder_;
    net::ResolverOptions dns_;
    std::optional<net::NameCache> names_;
    cache::Cache cache_{cache::Options{.size = 4 * MiB}};
    std::optional<net::Worker> worker_;
    std::unique_ptr<Mesh> mesh_;
};

TEST_F(PeerMonitors, finds_the_addresses_of_a_name) {
    write_hosts("127.0.0.5 cache.test\n");
    auto const peer = start(a_parent("Cache.Test"));
    ASSERT_TRUE(soon([&] { return !peer->addresses().empty(); }));
    EXPECT_EQ(peer->addresses().front().text(), "127.0.0.5");
    EXPECT_TRUE(peer->is_at({IpAddress::v4(127, 0, 0, 5), 3130}, Protocol::icp));
}

TEST_F(PeerMonitors, asks_again_for_a_name_that_leads_nowhere_until_it_does) {
    auto const peer = start(a_parent("cache.test"));
    EXPECT_FALSE(soon([&] { return !peer->addresses().empty(); }, 500ms));
    write_hosts("127.0.0.6 cache.test\n");
    (*names_->prepare(dns_))();
    ASSERT_TRUE(soon([&] { return !peer->addresses().empty(); }));
    EXPECT_EQ(peer->addresses().front().text(), "127.0.0.6");
}

TEST_F(PeerMonitors, probes_one_whose_connections_failed_and_brings_it_back) {
    Port const port;
    auto const peer = start(a_parent("127.0.0.1", port.number()));
    peer->connect_failed("connection refused", steady_now());
    EXPECT_FALSE(soon([&] { return peer->view(steady_now()).health == Health::alive; }, 1'500ms)) << "not at once";
    peer->connect_failed("connection refused", steady_now() - Liveness::probe_interval);
    EXPECT_TRUE(soon([&] { return peer->view(steady_now()).health == Health::alive; }));
}

TEST_F(PeerMonitors, leaves_one_dead_that_does_not_take_the_probe) {
    std::uint16_t closed = 0;
    {
        Port const port;
        closed = port.number();
    }
    auto const peer = start(a_parent("127.0.0.1", closed));
    peer->connect_failed("connection refused", steady_now() - Liveness::probe_interval);
    EXPECT_TRUE(soon([&] { return !peer->wants_probe(steady_now()); })) << "it has been probed";
    EXPECT_FALSE(soon([&] { return peer->view(steady_now()).health == Health::alive; }, 500ms));
}

TEST_F(PeerMonitors, leaves_one_dead_whose_port_accepts_and_speaks_no_TLS) {
    Port const port;   // accepts by its backlog, and never answers
    auto options = a_parent("127.0.0.1", port.number());
    options.tls.emplace();
    options.connect_timeout = 300ms;
    auto const peer = start(options);
    peer->connect_failed("certificate not accepted", steady_now() - Liveness::probe_interval);
    EXPECT_TRUE(soon([&] { return !peer->wants_probe(steady_now()); })) << "it has been probed";
    EXPECT_FALSE(soon([&] { return peer->view(steady_now()).health == Health::alive; }, 1s));
}

TEST_F(PeerMonitors, leaves_one_dead_whose_port_accepts_and_answers_no_request) {
    Port const port;   // accepts by its backlog, and never answers
    auto const peer = start(a_parent("127.0.0.1", port.number()));
    peer->waited(steady_now(), steady_now());
    EXPECT_EQ(peer->view(steady_now()).health, Health::suspect);
    EXPECT_TRUE(soon([&] { return peer->view(steady_now()).health == Health::dead; })) << "the probe waits, too";
}

TEST_F(PeerMonitors, keeps_nobody_from_ending_while_a_probe_runs) {
    Port port(0);
    port.fill();
    auto options = a_parent("127.0.0.1", port.number());
    options.connect_timeout = 60s;
    auto const peer = start(options);
    peer->connect_failed("timed out", steady_now() - Liveness::probe_interval);
    ASSERT_TRUE(soon([&] { return !peer->wants_probe(steady_now()); }));
    auto const begun = steady_now();
    stop();
    EXPECT_LT(steady_now() - begun, 5s);
    EXPECT_EQ(peer->view(steady_now()).health, Health::dead);
}

TEST_F(PeerMonitors, follows_the_roster) {
    write_hosts("127.0.0.5 one.test\n127.0.0.6 two.test\n");
    auto const one = start(a_parent("one.test"));
    ASSERT_TRUE(soon([&] { return !one->addresses().empty(); }));
    Options changed;
    changed.peers = {a_parent("one.test"), a_parent("two.test")};
    changed.peers.back().name = "q";
    test::made(mesh_->prepare(changed))();
    EXPECT_EQ(mesh_->peer_table()->peers.front(), one) << "an unchanged peer keeps its measurements";
    auto const two = mesh_->peer_table()->peers.back();
    EXPECT_TRUE(soon([&] { return !two->addresses().empty(); }));
    test::made(mesh_->prepare({}))();
    EXPECT_EQ(mesh_->peer_table()->peers.size(), 0u);
}

TEST_F(PeerMonitors, sees_the_death_and_the_return_of_a_watched_proxy) {
    auto port = std::make_unique<Port>();
    auto const number = port->number();
    auto const peer = start(a_parent("127.0.0.1", number));
    std::uint16_t closed = 0;
    {
        Port const other;
        closed = other.number();
    }
    Options watching;
    watching.peers = {a_parent("127.0.0.1", number)};
    watching.watched = {{"127.0.0.1", number}, {"127.0.0.1", closed}};
    test::made(mesh_->prepare(watching))();
    auto const is_dead = [&](std::uint16_t number) { return mesh_->peer_table()->is_dead("127.0.0.1", number, steady_now()); };
    EXPECT_EQ(mesh_->peer_table()->watched.front(), peer);
    EXPECT_TRUE(soon([&] { return is_dead(closed); }, 4s)) << "no peer, but watched";
    EXPECT_FALSE(is_dead(number));
    port.reset();
    EXPECT_TRUE(soon([&] { return is_dead(number); }, 4s));
    EXPECT_EQ(peer->view(steady_now()).health, Health::dead);
    EXPECT_FALSE(mesh_->peer_table()->is_dead("127.0.0.2", number, steady_now())) << "not watched";
}

}   // namespace
}   // namespace garner::icp
