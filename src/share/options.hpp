// Options of the division of the line among its users.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "http/matcher.hpp"
#include "util/bytes.hpp"

namespace garner::share {

/// `down`: towards clients, `up`: towards origins.
enum class Direction : std::uint8_t { down, up };
inline constexpr Direction directions[]{Direction::down, Direction::up};
constexpr std::size_t index(Direction direction) { return static_cast<std::size_t>(direction); }
constexpr char const* text(Direction direction) { return direction == Direction::down ? "down" : "up"; }

/// The subject of a request. `user`: the login name, if the rules have asked for it, else the source. `source`: the network of the
/// client's address.
enum class By : std::uint8_t { user, source };

/// The first rule that matches sets the weight.
struct Weight {
    std::uint32_t weight = 1;
    http::Matcher match;
};

/// The scope of a cap: the connections of one client, each connection by itself, or all clients that the rule matches.
enum class Each : std::uint8_t { client, connection, all };

constexpr char const* text(Each each) { return each == Each::client ? "client" : each == Each::connection ? "connection" : "all"; }

/// The first cap that matches a request applies.
struct CapRule {
    std::string name;
    http::Matcher match;
    Each each = Each::client;
    Bytes down = 0;   // bytes a second; 0: no limit
    Bytes up = 0;

    Bytes rate(Direction direction) const { return direction == Direction::down ? down : up; }
};

struct Options {
    Bytes down = 0;   // bytes a second; 0: the direction is not divided
    Bytes up = 0;
    By by = By::user;
    Bytes credit = 256 * KiB;
    std::vector<Weight> weights;

    bool is_on() const { return down != 0 || up != 0; }
    Bytes rate(Direction direction) const { return direction == Direction::down ? down : up; }
};

}   // namespace garner::share
