// The account of a request, a fill or a tunnel: it charges bytes to the line, and waits before more are read.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "net/asio.hpp"
#include "net/wake.hpp"
#include "share/cap.hpp"
#include "share/line_clock.hpp"
#include "share/payers.hpp"
#include "share/shares.hpp"

namespace garner::share {

/// Belongs to one worker; one coroutine may wait for each direction. With a quota it also counts, slows and ends.
class Account {
public:
    /// `cap`: null if none applies.
    Account(Shares& shares, Clock& clock, Payer own, std::shared_ptr<Cap> cap)
        : shares_(shares), clock_(clock), own_(std::move(own)), cap_(std::move(cap)), charged_(cap_) {}
    Account(Account const&) = delete;
    ~Account();

    Payer const& own() const { return own_; }
    /// null: none applies.
    std::shared_ptr<Cap> const& own_cap() const { return cap_; }
    /// For a transfer that outlives this account. Debts stay here.
    std::unique_ptr<Account> another() const;

    /// The transfer is for others, too: each piece is charged to the subject with the least bytes. `with_own`: the account's own
    /// subject is one of them; otherwise it pays only if there are no others. The fastest cap of those that pay applies. nullptr:
    /// no other subject needs it.
    void pay_with(std::shared_ptr<Payers> others, bool with_own) {
        others_ = std::move(others);
        with_own_ = with_own;
    }

    /// Waits end when the condition is true. It is evaluated each second.
    void wait_unless(std::function<bool()> useless) { useless_ = std::move(useless); }

    /// Before a source is asked: counts the request once. False: the quota is used up, and no source may be asked.
    bool may_ask();
    /// The quota of all that could pay was used up when bytes were charged or waited for: the transfer ends.
    bool is_over() const { return static_cast<bool>(over_by_); }
    /// The quota that ends or refuses the transfer. Only if is_over().
    QuotaStanding standing() const { return over_by_->standing(wall_now()); }
    /// `the quota "guests" is used up`, for the log. Only if is_over().
    std::string over_reason() const { return "the quota \"" + standing().rule.name + "\" is used up"; }

    /// Bytes have moved.
    void charge(Direction direction, Bytes bytes);
    void charge_both(Bytes down, Bytes up) {
        charge(Direction::down, down);
        charge(Direction::up, up);
    }
    /// Received bytes that another account has charged to the line, and not to the cap of this one.
    void charge_own_cap(Bytes bytes);
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
        Bytes laned = 0;    // to the slow lane
        net::WakeHandle waiting = {};
        bool aborted = false;
        bool owes() const { return owed > 0 || capped > 0 || laned > 0; }
    };
    Payer payer(Direction direction) const;
    std::shared_ptr<Cap> cap(Direction direction) const;
    std::shared_ptr<Cap> const& charged(Direction direction) const { return direction == Direction::down ? charged_ : cap_; }
    void charge_cap(Direction direction, Bytes bytes, SteadyTime now);
    void enter_cap(std::shared_ptr<Cap> cap);
    void leave_cap_debt(Direction direction);
    void charge_quota(Direction direction, Payer const& payer, Bytes bytes, SteadyTime now);
    void enter_lane(std::shared_ptr<Cap> lane);
    void leave_lane();
    void note_state(Payer const& payer, QuotaState state);
    bool is_useless(Direction direction);
    net::awaitable<void> wait_for_share(Direction direction);
    net::awaitable<void> wait_for_cap(Direction direction);
    net::awaitable<void> wait_for_lane(Direction direction);
    net::awaitable<void> wait(Line& line, Line::Place& place, Side& side);

    Shares& shares_;
    Clock& clock_;
    Payer own_;
    std::shared_ptr<Cap> cap_;         // its own; nullptr: none applies
    std::shared_ptr<Cap> charged_;     // for received bytes: the last one that applied
    std::shared_ptr<Cap> lane_;        // the last payer's; nullptr: it is not in the slow lane
    std::shared_ptr<Payers> others_;   // nullptr: none
    bool with_own_ = false;
    bool has_asked_ = false;
    QuotaRef over_by_;                // empty: some payer is within its quota
    std::function<bool()> useless_;   // empty: no wait is
    std::array<Side, 2> sides_;
};

}   // namespace garner::share
