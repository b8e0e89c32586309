// The local ends of the connections on which Garner passes intercepted TLS on.
#pragma once
#include <set>
#include <utility>

#include "util/ip.hpp"
#include "util/mutex.hpp"

namespace garner::proxy {

/// If the firewall diverts such a connection, too, a client has one of these endpoints. HTTP shows this loop by Via. Thread-safe.
class OwnEnds {
public:
    /// Its destructor removes the endpoint. Move-only; an empty one holds nothing.
    class Held {
    public:
        Held() = default;
        Held(OwnEnds& ends, IpEndpoint const& end) : ends_(&ends), end_(end) { ends.add(end); }
        Held(Held&& other) noexcept : ends_(std::exchange(other.ends_, nullptr)), end_(other.end_) {}
        Held& operator=(Held&&) = delete;
        ~Held() {
            if (ends_) ends_->remove(end_);
        }

    private:
        OwnEnds* ends_ = nullptr;
        IpEndpoint end_{};
    };

    bool has(IpEndpoint const& end) const EXCLUDES(mutex_) {
        MutexLock const lock(mutex_);
        return ends_.contains({end.address, end.port});
    }

private:
    void add(IpEndpoint const& end) EXCLUDES(mutex_) {
        MutexLock const lock(mutex_);
        ends_.insert({end.address, end.port});
    }
    void remove(IpEndpoint const& end) EXCLUDES(mutex_) {
        MutexLock const lock(mutex_);
        ends_.erase(ends_.find({end.address, end.port}));
    }

    mutable Mutex mutex_;
    // The kernel gives one local endpoint to several connections if they have different destinations.
    std::multiset<std::pair<IpAddress, std::uint16_t>> ends_ GUARDED_BY(mutex_);
};

}   // namespace garner::proxy
