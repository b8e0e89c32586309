// The options of interception.
#pragma once
#include <cstdint>
#include <string>

#include "bump/rules.hpp"

namespace garner::bump {

/// The answer to a client whose origin has an invalid certificate.
enum class Invalid : std::uint8_t {
    mimic,      // a certificate with the same error, so that the client decides
    page,       // a valid certificate and a page with status 502 and the reason
    terminate   // the connection ends
};

/// The clients for which a host is spliced after clients refused its minted certificate.
enum class Learn : std::uint8_t {
    off,
    client,   // the clients that refused it
    all       // these, and all clients while Pins::clients_for_all of them are pinned
};

struct Options {
    std::string ca_chain;   // PEM: the signing certificate first, the root last
    std::string ca_key;     // PEM: the key of the signing certificate, readable by its owner only
    Rules rules;
    Invalid invalid = Invalid::mimic;
    Learn learn = Learn::client;
    std::uint32_t certificates = 10'000;   // minted certificates in memory, about 6 KiB each with the origin's
};

}   // namespace garner::bump
