#include "auth/ldap_groups.hpp"

#include <ldap.h>

#include <algorithm>
#include <set>
#include <utility>

#include "auth/ldap_names.hpp"

namespace garner::auth {
namespace {

constexpr char const* active_directory_capability = "1.2.840.113556.1.4.800";
constexpr char const* in_chain_rule = "1.2.840.113556.1.4.1941";
constexpr int levels_max = 10;
constexpr std::size_t groups_max = 1'000;
constexpr std::size_t filter_names_max = 50;

std::string with_member(std::string_view dn) {
    auto const escaped = escape_filter(dn);
    return "(member=" + escaped + ")(uniqueMember=" + escaped + ")";
}

LdapStatus ask_active_directory(LdapConnection& connection, std::string const& dn, std::vector<std::string> const& wanted,
                                SteadyTime deadline, std::vector<std::string>& into) {
    for (auto const& group : wanted) {
        std::vector<LdapEntry> found;
        auto const filter = std::string("(member:") + in_chain_rule + ":=" + escape_filter(dn) + ")";
        auto status = connection.search({.base = group, .whole_tree = false, .filter = filter}, deadline, found);
        // A group that does not exist has no members.
        if (!status.good() && status.code != LDAP_NO_SUCH_OBJECT) return status;
        if (!found.empty()) into.push_back(group);
    }
    return {};
}

/// The groups that have one of `members` directly, in their normal spelling.
LdapStatus parents_of(LdapConnection& connection, std::string const& base, std::vector<std::string> const& members,
                      std::string const& more, SteadyTime deadline, std::vector<std::string>& into) {
    for (std::size_t begin = 0; begin < members.size(); begin += filter_names_max) {
        std::string filter = "(|" + (begin == 0 ? more : "");
        for (auto i = begin; i < std::min(begin + filter_names_max, members.size()); ++i) filter += with_member(members[i]);
        std::vector<LdapEntry> found;
        auto status = connection.search({.base = base, .filter = filter + ")"}, deadline, found);
        if (!status.good()) return status;
        for (auto const& entry : found) into.push_back(normal_dn(entry.dn));
    }
    return {};
}

LdapStatus walk_up(LdapConnection& connection, std::string const& base, LdapMember const& member,
                   std::vector<std::string> const& wanted, SteadyTime deadline, std::vector<std::string>& into) {
    std::set<std::string> seen;
    std::vector<std::string> level{member.dn};
    auto more = "(memberUid=" + escape_filter(member.user) + ")";
    for (int i = 0; i < levels_max && !level.empty() && seen.size() < groups_max; ++i) {
        std::vector<std::string> parents;
        if (auto status = parents_of(connection, base, level, more, deadline, parents); !status.good()) return status;
        more.clear();
        level.clear();
        for (auto& group : parents)
            if (!group.empty() && seen.insert(group).second) level.push_back(std::move(group));
    }
    for (auto const& group : wanted)
        if (seen.contains(group)) into.push_back(group);
    return {};
}

}   // namespace

LdapStatus is_active_directory(LdapConnection& connection, SteadyTime deadline, bool& into) {
    std::vector<LdapEntry> root;
    auto status = connection.search(
        {.base = "", .whole_tree = false, .filter = "(objectClass=*)", .attribute = "supportedCapabilities"}, deadline, root);
    into = !root.empty() && std::ranges::count(root[0].values, active_directory_capability) > 0;
    return status;
}

LdapStatus find_ldap_groups(LdapConnection& connection, bool active_directory, std::string const& base, LdapMember const& member,
                            std::vector<std::string> const& wanted, SteadyTime deadline, std::vector<std::string>& into) {
    return active_directory ? ask_active_directory(connection, member.dn, wanted, deadline, into)
                            : walk_up(connection, base, member, wanted, deadline, into);
}

}   // namespace garner::auth
