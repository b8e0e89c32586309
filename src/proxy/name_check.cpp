#include "proxy/name_check.hpp"

#include <algorithm>

#include "net/address.hpp"

namespace garner::proxy {

bool NameCheck::decide_at_once() {
    auto& target = request_.target;
    auto const address = parse_ip(host());
    if (address)
        target.unverified = *address != *target.destination;
    else
        target.unverified = !request_.services.shared.name_history.has(host(), *target.destination, steady_now());
    return address || !target.unverified;
}

net::awaitable<void> NameCheck::run() {
    auto addresses = co_await ask();
    bool const has_others = !addresses.empty() && !leads(addresses);
    if (has_others && request_.services.shared.name_history.may_ask_again(host(), steady_now())) {
        request_.services.worker.resolver.forget(host());
        addresses = co_await ask();
    }
    request_.target.unverified = !leads(addresses);
}

/// The addresses of the host, which may be remembered from an earlier query; none if the name cannot be resolved.
net::awaitable<std::vector<IpAddress>> NameCheck::ask() {
    auto const names = co_await request_.services.worker.resolver.resolve(host(), &request_.waiting);
    request_.waiting = {};
    std::vector<IpAddress> addresses;
    for (auto const& address : names->addresses) addresses.push_back(net::to_ip(address));
    if (!addresses.empty()) request_.services.shared.name_history.note(host(), addresses, steady_now());
    co_return addresses;
}

bool NameCheck::leads(std::vector<IpAddress> const& addresses) const {
    return std::ranges::count(addresses, *request_.target.destination) > 0;
}

}   // namespace garner::proxy
