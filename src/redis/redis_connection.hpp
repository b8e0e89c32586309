// One connection to a Redis server: commands in, replies out, in order.
#pragma once
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "redis/redis_address.hpp"

struct redisContext;
struct redisReply;

namespace garner::redis {

struct RedisDelete {
    void operator()(redisContext*) const;
    void operator()(redisReply*) const;
};
using RedisReply = std::unique_ptr<redisReply, RedisDelete>;

/// Appends a command as it travels (RESP: a list of strings with their lengths).
void append_command(std::initializer_list<std::string_view> words, std::string& to);

/// Blocks for `wait` at most. After an error it is closed, and the commands sent may or may not have been executed.
class RedisConnection {
public:
    RedisConnection(RedisEndpoint endpoint, std::string password, milliseconds wait)
        : endpoint_(std::move(endpoint)), password_(std::move(password)), wait_(wait) {}

    RedisEndpoint const& endpoint() const { return endpoint_; }
    /// With `look` it also sees whether the server has closed it.
    bool is_open(bool look = false);
    /// If false, fault() names the error.
    bool open();
    bool send(std::string_view commands);
    /// The next reply, which may be an error of Redis. None if the connection was lost: fault() names the error.
    RedisReply next();
    /// Sends a command and waits for its reply.
    RedisReply ask(std::initializer_list<std::string_view> words);
    void close() { context_.reset(); }

    /// One line with the node's address.
    std::string const& fault() const { return fault_; }

private:
    bool lost(std::string const& why);
    bool lost_in(char const* doing);

    RedisEndpoint endpoint_;
    std::string password_;
    milliseconds wait_;
    std::unique_ptr<redisContext, RedisDelete> context_;
    std::string fault_;
};

}   // namespace garner::redis
