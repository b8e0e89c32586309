// Finds the user of a request, when an access rule needs it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "auth/facts.hpp"
#include "auth/login_answer.hpp"
#include "proxy/request.hpp"

namespace garner::proxy {

/// Belongs to one request. Requests inside a decrypted tunnel and requests without a client are never asked to log in: they
/// have the identity of the request that they belong to, or none. Clients of intercepted connections log in to no proxy: they have
/// the identity of their address, or none.
class LoginCheck {
public:
    explicit LoginCheck(Request& request) : request_(request) {}

    enum class State : std::uint8_t {
        known,          // request.identity is set
        unknown,        // verify() must check the credentials, or ask the directory for the groups of a known user
        login_needed,   // 407: there are no credentials, or wrong ones
        limited,        // 429: too many failures of this client
        unavailable     // 503: no source of users responds
    };
    /// Without waiting. Remembered credentials allocate nothing and take less than 1 µs.
    State look();
    /// After `unknown`. Never returns `unknown`.
    net::awaitable<State> verify();
    /// Lines for the response to `login_needed`, `limited` and `unavailable`: challenges, or Retry-After. Empty: no source takes
    /// credentials, so that no client can be asked for them.
    std::string fields(State) const;
    /// Why the client must log in, for the client: a literal. Does not tell unknown users from wrong passwords.
    std::string_view what() const { return what_; }
    /// Why the credentials were not accepted, for the log; empty: there are none.
    std::string const& reason() const { return reason_; }

private:
    bool uses_credentials() const;
    auth::Facts facts_without_credentials() const;
    State look_without_credentials();
    State take(auth::LoginAnswer const&);
    State reject(std::string_view what, std::string_view detail);
    bool may_bind() const;

    Request& request_;
    bool without_negotiate_ = false;
    seconds retry_after_{0};
    std::string_view what_ = "No credentials: this proxy requires a login.";
    std::string reason_;
};

/// The identity that a request has from its connection: bound by Negotiate (RFC 4559), by its address or certificate, or that of
/// the tunnel around it. nullptr: none, it has ended, or the request has credentials of its own.
std::shared_ptr<http::Identity const> bound_identity(Services const&, ClientStream const&, bool is_inside_tunnel);

/// The client with this identity for its later requests; the unchanged object if there is none.
std::shared_ptr<Client const> with_identity(std::shared_ptr<Client const>, std::shared_ptr<http::Identity const>,
                                            std::uint64_t generation);

}   // namespace garner::proxy
