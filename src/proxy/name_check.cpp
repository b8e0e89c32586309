#include "proxy/name_check.hpp"

#include <algorithm>

#include "net/address.hpp"

namespace garner::proxy {

bool NameCheck::decide_at_once() {
    auto& proof = request_.target.proof;
    auto const address = parse_ip(host());
    if (address)
        proof = *address == *request_.target.destination ? net::DnsProof::recent : net::DnsProof::none;
    else
        proof = known_proof();
    return address || proof == net::DnsProof::recent;
}

net::awaitable<void> NameCheck::run() {
    auto addresses = co_await ask();
    bool const has_others = !addresses.empty() && !leads(addresses);
    if (has_others && request_.services.shared.name_history.may_ask_again(host(), steady_now())) {
        request_.services.worker.resolver.forget(host());
        addresses = co_await ask();
    }
    request_.target.proof = leads(addresses) ? net::DnsProof::recent : known_proof();
}

/// The addresses of the host, which may be remembered from an earlier query; none if the name cannot be resolved.
net::awaitable<std::vector<IpAddress>> NameCheck::ask() {
    auto const names = co_await request_.services.worker.resolver.resolve(host(), &request_.waiting);
    request_.waiting = {};
    auto addresses = net::to_ips(names->addresses);
    if (!addresses.empty()) request_.services.shared.name_history.note(host(), addresses, steady_now());
    co_return addresses;
}

net::DnsProof NameCheck::known_proof() const {
    return request_.services.shared.name_history.proof(host(), *request_.target.destination, steady_now());
}

bool NameCheck::leads(std::vector<IpAddress> const& addresses) const {
    return std::ranges::count(addresses, *request_.target.destination) > 0;
}

}   // namespace garner::proxy
