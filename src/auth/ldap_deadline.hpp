// A time limit for the reads and writes of libldap, also during a TLS handshake.
#pragma once
#include <ldap.h>

#include "util/clock.hpp"

namespace garner::auth {

/// libldap has no limit for the handshake: with GnuTLS it repeats a read that would block, without a pause, for as long as the
/// directory is silent. This layer lies between the socket and TLS. It waits for the socket, and fails after the deadline.
class LdapDeadline {
public:
    LdapDeadline();
    LdapDeadline(LdapDeadline const&) = delete;
    LdapDeadline& operator=(LdapDeadline const&) = delete;

    /// Applies to connections that `ldap` makes afterwards. This object must outlive it.
    void use_in(LDAP* ldap);
    void set(SteadyTime deadline) { deadline_ = deadline; }
    SteadyTime get() const { return deadline_; }

private:
    ldap_conncb callbacks_{};
    SteadyTime deadline_ = SteadyTime::max();
};

/// The time left, at least 1 ms: libldap takes zero for "no waiting" in one place and for "for ever" in another.
timeval time_until(SteadyTime deadline);

}   // namespace garner::auth
