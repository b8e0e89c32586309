#include "support/redis.hpp"

#include <signal.h>

#include <algorithm>
#include <sstream>

namespace garner::test {

RedisServer::RedisServer(std::vector<std::string> const& options)
    : port_(free_port()), command_{
                              "redis-server",      "--port", std::to_string(port_), "--bind", "127.0.0.1", "--save", "", "--dir",
                              dir_.path().string()} {
    command_.insert(command_.end(), options.begin(), options.end());
    start();
}

void RedisServer::restart_empty() {
    child_->signal(SIGKILL);
    child_->exit_code();
    start();
}

void RedisServer::start() {
    child_ = std::make_unique<Child>(command_);
    bool const answers = eventually([&] {
        return !child_->running() || run({"redis-cli", "-p", std::to_string(port_), "PING"}).output != "";
    });
    if (!answers || !child_->running()) throw Trouble("redis-server: " + child_->output() + child_->errors());
}

std::string RedisServer::tell(std::vector<std::string> const& words) const {
    std::vector<std::string> command{"redis-cli", "-e", "-p", std::to_string(port_)};
    command.insert(command.end(), words.begin(), words.end());
    auto finished = run(command);
    if (finished.code != 0) throw Trouble("redis-cli " + words[0] + ": " + finished.output + finished.errors);
    if (finished.output.ends_with('\n')) finished.output.pop_back();
    return finished.output;
}

std::vector<std::string> RedisCluster::node_options() {
    return {"--cluster-enabled", "yes", "--cluster-node-timeout", "1500", "--cluster-port", std::to_string(free_port())};
}

RedisCluster::RedisCluster(std::size_t masters) {
    constexpr std::size_t slots = 16'384;
    for (std::size_t i = 0; i < masters; ++i) {
        auto const options = node_options();
        nodes_.push_back(std::make_unique<RedisServer>(options));
        auto const first = slots * i / masters, last = slots * (i + 1) / masters - 1;
        node(i).tell({"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(last)});
        node(i).tell({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
        if (i > 0) node(0).tell({"CLUSTER", "MEET", "127.0.0.1", std::to_string(node(i).port()), options.back()});
    }
    wait_until_sound();
}

std::string RedisCluster::address() const {
    return "redis:" + nodes_[0]->endpoint() + (nodes_.size() > 1 ? "," + nodes_[1]->endpoint() : "");
}

void RedisCluster::tell_all(std::vector<std::string> const& words) {
    for (auto const& node : nodes_) node->tell(words);
}

// A line of CLUSTER NODES: id, address, flags, ...; from the ninth word on slots like "0-5460", and migrating slots in brackets.
std::size_t RedisCluster::node_of(unsigned slot) {
    for (std::size_t i = 0; i < size(); ++i) {
        std::istringstream lines(node(i).tell({"CLUSTER", "NODES"}));
        for (std::string line; std::getline(lines, line);) {
            if (line.find("myself,master") == line.npos) continue;
            std::istringstream words(line);
            std::string word;
            for (int skipped = 0; skipped < 8; ++skipped) words >> word;
            while (words >> word && word[0] != '[') {
                auto const dash = word.find('-');
                auto const first = std::stoul(word), last = dash == word.npos ? first : std::stoul(word.substr(dash + 1));
                if (slot >= first && slot <= last) return i;
            }
        }
    }
    throw Trouble("nobody has slot " + std::to_string(slot));
}

std::size_t RedisCluster::add_replica(std::size_t of) {
    auto const options = node_options();
    nodes_.push_back(std::make_unique<RedisServer>(options));
    auto& replica = *nodes_.back();
    node(0).tell({"CLUSTER", "MEET", "127.0.0.1", std::to_string(replica.port()), options.back()});
    wait_until_sound();
    replica.tell({"CLUSTER", "REPLICATE", id(of)});
    bool const joined = eventually([&] {
        return replica.tell({"INFO", "replication"}).find("master_link_status:up") != std::string::npos;
    });
    if (!joined) throw Trouble("the replica does not come");
    return size() - 1;
}

void RedisCluster::wait_until_sound() {
    auto const known = "cluster_known_nodes:" + std::to_string(size());
    bool const sound = eventually([&] {
        return std::ranges::all_of(nodes_, [&](auto const& node) {
            auto const told = node->tell({"CLUSTER", "INFO"});
            return told.find("cluster_state:ok") != told.npos && told.find(known) != told.npos;
        });
    });
    if (!sound) throw Trouble("the cluster does not come: " + node(0).tell({"CLUSTER", "NODES"}));
}

}   // namespace garner::test
