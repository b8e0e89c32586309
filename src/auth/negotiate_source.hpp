// Users by Kerberos tickets in Negotiate (RFC 4559, Squid: negotiate_kerberos_auth).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "auth/options.hpp"
#include "auth/user_source.hpp"

namespace garner::auth {

/// "alice@UNI.EXAMPLE" without its realm if that is `realm`, else with it; in lower case.
std::string user_of_principal(std::string_view principal, std::string_view realm);

/// Accepts Kerberos alone, in one round: clients that would need more are rejected. Uses the replay cache of the system. Reads the
/// keytab for each ticket, so that a new one needs no reload.
class NegotiateSource : public Source {
public:
    /// A fault if the keytab cannot be read or has no keys.
    static Result<std::unique_ptr<NegotiateSource>> load(NegotiateOptions const&);
    ~NegotiateSource() override;

    std::string_view name() const override { return "negotiate"; }
    bool takes(Scheme scheme) const override { return scheme == Scheme::negotiate; }
    Verdict check(Credentials const&, WallTime now) override;
    /// Only looks whether the keytab can be read.
    Changes refresh() override;
    std::vector<Trouble> troubles() override;

private:
    struct Acceptor;
    NegotiateSource(std::unique_ptr<Acceptor>, NegotiateOptions options);
    std::unique_ptr<Acceptor> const acceptor_;
    NegotiateOptions const options_;
    // Used by the thread of refresh() alone:
    std::string unreadable_;   // why the keytab cannot be read; empty: it can
    WallTime readable_{};      // when it could
};

}   // namespace garner::auth
