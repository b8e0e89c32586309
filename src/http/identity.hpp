// The identity of a client, for the matchers `user` and `group`.
#pragma once
#include <string>
#include <vector>

namespace garner::http {

/// The result of authentication. Immutable once it is shared. Names are compared without case, as directories do.
struct Identity {
    std::string user;                       // empty: the client did not log in, and will not be asked to
    std::vector<std::string> groups = {};   // of the user
    bool groups_known = true;               // false: only the user's name is known, as in an access log
};

}   // namespace garner::http
