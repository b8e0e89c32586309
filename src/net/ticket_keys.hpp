// The keys of stateless session tickets (RFC 5077, RFC 8446 4.6.1), shared by all workers, listeners and reloads.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "util/clock.hpp"
#include "util/mutex.hpp"

typedef struct ssl_ctx_st SSL_CTX;

namespace garner::net {

/// The keys of one hour. Erased from memory by the destructor.
struct TicketKey {
    std::array<std::uint8_t, 16> name{};     // sent in clear with the ticket
    std::array<std::uint8_t, 32> cipher{};   // AES-256-CBC
    std::array<std::uint8_t, 32> mac{};      // HMAC-SHA-256
    static TicketKey random();
    TicketKey() = default;
    TicketKey(TicketKey const&) = default;
    TicketKey& operator=(TicketKey const&) = default;
    ~TicketKey();
};

/// Tickets are encrypted with the current key, which is replaced every `period` by a random one. The two keys before it still
/// decrypt; older keys are erased. Thread-safe: each call copies one key under a mutex.
class TicketKeys {
public:
    static constexpr seconds period{3'600};
    static constexpr std::size_t keys = 3;
    /// Every ticket is accepted for at least this long.
    static constexpr seconds ticket_lifetime = period * (keys - 1);

    explicit TicketKeys(SteadyTime now) : since_(now) {}

    TicketKey current(SteadyTime now);
    struct Found {
        TicketKey key;
        bool is_current;   // false: the ticket should be renewed
    };
    /// The key with this name, or nothing: the ticket is too old or of another process.
    std::optional<Found> find(std::span<std::uint8_t const, 16> name, SteadyTime now);

    /// All keys, for a process that takes over: 80 bytes each (name 16, AES-256 key 32, HMAC key 32), the current one first.
    struct State {
        std::string bytes;
        milliseconds age{0};   // of the current key's period
    };
    static constexpr std::size_t key_bytes = 80;
    State state(SteadyTime now);
    /// False if the bytes are no keys: nothing has changed.
    bool restore(State const& state, SteadyTime now);

    /// Makes the context encrypt and decrypt its tickets with these keys, which must outlive it and its sessions.
    void use_in(SSL_CTX*);

private:
    void rotate(SteadyTime now) REQUIRES(mutex_);
    Mutex mutex_;
    std::array<TicketKey, keys> keys_ GUARDED_BY(mutex_);   // the current one first
    bool made_ GUARDED_BY(mutex_) = false;                  // keys_ are random, or of another process
    SteadyTime since_ GUARDED_BY(mutex_);                   // begin of the current key's period
};

}   // namespace garner::net
