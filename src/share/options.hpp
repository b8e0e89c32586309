// Options of the division of the line among its users.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "http/matcher.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"

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

    bool has_limit() const { return down > 0 || up > 0; }
    Bytes rate(Direction direction) const { return direction == Direction::down ? down : up; }
};

/// The window of a quota, in local time; a week begins on Monday.
enum class Per : std::uint8_t { day, week, month };
constexpr char const* text(Per per) { return per == Per::day ? "day" : per == Per::week ? "week" : "month"; }

/// The effect of a quota that is used up.
enum class Over : std::uint8_t { refuse, slow };
constexpr char const* text(Over over) { return over == Over::refuse ? "refuse" : "slow"; }

/// The first quota that matches a request counts it.
struct QuotaRule {
    std::string name;
    http::Matcher match;
    Each each = Each::client;   // client or all
    Per per = Per::day;
    Bytes bytes = 0;              // in both directions; like the next two: in a window; 0: no limit
    std::uint32_t requests = 0;   // that go over the line
    milliseconds time{0};         // whole minutes, in which something moved
    double soft = 0.8;            // the part of a limit from which on the slow lane applies
    Bytes slow = 0;               // bytes a second in each direction; 0: there is no slow lane
    Over over = Over::refuse;

    bool has_limit() const { return bytes > 0 || requests > 0 || time.count() > 0; }
    std::uint32_t minutes() const {
        return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::minutes>(time).count());
    }
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
