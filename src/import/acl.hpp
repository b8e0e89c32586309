// An ACL of squid.conf as Garner's matchers.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/addresses.hpp"
#include "import/json.hpp"
#include "import/lines.hpp"
#include "import/import_report.hpp"

namespace garner::importing {

/// A matcher with a name, for the part `matchers`.
struct Atom {
    std::string name;
    Json matcher;
    bool needs_destination = false;
    bool needs_user = false;
    std::optional<bool> takes_purge = {};   // for a matcher by method alone: whether it has PURGE
};

/// An ACL by itself. It matches where one of its atoms does; a doubtful one may match other requests, too.
struct Leaf {
    std::vector<Atom> atoms = {};
    bool always = false;
    bool asks = false;                     // Squid asks for a login when it reaches the ACL
    bool doubtful = false;                 // some of it has no translation
    bool opens = false;                    // it names destinations that Garner blocks; an allow rule opens them
    AddressSet sources = {};               // values of the type src
    std::vector<std::string> hosts = {};   // values of the type dstdomain
};

/// Another ACL in a line or a group: "!office".
struct AclUse {
    std::string name;   // in lower case
    bool negated = false;
};

/// An ACL by type and lines, before its values are read.
struct Acl {
    std::string name;   // as first written
    std::string type;
    std::vector<Line> lines = {};   // the rest is behind the type
    bool built_in = false;          // declared by Squid itself
    bool mixed = false;             // its lines have different types
};

/// Facts of other directives that ACLs refer to.
struct AclFacts {
    bool opens_blocked = false;                          // an ACL names destinations that Garner blocks
    bool has_auth = false;                               // a source of users was translated
    bool exact_users = false;                            // Basic compares users with case; by default it does not
    bool indirect_sources = true;                        // the type src has the client that a gateway names
    std::map<std::string, std::string> listeners = {};   // name of a port: its number
    std::set<std::string> login_helpers = {};            // external_acl_type with the user's name
};

/// Reads the values. Reports what has no translation at the ACL's line.
Leaf leaf_of(Acl const& acl, AclFacts const& facts, Files const& files, Report& report);

/// True for any-of and all-of, which have no leaf.
bool is_group(std::string_view type);

}   // namespace garner::importing
