// The text of a users' file as Apache's htpasswd writes it. Pure.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "util/result.hpp"

namespace garner::auth {

struct Htpasswd {
    static constexpr std::size_t faults_max = 20;
    std::unordered_map<std::string, std::string> hashes = {};   // by the user's name in lower case
    std::string typical = {};                                   // a hash of the most common kind and cost; empty without users
    std::vector<Fault> faults = {};                             // the bad lines, which are left out; at most faults_max and a sum
};

/// "user:hash" in each line; later fields, blank lines and lines that begin with `#` are ignored. Fault::where is "FILE:LINE". No
/// fault has a hash or a password. Names that differ in case only are one user, whose first line counts.
Htpasswd parse_htpasswd(std::string_view file, std::string_view text);

/// Users of either that differ: added, removed, or with another hash.
std::vector<std::string> changed_users(Htpasswd const& old, Htpasswd const& fresh);

}   // namespace garner::auth
