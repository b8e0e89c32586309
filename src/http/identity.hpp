// The user of a request, for access rules and logs.
#pragma once
#include <string>
#include <vector>

#include "util/clock.hpp"

namespace garner::http {

/// Immutable once it is shared between threads. Names are in lower case (ASCII), because directories ignore the case of names.
struct Identity {
    std::string user;
    std::vector<std::string> groups;   // names of the key `groups`
    std::string source;                // "htpasswd", "ldap", "negotiate", …
    WallTime until;                    // the client must log in again from then on
};

}   // namespace garner::http
