#include "proxy/counters.hpp"

#include "util/hash.hpp"

namespace garner::proxy {

std::size_t ClientCounts::Hash::operator()(IpAddress const& address) const {
    return fingerprint({reinterpret_cast<char const*>(&address), sizeof(address)}, 0);
}

bool ClientCounts::enter(IpAddress const& client, std::uint32_t limit) {
    std::lock_guard lock(mutex_);
    auto& count = counts_[client];
    if (limit != 0 && count >= limit) return false;
    ++count;
    return true;
}

void ClientCounts::leave(IpAddress const& client) {
    std::lock_guard lock(mutex_);
    auto found = counts_.find(client);
    if (found != counts_.end() && --found->second == 0) counts_.erase(found);
}

}  // namespace garner::proxy
