// Idle connections to origins and peers, kept for the next request.
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/options.hpp"
#include "net/transport.hpp"
#include "util/clock.hpp"
#include "util/hash.hpp"
#include "util/lru_map.hpp"
#include "util/recycled_memory.hpp"

namespace garner::net {

/// The properties that two requests must share to use the same connection.
struct PoolKey {
    std::uint64_t tls = 0;   // TlsContext::id() of the session with the host; 0: plain TCP
    std::string_view host;   // in any case
    std::uint16_t port = 80;
    std::string_view peer{};          // the peer it goes through; empty: none
    std::uint64_t peer_tls = 0;       // the TLS session with this peer, which carries the connection
    std::string_view server_name{};   // for SNI; empty: none
};

/// The key's text, written to `buffer` and valid until `buffer` changes.
std::string_view pool_key(PoolKey const& key, std::string& buffer);

/// One per worker; not thread-safe.
class OriginPool {
public:
    explicit OriginPool(PoolOptions const& options) : options_(options) {}
    /// Closes the connections beyond these options, the oldest first.
    void reconfigure(PoolOptions const& options);

    /// Connections that begin with a PROXY header belong to one client: they have an empty key, under which nothing is kept.
    static bool is_shared(std::string_view key) { return !key.empty(); }

    /// The connection most recently given under this key; those that the peer has closed, or may close at any moment, are
    /// discarded. nullptr when there is none that was idle for at most `idle_max`. Allocates nothing, unless one was closed.
    /// `since`: when it was given.
    std::unique_ptr<Transport> take(std::string_view key, milliseconds idle_max = milliseconds::max(), SteadyTime* since = nullptr);

    /// Keeps a connection without running operations and unread bytes, for use within `idle_max`. Beyond idle_per_origin or
    /// idle_total the oldest one is closed.
    void give(std::string_view key, std::unique_ptr<Transport> transport, milliseconds idle_max = milliseconds::max());

    /// The peer has closed a connection under this key that had been idle for `idle`. After two such events, connections are
    /// no longer taken a second before the longer one of the last two times. One alone may have been a restart of the peer.
    void note_closed(std::string_view key, milliseconds idle, SteadyTime now = steady_now());

    /// Closes connections idle for longer than idle_timeout; to be called each tick.
    void sweep(SteadyTime now = steady_now());

    /// Closes the `count` connections that have been idle longest; returns how many were closed.
    std::size_t close_oldest(std::size_t count);

    /// Closes the connections whose PoolKey has this `tls`.
    void close_secure(std::uint64_t tls);

    /// Closes all.
    void clear();

    std::size_t size() const { return idle_.size(); }

private:
    struct Idle;
    using Idles = std::list<Idle, RecyclingAllocator<Idle>>;
    // Both are ordered by age, so that the oldest connection of all is also the first of its origin.
    using Origins = std::unordered_map<RecycledString, RecycledVector<Idles::iterator>, KeyedHash, std::equal_to<>,
                                       RecyclingAllocator<std::pair<RecycledString const, RecycledVector<Idles::iterator>>>>;
    struct Idle {
        std::unique_ptr<Transport> transport;
        SteadyTime since;
        milliseconds idle_max;
        Origins::value_type* origin;
    };
    /// The last two closings by an origin.
    struct Closings {
        SteadyTime at{};
        milliseconds idle{};
        std::optional<milliseconds> before;
    };
    milliseconds learned(std::string_view key, SteadyTime now);

    void close_oldest(Origins::value_type& origin);

    PoolOptions options_;
    Idles idle_;
    Origins origins_;
    LruMap<Closings> closings_;
};

}   // namespace garner::net
