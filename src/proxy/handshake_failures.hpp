// Failed TLS handshakes, collected for one line in the log.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "util/ip.hpp"
#include "util/mutex.hpp"

namespace garner::proxy {

/// A worker must not wait for the log, and a client must not fill it. Thread-safe.
class HandshakeFailures {
public:
    /// `why`: a sentence without a full stop.
    void note(IpAddress const& client, IpEndpoint const& listener, std::string_view why) {
        MutexLock const lock(mutex_);
        ++count_;
        latest_ = client.text() + " at " + listener.text() + ": " + std::string(why);
    }
    struct Summary {
        std::uint64_t count = 0;   // since the last call
        std::string latest;        // "10.0.0.5 at 192.0.2.1:3129: no shared cipher"
    };
    Summary take() {
        MutexLock const lock(mutex_);
        return {std::exchange(count_, 0), std::exchange(latest_, {})};
    }

private:
    Mutex mutex_;
    std::uint64_t count_ GUARDED_BY(mutex_) = 0;
    std::string latest_ GUARDED_BY(mutex_);
};

}   // namespace garner::proxy
