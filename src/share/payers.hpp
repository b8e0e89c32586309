// The subjects that share the cost of one transfer.
#pragma once
#include <compare>
#include <memory>
#include <optional>
#include <utility>

#include "net/wake.hpp"
#include "share/cap.hpp"
#include "share/quotas.hpp"
#include "share/subject.hpp"

namespace garner::share {

/// The one that pays for bytes of the line, and the quota that counts them.
struct Payer {
    SubjectRef subject;
    QuotaRef quota;   // empty: none counts them

    Payer() = default;
    Payer(SubjectRef of, QuotaRef by = {}) : subject(std::move(of)), quota(std::move(by)) {}
    explicit operator bool() const { return static_cast<bool>(subject); }
    QuotaState state(WallTime now) const { return quota ? quota->state(now) : QuotaState::within; }
    friend bool operator==(Payer const&, Payer const&) = default;
};

/// The order of payers: within their quotas first, then those with the least use of the line.
struct Turn {
    QuotaState state = QuotaState::within;
    double tag = 0;
    friend auto operator<=>(Turn const&, Turn const&) = default;
};
inline Turn turn_of(Payer const& payer, Line const& line, Direction direction) {
    return {payer.state(wall_now()), line.tag(payer.subject->flow(direction))};
}

/// Thread-safe.
class Payers {
public:
    virtual ~Payers() = default;
    /// The one whose turn comes first; empty if there are none.
    virtual Payer payer(Line const& line, Direction direction) const = 0;
    /// The cap with the highest rate among theirs; nullptr: one of them has none. Empty: there are no payers.
    virtual std::optional<std::shared_ptr<Cap>> fastest_cap(Direction direction) const = 0;
    /// Received bytes were charged to the cap: those that have it need not pay for them again.
    virtual void note_charged(Cap const& cap, Bytes bytes) = 0;
    /// The transfer begins to wait for its turn. Wakes the handle when one more joins; only the last handle counts.
    virtual void begin_wait(net::WakeHandle handle) = 0;
    virtual void end_wait() = 0;
};

}   // namespace garner::share
