// One question to a running Garner's admin address.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"

namespace garner::admin {

struct Question {
    IpEndpoint place;
    std::string method = "GET";
    std::string target = "/";
    std::string body = {};                   // a form, with POST
    milliseconds patience{10'000};           // for all of it
    Bytes body_max = 1 * MiB;                // of the answer
};

struct Answered {
    unsigned status = 0;
    std::string body;
    std::string trouble;                     // why there is no answer: "connection refused"; empty when there is one
};

/// Waits for the answer. Sends the field "Garner-Admin: 1".
Answered ask(Question const&);

/// As the value of a form's field.
std::string form_encoded(std::string_view text);

/// Where an admin address is asked: an unspecified one listens everywhere, and this machine's own loopback is one of them.
/// Nothing when it is no IP address.
std::optional<IpEndpoint> place_at(std::string const& address, std::uint16_t port);

}  // namespace garner::admin
