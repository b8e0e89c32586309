// Whether the DNS servers answer.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "util/clock.hpp"
#include "util/mutex.hpp"

namespace garner::net {

/// Thread-safe. Counts lookups in a row that no server has answered, of different names: one broken domain is no silent server.
class DnsHealth {
public:
    struct Figures {
        std::uint32_t names = 0;    // in a row
        std::string why = {};       // the last failure: "DNS server did not respond"
        WallTime since{}, last{};   // the first and the last of them
        /// Without a lookup for a while nothing is known.
        bool is_silent(WallTime now) const { return names >= names_min && now < last + valid; }
        static constexpr std::uint32_t names_min = 3;
        static constexpr std::chrono::minutes valid{5};
    };

    /// `failure`: that of the answer, which may be empty.
    void note(std::string_view host, std::string_view failure, WallTime now = wall_now()) EXCLUDES(mutex_) {
        bool const is_answered = !failure.starts_with("DNS server");   // "no such host" is an answer
        MutexLock const lock(mutex_);
        if (is_answered) {
            figures_ = {};
            host_.clear();
            return;
        }
        if (figures_.names == 0 || now >= figures_.last + Figures::valid) figures_ = {.since = now};
        if (host != host_) ++figures_.names;
        host_ = host;
        figures_.why = failure;
        figures_.last = now;
    }
    Figures figures() const EXCLUDES(mutex_) {
        MutexLock const lock(mutex_);
        return figures_;
    }

private:
    mutable Mutex mutex_;
    Figures figures_ GUARDED_BY(mutex_);
    std::string host_ GUARDED_BY(mutex_);   // of the last lookup without an answer
};

}   // namespace garner::net
