// The facts that a source knows of a user.
#pragma once
#include <string>
#include <vector>

#include "util/clock.hpp"

namespace garner::auth {

/// One value of a claim of a token. A claim that is a list gives several.
struct Claim {
    std::string name;
    std::string value;
    friend bool operator==(Claim const&, Claim const&) = default;
};

/// Groups follow from them (groups.hpp).
struct Facts {
    std::string user = {};                       // in lower case
    std::string source = {};                     // Source::name()
    std::vector<std::string> ldap_groups = {};   // in the spelling of normal_dn()
    std::vector<Claim> claims = {};
    WallTime until = WallTime::max();          // the end of the ticket or token
    WallTime groups_until = WallTime::max();   // ldap_groups must be looked up again from then on
    std::string groups_unknown = {};           // why the directory could not tell ldap_groups; empty: it could
};

}   // namespace garner::auth
