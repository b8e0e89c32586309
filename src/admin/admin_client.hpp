// One request to a running Garner's admin address.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"
#include "util/result.hpp"

namespace garner::admin {

struct Question {
    IpEndpoint place;
    std::string method = "GET";
    std::string target = "/";
    std::vector<std::pair<std::string_view, std::string>> form = {};   // sent with POST
    std::string token = {};                                            // sent as Bearer; empty: none
    milliseconds patience{10'000};                                     // for the whole exchange
    Bytes body_max = 1 * MiB;                                          // longest response body
};

/// Waits for the response: a JSON object with the member `wanted`. Sends the field "Garner-Admin: 1". `status`: gets that of the
/// response, if there is one.
Result<nlohmann::ordered_json> ask(Question const&, std::string_view wanted, unsigned* status = nullptr);

/// The endpoint at which a command reaches an admin address. An unspecified address accepts every local address, so
/// loopback is used. Fails if `address` is no IP address.
Result<IpEndpoint> place_at(std::string const& address, std::uint16_t port);

}   // namespace garner::admin
