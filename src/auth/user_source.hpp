// The interface of the sources of users: a file, a directory, Kerberos, tokens.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "auth/credentials.hpp"
#include "auth/facts.hpp"
#include "auth/trouble.hpp"
#include "util/result.hpp"

namespace garner::auth {

/// The result of one check.
struct Verdict {
    enum class Kind : std::uint8_t {
        accepted,
        wrong,
        not_known,    // the user or the issuer of the token is not of this source: another source may know it
        unavailable   // the source cannot tell now
    };
    Kind kind = Kind::not_known;
    std::string reason = {};   // for the log, unless accepted; never has the password or a token
    Facts facts = {};          // accepted
};

/// The result of Source::refresh().
struct Changes {
    bool all = false;                      // every user of this source may have changed
    std::vector<std::string> users = {};   // added, removed or changed users, in lower case
    std::vector<Fault> notices = {};       // for the log

    bool any() const { return all || !users.empty(); }
};

/// Thread-safe. Checks run on several threads at once.
class Source {
public:
    virtual ~Source() = default;
    /// "htpasswd". A literal.
    virtual std::string_view name() const = 0;
    virtual bool takes(Scheme) const = 0;
    /// May block. `credentials` are without a fault, and of a scheme that it takes.
    virtual Verdict check(Credentials const& credentials, WallTime now) = 0;
    /// True if it knows the groups of users whom other sources accept.
    virtual bool is_directory() const { return false; }
    /// A directory's groups of the user, without a password: `accepted` with Facts::ldap_groups, or `not_known`. May block.
    virtual Verdict find_member(std::string const&) { return {}; }
    /// Reads changed files again; may block. Called about once a second by one thread.
    virtual Changes refresh() { return {}; }
    /// The facts that it cannot learn now. Called by the thread of refresh(), after it.
    virtual std::vector<Trouble> troubles() { return {}; }
    /// True if probe() should be called soon: nothing has shown lately whether it answers.
    virtual bool wants_probe() { return false; }
    /// Finds out whether it answers. May block.
    virtual void probe() {}
};

}   // namespace garner::auth
