// Redis servers as actors, alone or as a cluster, on free ports of loopback; removed with the test.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "support/child.hpp"
#include "support/wire.hpp"

namespace garner::test {

class RedisServer {
public:
    /// Starts a server with additional options ("--requirepass x") and waits until it answers. Throws Trouble on failure.
    explicit RedisServer(std::vector<std::string> const& options = {});

    std::uint16_t port() const { return port_; }
    std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }
    Child& child() { return *child_; }
    /// Kills the process, and starts another one without data at the same port.
    void restart_empty();
    /// The output of redis-cli for a command; throws Trouble if it fails.
    std::string tell(std::vector<std::string> const& words) const;

private:
    void start();

    TempDir dir_;
    std::uint16_t port_;
    std::vector<std::string> command_;
    std::unique_ptr<Child> child_;
};

class RedisCluster {
public:
    /// A number of masters with equal shares of the 16384 slots.
    explicit RedisCluster(std::size_t masters = 3);

    RedisServer& node(std::size_t i) { return *nodes_[i]; }
    std::size_t size() const { return nodes_.size(); }
    /// For example "redis:127.0.0.1:7001,127.0.0.1:7002".
    std::string address() const;
    /// Sends a command to all servers.
    void tell_all(std::vector<std::string> const& words);
    /// The current master of the slot.
    std::size_t node_of(unsigned slot);
    std::string id(std::size_t i) { return node(i).tell({"CLUSTER", "MYID"}); }
    /// Adds a server that replicates master `of`, with a short replication delay.
    std::size_t add_replica(std::size_t of);
    /// Waits until all servers know each other and every slot is served.
    void wait_until_sound();

private:
    static std::vector<std::string> node_options();

    std::vector<std::unique_ptr<RedisServer>> nodes_;
};

}   // namespace garner::test
