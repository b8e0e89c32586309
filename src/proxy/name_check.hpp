// Whether the host that an intercepted request names leads to the address that its client has connected to.
#pragma once
#include <vector>

#include "proxy/request.hpp"

namespace garner::proxy {

/// Sets Target::proof by the addresses that DNS has given for the host. Any client can name any host, so a name that is not
/// verified must open nothing. Belongs to one request.
class NameCheck {
public:
    explicit NameCheck(Request& request) : request_(request) {}

    /// False if DNS must be asked: run() comes next. Allocates nothing.
    bool decide_at_once();
    /// Asks DNS, and once more if its remembered answer does not have the address. Takes at most two lookups.
    net::awaitable<void> run();

private:
    net::awaitable<std::vector<IpAddress>> ask();
    net::DnsProof known_proof() const;
    bool leads(std::vector<IpAddress> const& addresses) const;
    std::string_view host() const { return request_.target.uri.authority.host; }

    Request& request_;
};

}   // namespace garner::proxy
