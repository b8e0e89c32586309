// Reads the answer of a DNS server to a question for addresses. Pure.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "util/clock.hpp"
#include "util/ip.hpp"

namespace garner::net {

struct AddressAnswer {
    std::vector<IpAddress> addresses;   // of the name, or of the name to which it is an alias; in the order of the answer
    seconds ttl{0};                     // the shortest of all records involved
    /// The time that "no such host" and "no address" may be remembered (RFC 2308 5), from the SOA record.
    std::optional<seconds> negative_ttl;
};

/// Nothing if the message is malformed.
std::optional<AddressAnswer> parse_address_answer(std::string_view message);

}   // namespace garner::net
