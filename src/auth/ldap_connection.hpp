// One connection to a directory (RFC 4511), with a time limit for each operation.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "util/clock.hpp"
#include "util/result.hpp"

typedef struct ldap LDAP;

namespace garner::auth {

class LdapDeadline;

struct LdapEntry {
    std::string dn;
    std::vector<std::string> values = {};   // the values of the attribute in the search
};

/// The outcome of an operation: a result code of LDAP (RFC 4511 4.1.9), or a negative one of libldap.
struct LdapStatus {
    int code = 0;
    std::string text = {};   // "Invalid credentials", "Can't contact LDAP server: Connection refused"

    bool good() const { return code == 0; }
    /// The directory refused the name or the password. False if it could not tell.
    bool refused() const;
};

/// For one thread at a time. Follows no referrals. Connects with the first operation. After a status that is neither good nor
/// refused() the connection is of no more use.
class LdapConnection {
public:
    /// `ca_file` empty: the system's CAs. The certificate and its name are always verified. A fault: the CA file has none.
    static Result<std::unique_ptr<LdapConnection>> make(std::string const& url, std::string const& ca_file);
    ~LdapConnection();
    LdapConnection(LdapConnection const&) = delete;
    LdapConnection& operator=(LdapConnection const&) = delete;

    /// A simple bind. Both empty: anonymous. A name with an empty password is refused here: directories accept it without a check
    /// (RFC 4513 5.1.2).
    LdapStatus bind(std::string const& dn, std::string_view password, SteadyTime deadline);

    struct Search {
        std::string base;
        bool whole_tree = true;   // false: the base alone
        std::string filter;
        std::string attribute = {};   // empty: none
        int entries_max = 0;          // 0: no limit
    };
    /// LDAP_SIZELIMIT_EXCEEDED: there are more than entries_max.
    LdapStatus search(Search const&, SteadyTime deadline, std::vector<LdapEntry>& into);

private:
    explicit LdapConnection(LDAP* ldap);
    struct Message;
    LdapStatus wait(int message, SteadyTime deadline, Message& into);
    LdapStatus status(int code) const;
    void limit(SteadyTime deadline);
    std::unique_ptr<LdapDeadline> const deadline_;
    LDAP* const ldap_;
};

}   // namespace garner::auth
