// All ACLs of a configuration, and the ways in which a line of them can be true.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "import/acl.hpp"

namespace garner::importing {

/// One condition on the way through a line, in Squid's order.
struct Step {
    enum class Kind : std::uint8_t {
        matches,   // the atom does
        differs,   // the atom does not match
        login,     // Squid asks a client here that has not logged in
        never      // no request gets beyond here
    };
    Kind kind = Kind::matches;
    Atom const* atom = nullptr;
};
using Path = std::vector<Step>;
/// One of them is enough. A path without steps: every request.
using Paths = std::vector<Path>;

/// The matchers of a place in the configuration, and the meaning of an ACL without a translation.
struct Reading {
    bool doubt_matches = false;   // a deny line matches where it may match, an allow line only where it must
    bool has_users = false;
    bool has_destination = false;
    bool quiet = false;   // for lines that were reported already
};

class Acls {
public:
    Acls(Files const& files, Report& report);

    /// Takes an `acl` line. Lines with the same name append.
    void declare(Line const& line);
    /// After the last `acl` line, and before the first call of the functions below.
    void set_facts(AclFacts facts) { facts_ = std::move(facts); }

    /// The ways in which all of these are true, or not all of them if `negated`. Reports unknown ACLs at `line`. Nothing if
    /// there are more than 1,000 ways.
    std::optional<Paths> paths(std::vector<AclUse> const& uses, bool negated, Reading const& reading, Line const& line);
    /// Combines two lists, both of which must be true. Nothing beyond the bound.
    static std::optional<Paths> both(Paths const& first, Paths const& then);

    /// Matches every user with a login.
    Atom const* any_user() const { return &any_user_; }
    bool has_auth() const { return facts_.has_auth; }
    /// True if an ACL of squid.conf names destinations that Garner blocks.
    bool opens_blocked();

    /// The name of the atom, which then is part of matchers().
    std::string const& use(Atom const* atom);
    /// The part `matchers`: each used atom by its name.
    Json const& matchers() const { return matchers_; }

    /// The leaf of an ACL of this type; nullptr for groups, other types and unknown names.
    Leaf const* leaf_of_type(std::string const& name, std::string_view type);

    /// Reports the lines of ACLs that no translated directive uses.
    void report_unused();

private:
    struct Known {
        Acl acl;
        std::optional<Leaf> leaf = {};
        std::optional<bool> asks = {};   // for groups
        bool used = false;
    };

    Known* find(std::string const& name);
    Leaf const& leaf(Known& known);
    bool asks(std::vector<AclUse> const& uses, unsigned depth);
    bool asks(std::string const& name, unsigned depth);
    Paths of_all(std::vector<AclUse> const&, bool negated);
    Paths of_any(std::vector<AclUse> const&, bool negated);
    Paths of_use(AclUse const&, bool negated);
    Paths of_leaf(Leaf const&, bool negated) const;
    bool is_misplaced(Leaf const&) const;
    void tell(std::string const& name, char const* trouble);
    Paths of_group(Known&, bool negated);
    Paths product(Paths const& first, Paths const& second);
    void append(Paths const& from, Paths& to);

    Files const& files_;
    Report& report_;
    AclFacts facts_;
    std::map<std::string, Known> known_;   // by name in lower case
    Atom any_user_;
    std::map<Atom const*, std::string> names_;   // names in use
    Json matchers_ = Json::object();
    // State during a call of paths().
    Reading reading_;
    Line const* line_ = nullptr;
    unsigned depth_ = 0;
    std::size_t work_ = 0;   // steps written
};

/// The uses from the word `first` on, such as "!office users".
std::vector<AclUse> uses_in(std::vector<std::string> const& words, std::size_t first = 0);

}   // namespace garner::importing
