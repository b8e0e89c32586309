// The messages of a takeover: docs/reference/takeover-protocol.md. Pure.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/clock.hpp"
#include "util/result.hpp"

namespace garner::takeover {

using Json = nlohmann::json;

/// The protocols that this program speaks.
inline constexpr unsigned protocol_least = 1, protocol_most = 1;

/// The first message of the new process.
struct Hello {
    unsigned least = protocol_least, most = protocol_most;   // protocols
    std::string version = {};                                // of the program
    unsigned record_format = 0;                              // of the disk store
    bool objects = false;                                    // it takes the objects in memory
    bool counters = false;                                   // it goes on with the counters
    bool clients = false;                                    // it goes on with client connections
    bool state = false;                                      // it goes on with failures and the measurements of peers
    bool quotas = false;                                     // it goes on with what quotas have counted
};

/// The answer of the old process: the state that the new one continues.
struct Welcome {
    unsigned protocol = protocol_most;
    std::string version = {};
    unsigned record_format = 0;
    std::uint64_t sequence = 0;     // the last number of a response or event
    std::string via = {};           // its name in Via
    std::string ticket_keys = {};   // net::TicketKeys::State
    milliseconds ticket_age{0};
    std::string notify_socket = {};   // of the service manager; empty: none
    microseconds watchdog{0};         // 0: none
};

/// Names of the sockets that come with the message, in the same order.
struct Sockets {
    std::vector<std::string> names = {};
    bool last = true;   // otherwise another such message follows
};

/// The new process has built all.
struct Serving {
    // The absolute disk.path; empty: no disk. Nothing: that of the old process.
    std::optional<std::string> disk = std::nullopt;
    bool control = true;   // it uses the control socket of the old process
};

/// Objects that the old process has removed: `forget`, and `go` with the last removals before the new process serves.
struct Forget {
    std::uint64_t number = 0;   // of the last removal, if it is the last message of a batch; otherwise that of the former batch
    std::vector<std::string> keys = {};
    bool power = false;        // the removals must survive a power failure, not only a crash
    bool everything = false;   // every object is removed
};

/// The member `do`; empty if there is none.
std::string what_of(Json const& message);
/// A message without other members.
Json plain(std::string_view what);
Json refusal(std::string_view reason);
/// The reason of a refusal; nothing for other messages.
std::optional<std::string> refusal_of(Json const& message);

Json json_of(Hello const&);
Json json_of(Welcome const&);
Json json_of(Sockets const&);
Json json_of(Serving const&);
/// `what`: "forget" or "go".
Json json_of(Forget const&, std::string_view what);
Json settled(std::uint64_t number);
/// Comes with a socket, on which the process that sends it answers takeover::Wants.
Json objects();
/// `add`: counts by name, or by name and label.
Json counters(Json add);
/// `rows`: lines of a ledger (share/ledger.hpp), each a count since the last such message.
Json quotas(std::string const& rows);

// Unknown members are ignored. The fault names a member that is missing or has another type.
/// The members `objects`, `counters`, `clients`, `state` and `quotas` may be missing.
Result<Hello> hello_of(Json const& message);
Result<Welcome> welcome_of(Json const& message);
Result<Sockets> sockets_of(Json const& message);
/// Both members may be missing.
Result<Serving> serving_of(Json const& message);
Result<Forget> forget_of(Json const& message);
Result<std::uint64_t> settled_of(Json const& message);
/// Of `objects`.
bool answers_wants(Json const& message);
/// An object of any contents.
Result<Json> counters_of(Json const& message);
/// Any bytes.
Result<std::string> quotas_of(Json const& message);

/// The highest protocol that both processes speak. The fault names the versions of both.
Result<unsigned> common_protocol(Hello const& hello, std::string const& own_version);

}   // namespace garner::takeover
