// The descriptors of connections to origins and peers, counted on the client that causes them.
#pragma once
#include <atomic>
#include <list>
#include <memory>
#include <string_view>
#include <utility>

#include "net/connector.hpp"
#include "net/waiter.hpp"
#include "util/ip.hpp"

namespace garner::proxy {

class OriginSeats;
struct Services;
struct Shared;

/// The place of one connection to an origin or peer; its destructor frees it. Move-only; an empty one counts nothing.
class OriginSeat {
public:
    OriginSeat() = default;
    OriginSeat(OriginSeat&&) noexcept = default;
    OriginSeat& operator=(OriginSeat&& other) noexcept {
        end();
        seats_ = std::move(other.seats_);
        is_extra_ = other.is_extra_;
        client_ = other.client_;
        return *this;
    }
    ~OriginSeat() { end(); }
    explicit operator bool() const { return seats_ != nullptr; }
    void end();

private:
    friend class OriginSeats;
    OriginSeat(std::shared_ptr<OriginSeats> seats, bool is_extra, IpAddress const& client)
        : seats_(std::move(seats)), is_extra_(is_extra), client_(client) {}
    std::shared_ptr<OriginSeats> seats_;
    bool is_extra_ = false;
    IpAddress client_;   // is counted if it is extra
};

/// Those of one client connection. The seat of the connection includes one connection to an origin at a time. Each other one takes a
/// further seat of the client: those of the other streams of HTTP/2, and a fill that has outlived its request. Belongs to one worker.
class OriginSeats : public std::enable_shared_from_this<OriginSeats> {
public:
    /// Shared::clients has counted the connection as one of `client`.
    OriginSeats(Services& services, IpAddress const& client);
    OriginSeats(OriginSeats const&) = delete;
    IpAddress const& client() const { return client_; }
    /// Shared::clients has counted the connection as one of `client`, too.
    void move_to(IpAddress const& client);
    /// The client's connection has ended. A fill may go on with its connection to the origin.
    void end_connection();

    /// Without waiting; empty if the client has no seat left, or requests of it wait. `client`: the client of the request, whose
    /// network is counted.
    OriginSeat try_take(IpAddress const& client);
    /// Waits for its turn, at most `limit`. Empty: refused_by() is the reason, or `waiting` was woken.
    net::awaitable<OriginSeat> wait(IpAddress client, milliseconds limit, net::WakeHandle& waiting);
    /// The key of the limit that has refused the last seat.
    std::string_view refused_by() const { return refused_by_; }

private:
    friend class OriginSeat;
    struct Waiting {
        IpAddress client;
        net::WakeHandle handle = {};
    };
    OriginSeat take(IpAddress const& client);
    void give_back(OriginSeat const& seat);
    bool is_first(Waiting const& one) const;
    void wake_first() const;

    Services& services_;
    Shared& shared_;   // of `services_`, which a seat may outlive
    IpAddress client_;
    bool is_connected_ = true;
    bool is_own_taken_ = false;
    std::string_view refused_by_;
    std::list<Waiting> waiting_;   // in their order; the first one of each client tries again when a seat is free
};

/// Attempts to connect to several addresses of one origin: those beside the first one are limited for each client, and in total.
/// Belongs to one request.
class CountedAttempts : public net::MoreAttempts {
public:
    CountedAttempts(Services& services, IpAddress const& client);
    CountedAttempts(CountedAttempts const&) = delete;
    ~CountedAttempts() override;
    bool enter() override;
    void leave() override;

private:
    Shared& shared_;
    IpAddress client_;   // as Shared::attempting counts it
    bool is_on_loopback_;
    std::size_t running_ = 0;
};

}   // namespace garner::proxy
