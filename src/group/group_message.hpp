// The messages between a member and a voter, and their bytes: docs/reference/group-protocol.md. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "group/notice.hpp"
#include "util/clock.hpp"

namespace garner::group {

inline constexpr std::uint16_t protocol_version = 2;   // 1 had no offers
using Nonce = std::array<char, 16>;

/// Equal in all members of a group. Hashes, so that a link tells nothing about another group.
struct Identity {
    std::uint64_t name = 0;
    std::uint64_t voters = 0;   // their list
    milliseconds lease{0};
    friend bool operator==(Identity const&, Identity const&) = default;
};
Identity identity_of(std::string_view name, std::vector<std::string> const& voters, milliseconds lease);

/// To a voter: the first message of a connection. Every version begins with the first two members; one of another version has no
/// others here.
struct Hello {
    std::uint16_t version = protocol_version;
    Nonce nonce{};
    Identity identity = {};
    std::uint64_t process = 0;    // of the member: random, new with each start
    std::uint64_t instance = 0;   // known to the member, of the voter; 0: none
    std::uint64_t sequence = 0;   // the last notice of that instance that it has
    std::string member = {};
    std::string address = {};   // of its proxy
    std::string domain = {};
    std::uint64_t uplink = 0, downlink = 0;   // bytes a second; 0: unknown
    friend bool operator==(Hello const&, Hello const&) = default;
};

/// The answer to Hello.
struct Welcome {
    Nonce nonce{};
    std::uint64_t instance = 0;   // of the voter: random, new with each start
    std::uint64_t sequence = 0;   // the first News has the next one
    friend bool operator==(Welcome const&, Welcome const&) = default;
};

struct Poll {
    std::uint64_t number = 0;    // rises
    std::uint64_t applied = 0;   // acknowledges notices up to this sequence
    friend bool operator==(Poll const&, Poll const&) = default;
};

/// The answer to Poll. All notices up to `latest` were sent before.
struct State {
    std::uint64_t number = 0;
    std::uint64_t latest = 0;
    friend bool operator==(State const&, State const&) = default;
};

struct News {
    std::uint64_t first = 0;   // sequence of the first notice
    std::vector<Notice> notices = {};
    friend bool operator==(News const&, News const&) = default;
};

/// To a voter: stores the notice.
struct Append {
    Notice notice;
    friend bool operator==(Append const&, Append const&) = default;
};

struct Stored {
    NoticeId id;
    friend bool operator==(Stored const&, Stored const&) = default;
};

/// Every member that may hold a lease of this voter has applied it.
struct Confirmed {
    NoticeId id;
    friend bool operator==(Confirmed const&, Confirmed const&) = default;
};

/// The answer to Hello (`id` is zero) or Append.
struct Refused {
    NoticeId id;
    std::string why = {};
    friend bool operator==(Refused const&, Refused const&) = default;
};

/// To a member after Welcome, if it does not go on where it was: the offers in force.
struct Standing {
    std::vector<Notice> offers = {};
    friend bool operator==(Standing const&, Standing const&) = default;
};

/// To a voter: the lines of the member have changed.
struct Lines {
    std::uint64_t uplink = 0, downlink = 0;   // bytes a second; 0: unknown
    friend bool operator==(Lines const&, Lines const&) = default;
};

/// The index is the type in the frame, less 1.
using Message = std::variant<Hello, Welcome, Poll, State, News, Append, Stored, Confirmed, Refused, Standing, Lines>;

/// The type of its frame.
inline std::uint8_t type_of(Message const& message) { return static_cast<std::uint8_t>(message.index() + 1); }
std::string body_of(Message const&);
/// Nothing if the type is unknown or the body malformed.
std::optional<Message> message_in(std::uint8_t type, std::string_view body);

}   // namespace garner::group
