// Redis servers as actors, alone or as a cluster, on free ports of loopback; nothing of them outlives the test.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "support/child.hpp"
#include "support/wire.hpp"

namespace garner::test {

class RedisServer {
public:
    /// Started and answering, with more options ("--requirepass x"). Throws Trouble when it does not come.
    explicit RedisServer(std::vector<std::string> const& options = {});

    std::uint16_t port() const { return port_; }
    std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }
    Child& child() { return *child_; }
    /// What redis-cli prints for a command; throws Trouble when it fails.
    std::string tell(std::vector<std::string> const& words) const;

private:
    TempDir dir_;
    std::uint16_t port_;
    std::unique_ptr<Child> child_;
};

class RedisCluster {
public:
    /// So many masters, each with as many of the 16384 slots.
    explicit RedisCluster(std::size_t masters = 3);

    RedisServer& node(std::size_t i) { return *nodes_[i]; }
    std::size_t size() const { return nodes_.size(); }
    /// "redis:127.0.0.1:7001,127.0.0.1:7002"
    std::string address() const;
    /// Says the same to all of them.
    void tell_all(std::vector<std::string> const& words);
    /// The master that has the slot now.
    std::size_t node_of(unsigned slot);
    std::string id(std::size_t i) { return node(i).tell({"CLUSTER", "MYID"}); }
    /// One more server, which replicates that one, and what comes later some moments after it.
    std::size_t add_replica(std::size_t of);
    /// Until all of them know all, and every slot is served.
    void wait_until_sound();

private:
    static std::vector<std::string> node_options();

    std::vector<std::unique_ptr<RedisServer>> nodes_;
};

}   // namespace garner::test
