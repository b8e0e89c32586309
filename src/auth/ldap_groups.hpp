// The groups of a directory that a user is a member of, also by other groups.
#pragma once
#include <string>
#include <vector>

#include "auth/ldap_connection.hpp"

namespace garner::auth {

/// True for Active Directory, which can search the members of nested groups itself.
LdapStatus is_active_directory(LdapConnection&, SteadyTime deadline, bool& into);

struct LdapMember {
    std::string dn;
    std::string user;   // for groups with memberUid (RFC 2307)
};

/// Finds those of `wanted` (in the spelling of normal_dn()) that the member is in. Active Directory: one search with
/// LDAP_MATCHING_RULE_IN_CHAIN for each. Others: a search for each level of nesting, 10 at most, with at most 1,000 groups.
LdapStatus find_ldap_groups(LdapConnection&, bool active_directory, std::string const& base, LdapMember const&,
                            std::vector<std::string> const& wanted, SteadyTime deadline, std::vector<std::string>& into);

}   // namespace garner::auth
