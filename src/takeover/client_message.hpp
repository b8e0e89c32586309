// The messages that hand client connections over: docs/reference/takeover-protocol.md. Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "takeover/handed_client.hpp"
#include "takeover/takeover_message.hpp"

namespace garner::takeover {

/// Some client connections; their descriptors come with the message, in the same order.
struct Clients {
    std::uint64_t number = 0;   // of the message
    std::vector<HandedClient> clients = {};
};

/// The answer: all are taken but those at these indexes.
struct Taken {
    std::uint64_t number = 0;
    std::vector<std::size_t> returned = {};
};

Json json_of(Clients const&);
Json json_of(Taken const&);
Result<Clients> clients_of(Json const& message);
Result<Taken> taken_of(Json const& message);

}   // namespace garner::takeover
