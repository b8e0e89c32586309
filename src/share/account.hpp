// What a request, a fill or a tunnel takes from the line: it is charged, and waits before it takes more.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "net/asio.hpp"
#include "net/wake.hpp"
#include "share/cap.hpp"
#include "share/clock.hpp"
#include "share/shares.hpp"

namespace garner::share {

/// Belongs to one worker; one coroutine may wait for each direction.
class Account {
public:
    /// Somebody else who may pay in this direction; empty: nobody.
    using Others = std::function<SubjectRef(Line const& line, Direction direction)>;

    /// `cap`: null if none applies.
    Account(Shares& shares, Clock& clock, SubjectRef subject, std::shared_ptr<Cap> cap)
        : shares_(shares), clock_(clock), subject_(std::move(subject)), cap_(std::move(cap)) {}
    Account(Account const&) = delete;
    ~Account();

    SubjectRef const& subject() const { return subject_; }
    /// For a transfer that outlives this account. Debts stay here.
    std::unique_ptr<Account> another() const;

    /// The transfer is for others, too: each piece is charged to the one that has had least. `with_own`: this account's subject is
    /// one of them. Without it, that subject pays if there are no others.
    void pay_with(Others others, bool with_own) {
        others_ = std::move(others);
        with_own_ = with_own;
    }

    /// Bytes have moved.
    void charge(Direction direction, Bytes bytes);
    void charge_both(Bytes down, Bytes up) {
        charge(Direction::down, down);
        charge(Direction::up, up);
    }
    /// True: settle() would wait.
    bool owes(Direction direction) const { return sides_[index(direction)].owes(); }
    /// Waits until all that is owed is paid, or until abort().
    net::awaitable<void> settle(Direction direction);
    /// Before an origin is asked: a subject that owes waits behind its other requests. What it is sent comes without regard to
    /// the line until somebody reads it.
    net::awaitable<void> settle_before_asking();
    /// The most to read at once.
    Bytes piece(Direction direction) const;
    /// Waits end now, and later ones at once.
    void abort(Direction direction);
    void abort() {
        for (auto const direction : directions) abort(direction);
    }

private:
    struct Side {
        Bytes owed = 0;     // to the line
        Bytes capped = 0;   // to the cap
        net::WakeHandle waiting = {};
        bool aborted = false;
        bool owes() const { return owed > 0 || capped > 0; }
    };
    SubjectRef payer(Direction direction) const;
    net::awaitable<void> wait_for_share(Direction direction);
    net::awaitable<void> wait_for_cap(Direction direction);
    net::awaitable<net::Wake> wait(Line& line, Line::Place& place, Side& side);

    Shares& shares_;
    Clock& clock_;
    SubjectRef subject_;
    std::shared_ptr<Cap> cap_;
    Others others_;
    bool with_own_ = false;
    std::array<Side, 2> sides_;
};

}   // namespace garner::share
