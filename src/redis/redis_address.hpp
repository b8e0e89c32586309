// The address of a set in Redis Cluster: the text after "redis:".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/clock.hpp"

namespace garner::redis {

struct RedisEndpoint {
    std::string host;   // a name or an address, IPv6 without brackets
    std::uint16_t port = 0;

    std::string text() const;
    friend bool operator==(RedisEndpoint const&, RedisEndpoint const&) = default;
};

/// "HOST:PORT", "[::1]:PORT". Redirections of Redis have no brackets. An empty host means that there is none.
bool read_redis_endpoint(std::string_view text, RedisEndpoint& to);

struct RedisAddress {
    std::vector<RedisEndpoint> nodes;   // some of the cluster's; the others are learned
    std::string prefix = "seen:";       // of all keys
    milliseconds patience{20'000};      // with an unreachable node, or a slot without a node
    std::string password;
};

/// "HOST:PORT[,HOST:PORT...][,prefix=TEXT][,patience=TIME][,password-file=FILE]". Empty, or one line that names
/// the error.
std::string read_redis_address(std::string_view text, RedisAddress& to);

}   // namespace garner::redis
