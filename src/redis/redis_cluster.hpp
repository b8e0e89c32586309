// Asks a Redis Cluster many questions at a time, each of the node that serves its key's slot now.
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
#include "util/clock.hpp"

namespace garner::redis {

// The slot of a key (Redis Cluster's specification, "Key distribution model").
inline constexpr unsigned redis_slots = 16'384;

/// CRC-16/XMODEM: polynomial 0x1021, from 0, nothing reflected.
constexpr std::uint16_t crc16(std::string_view bytes) {
    constexpr auto table = [] {
        std::array<std::uint16_t, 256> made{};
        for (unsigned i = 0; i < made.size(); ++i) {
            auto crc = i << 8;
            for (int bit = 0; bit < 8; ++bit) crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
            made[i] = static_cast<std::uint16_t>(crc);
        }
        return made;
    }();
    std::uint16_t crc = 0;
    for (char const c : bytes) crc = static_cast<std::uint16_t>(crc << 8 ^ table[crc >> 8 ^ static_cast<std::uint8_t>(c)]);
    return crc;
}
static_assert(crc16("123456789") == 0x31c3);

/// The key has no braces.
constexpr std::uint16_t redis_slot(std::string_view key) { return crc16(key) % redis_slots; }

/// Follows slots that move and nodes that are replaced. Asks unanswered questions again until no question has been answered for the
/// address's patience. A server without cluster support is a cluster of one node.
class RedisCluster {
public:
    /// A command with one key.
    struct Question {
        std::uint32_t number;   // chosen by the caller
        std::uint16_t slot;
        std::int16_t ask = -1;   // the node to which the slot is moving, for one attempt
        bool doubtful = false;   // it was sent before and its answer lost: it may have been executed
    };
    /// Appends the command.
    using Write = std::function<void(std::uint32_t number, std::string& to)>;
    /// Takes a reply that is no error. `doubtful` as above.
    using Take = std::function<void(std::uint32_t number, RedisReply reply, bool doubtful)>;

    explicit RedisCluster(RedisAddress address) : address_(std::move(address)) { serving_.fill(-1); }

    /// The number of connections opened so far: a node that restarts closes its connection.
    std::uint64_t opened() const { return opened_; }

    /// Learns which node serves which slot, before the first question. Empty, or one line that names the error.
    std::string begin();

    enum class Try : bool { patiently, once };
    /// Empty if all questions were answered, otherwise one line that names the error. The other questions have no answer then.
    std::string ask(std::vector<Question>& questions, Write const& write, Take const& take, Try how = Try::patiently);
    /// Asks one question. Without a reply `fault` names the error.
    RedisReply ask_one(std::string_view key, std::initializer_list<std::string_view> words, std::string& fault,
                       Try how = Try::patiently);

    /// Calls look(connection) for each node that serves any slot. Empty, or the first error that it returns, or the node that is
    /// gone.
    std::string each_master(std::function<std::string(RedisConnection&)> const& look);

private:
    struct Node {
        explicit Node(RedisEndpoint const& endpoint, RedisAddress const& address);
        RedisConnection connection;
        SteadyTime not_before = {};   // the node was unreachable: the next attempt is not before
        // Sent, not yet answered:
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
    std::uint64_t opened_ = 0;
    std::string trouble_;      // the latest error that may pass
    std::string lasting_;      // an error that will not
    bool unsettled_ = false;   // the table of slots is outdated
};

}   // namespace garner::redis
