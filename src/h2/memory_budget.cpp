#include "h2/memory_budget.hpp"

namespace garner::h2 {

std::shared_ptr<ClientMemory> Memory::of(IpAddress const& client) {
    MutexLock const lock(mutex_);
    auto& known = clients_[client];
    if (auto found = known.lock()) return found;
    // Another connection of the client may have made new accounts before the last owner of the old ones is here.
    auto const forget = [this, client](ClientMemory* accounts) {
        delete accounts;
        MutexLock const locked(mutex_);
        auto const found = clients_.find(client);
        if (found != clients_.end() && found->second.expired()) clients_.erase(found);
    };
    std::shared_ptr<ClientMemory> made(new ClientMemory(heads_, windows_), forget);
    known = made;
    return made;
}

}   // namespace garner::h2
