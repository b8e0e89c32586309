// Questions to a Redis Cluster, many at a time: each to the node that has its key's slot now.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/redis_connection.hpp"
#include "redis/redis_slot.hpp"
#include "util/clock.hpp"

namespace garner::redis {

/// Follows slots that move and nodes that are replaced, and asks again what was not answered, until nothing at all has
/// been answered for the address's patience. A server without cluster support serves as a cluster of one.
class RedisCluster {
public:
    /// Of one command with one key.
    struct Question {
        std::uint32_t number;       // the asker's
        std::uint16_t slot;
        std::int16_t ask = -1;      // a node to which the slot is just moving, once
        bool doubtful = false;      // it was sent before and its answer lost: it may have been done
    };
    /// Appends the command.
    using Write = std::function<void(std::uint32_t number, std::string& to)>;
    /// No error. `doubtful` as above.
    using Take = std::function<void(std::uint32_t number, RedisReply reply, bool doubtful)>;

    explicit RedisCluster(RedisAddress address) : address_(std::move(address)) { serving_.fill(-1); }

    /// Finds out who serves what, before anything is asked. Empty, or why that cannot be had.
    std::string begin();

    enum class Try : bool { patiently, once };
    /// Empty when all were answered; else one line, and the questions left are those without an answer.
    std::string ask(std::vector<Question>& questions, Write const& write, Take const& take, Try how = Try::patiently);
    /// A single one. None: `fault` says why.
    RedisReply ask_one(std::string_view key, std::initializer_list<std::string_view> words, std::string& fault,
                       Try how = Try::patiently);

    /// Calls look(connection) for each node that serves any slot. Empty, or what it answered first, or who is gone.
    std::string each_master(std::function<std::string(RedisConnection&)> const& look);

private:
    struct Node {
        explicit Node(RedisEndpoint const& endpoint, RedisAddress const& address);
        RedisConnection connection;
        SteadyTime not_before = {};   // it could not be reached: not tried again until then
        // What is on its way to it.
        std::string commands;
        std::vector<Question> sent;
    };

    std::string learn();
    std::string look_at(Node&, std::function<std::string(RedisConnection&)> const& look);
    bool learn_from(Node&);
    bool take_slots(Node const& from, redisReply const& slots);
    std::string unserved() const;
    std::int16_t node_at(RedisEndpoint const&);
    bool is_ready(Node&);
    void gone(Node&);
    bool keeps_all(Node&);

    std::uint64_t ask_some(std::span<Question const>, Write const&, Take const&, std::vector<Question>& again);
    void prepare(std::span<Question const>, Write const&, std::vector<Question>& again);
    std::uint64_t read_answers(Node&, Take const&, std::vector<Question>& again);
    void refused(Node const&, std::string_view error, Question, std::vector<Question>& again);

    RedisAddress address_;
    std::vector<std::unique_ptr<Node>> nodes_;
    std::array<std::int16_t, redis_slots> serving_;   // by slot, an index in nodes_, or -1
    std::size_t next_teacher_ = 0;
    std::string trouble_;    // the latest that may pass
    std::string lasting_;    // trouble that will not
    bool unsettled_ = false; // who serves what should be asked again
};

}  // namespace garner::redis
