// The identity of a client, for the matchers `user` and `group`, and for logs.
#pragma once
#include <string>
#include <vector>

#include "util/clock.hpp"

namespace garner::http {

/// The result of authentication. Immutable once it is shared between threads. Names are in lower case (ASCII), because
/// directories ignore the case of names.
struct Identity {
    std::string user;                       // empty: the client did not log in, and will not be asked to
    std::vector<std::string> groups = {};   // names of the key `groups`
    std::string source = {};                // "htpasswd", "ldap", "negotiate", …
    WallTime until = {};                    // the client must log in again from then on
    /// Groups that the user may be in: the directory could not tell. A deny by group matches, an allow does not.
    std::vector<std::string> unknown_groups = {};
    std::string why_unknown = {};              // for the log; empty: all groups are known
    WallTime groups_until = WallTime::max();   // the groups must be looked up again from then on
    /// False: no user is known, and none will be asked for. Rules decide in doubt.
    bool logged_in() const { return !user.empty() || !groups.empty(); }
    bool groups_known = true;   // false: the user may be in further groups, as the user of an access log
};

}   // namespace garner::http
