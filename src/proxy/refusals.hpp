// The last refused requests of each client, for the page of refusals and for `garner rules why --id`, and the last ones of all.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/clock.hpp"
#include "util/counted.hpp"
#include "util/ip.hpp"
#include "util/lru_map.hpp"
#include "util/mutex.hpp"

namespace garner::proxy {

/// A request that was refused by the access rules, or after its credentials were checked.
struct Refused {
    std::string id;
    WallTime at{};
    std::string method;
    std::string url;                           // without a query, cut to 512 bytes
    std::vector<std::string> groups;           // of the user
    std::vector<std::string> unknown_groups;   // http::Identity::unknown_groups
    std::string user;                          // empty: the client had not logged in
    std::string rule;                          // for the client; "auth", "auth.failures_per_minute": no login
    std::string because;                       // may be empty
    std::uint16_t listener = 0;
    IpAddress client;
    std::optional<IpAddress> destination;   // the address that was refused; nothing: no address mattered
    CountedBytes<Refused> counted = {};
};

/// Thread-safe. Holds at most 50 requests of each of 2,000 addresses or IPv6 /64 networks; the one that was refused longest ago is
/// dropped first. It also holds the last 256 of all clients, without groups and reasons. Together they take at most `bytes_max`.
class Refusals {
public:
    static constexpr std::size_t of_client_max = 50, clients_max = 2'000, url_max = 512, latest_max = 256;
    static constexpr Bytes bytes_max = 64 * MiB;

    void add(Refused refused) EXCLUDES(mutex_);
    /// Only for latest().
    void note(Refused const& refused) EXCLUDES(mutex_);
    /// The last ones of all clients, latest first. Long texts are cut.
    std::vector<Refused> latest() const EXCLUDES(mutex_);
    /// The refusals of this address, latest first: those of the user, and those without a user.
    std::vector<Refused> of(IpAddress const& client, std::string_view user) const EXCLUDES(mutex_);
    /// True if this address has a refusal of a user.
    bool has_users(IpAddress const& client) const EXCLUDES(mutex_);
    /// The refusals whose id begins with `id`, at most `most` of them.
    std::vector<Refused> find(std::string_view id, std::size_t most) const EXCLUDES(mutex_);

private:
    mutable Mutex mutex_;
    mutable LruMap<std::deque<Refused>> clients_ GUARDED_BY(mutex_);
    std::deque<Refused> latest_ GUARDED_BY(mutex_);
};

}   // namespace garner::proxy
