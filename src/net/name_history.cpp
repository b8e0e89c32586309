#include "net/name_history.hpp"

#include <algorithm>

namespace garner::net {
namespace {

/// "example.com." is the same name.
std::string_view without_root(std::string_view host) {
    if (host.ends_with('.')) host.remove_suffix(1);
    return host;
}

}   // namespace

void NameHistory::note(std::string_view host, std::span<IpAddress const> addresses, SteadyTime now) {
    MutexLock const lock(mutex_);
    auto& known = names_.get(without_root(host), names_max).known;
    for (auto const& address : addresses) {
        auto place = std::ranges::find(known, address, &Known::address);
        if (place == known.end()) place = std::ranges::min_element(known, {}, &Known::seen);
        *place = {address, now};
    }
}

DnsProof NameHistory::proof(std::string_view host, IpAddress const& address, SteadyTime now) {
    MutexLock const lock(mutex_);
    auto const* const name = names_.use(without_root(host));
    if (!name) return DnsProof::none;
    auto const known = std::ranges::find(name->known, address, &Known::address);
    if (known == name->known.end() || now - known->seen > lifetime) return DnsProof::none;
    return now - known->seen <= recent_time ? DnsProof::recent : DnsProof::past;
}

bool NameHistory::may_ask_again(std::string_view host, SteadyTime now) {
    MutexLock const lock(mutex_);
    auto& asked = names_.get(without_root(host), names_max).asked;
    if (asked != SteadyTime{} && now - asked < ask_interval) return false;
    asked = now;
    return true;
}

Bytes NameHistory::bytes() const {
    MutexLock const lock(mutex_);
    return names_.size() * name_bytes;
}

}   // namespace garner::net
