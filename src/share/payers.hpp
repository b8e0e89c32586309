// The subjects that share the cost of one transfer.
#pragma once
#include "net/wake.hpp"
#include "share/subject.hpp"

namespace garner::share {

/// Thread-safe.
class Payers {
public:
    virtual ~Payers() = default;
    /// The one whose turn comes first; empty if there are none.
    virtual SubjectRef payer(Line const& line, Direction direction) const = 0;
    /// Wakes the handle when one more joins. Only the last handle counts.
    virtual void wake_on_joining(net::WakeHandle handle) = 0;
};

}   // namespace garner::share
