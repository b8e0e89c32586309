// The account of a request, a fill or a tunnel: it charges bytes to the line, and waits before more are read.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "net/asio.hpp"
#include "net/wake.hpp"
#include "share/cap.hpp"
#include "share/clock.hpp"
#include "share/payers.hpp"
#include "share/shares.hpp"

namespace garner::share {

/// Belongs to one worker; one coroutine may wait for each direction.
class Account {
public:
    /// `cap`: null if none applies.
    Account(Shares& shares, Clock& clock, SubjectRef subject, std::shared_ptr<Cap> cap)
        : shares_(shares), clock_(clock), subject_(std::move(subject)), cap_(std::move(cap)) {}
    Account(Account const&) = delete;
    ~Account();

    SubjectRef const& subject() const { return subject_; }
    /// For a transfer that outlives this account. Debts stay here.
    std::unique_ptr<Account> another() const;

    /// The transfer is for others, too: each piece is charged to the subject with the least bytes. `with_own`: the account's own
    /// subject is one of them; otherwise it pays only if there are no others. nullptr: it is for nobody else.
    void pay_with(std::shared_ptr<Payers> others, bool with_own) {
        others_ = std::move(others);
        with_own_ = with_own;
    }

    /// Waits end when the condition is true. It is evaluated each second.
    void wait_unless(std::function<bool()> useless) { useless_ = std::move(useless); }

    /// Bytes have moved.
    void charge(Direction direction, Bytes bytes);
    void charge_both(Bytes down, Bytes up) {
        charge(Direction::down, down);
        charge(Direction::up, up);
    }
    /// True: settle() would wait.
    bool owes(Direction direction) const { return sides_[index(direction)].owes(); }
    /// Waits until all that is owed is paid, until abort(), or until the wait is useless.
    net::awaitable<void> settle(Direction direction);
    /// Before an origin is asked: a subject with debts waits behind its other requests. The kernel receives the beginning of a
    /// response before it is read.
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
    bool is_useless() const { return useless_ && useless_(); }
    net::awaitable<void> wait_for_share(Direction direction);
    net::awaitable<void> wait_for_cap(Direction direction);
    net::awaitable<void> wait(Line& line, Line::Place& place, Side& side);

    Shares& shares_;
    Clock& clock_;
    SubjectRef subject_;
    std::shared_ptr<Cap> cap_;
    std::shared_ptr<Payers> others_;   // nullptr: none
    bool with_own_ = false;
    std::function<bool()> useless_;   // empty: no wait is
    std::array<Side, 2> sides_;
};

}   // namespace garner::share
