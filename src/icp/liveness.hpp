// Whether a peer answers: alive, suspect, dead. Pure: times are handed in.
#pragma once
#include <cstdint>
#include <optional>

#include "util/clock.hpp"

namespace garner::icp {

enum class Health : std::uint8_t {
    alive,     // asked, and waited for
    suspect,   // the last query ran out: asked, never waited for
    dead       // as suspect; used only when nobody else is left
};

/// RFC 2187 5.1.3 and Harvest's rule of 20 queries. Connections and queries speak for themselves: who refuses connections
/// is dead, though it answers queries, and the other way round. Not thread-safe.
class Liveness {
public:
    static constexpr std::uint32_t unanswered_max = 20;   // in a row
    static constexpr milliseconds silence_max{10'000};    // since the first of those, when it was not the only one
    static constexpr milliseconds mourned{10'000};        // after a connect failed: not probed before

    void asked(SteadyTime now);
    /// True when this brings it back from the dead.
    bool answered(SteadyTime now);
    /// An answer was waited for in vain, and may come yet: suspect. That many questions at a time met one short pause of
    /// the peer is no death.
    void overdue() { overdue_ = true; }
    /// One query ran out for good. True when this is its death.
    bool expired(SteadyTime now);
    /// A connection for HTTP could not be had, or broke without an answer. True when this is its death.
    bool connect_failed(SteadyTime now);
    /// True when this brings it back from the dead.
    bool connected(SteadyTime now);

    Health health(SteadyTime now) const;
    /// Its HTTP port is to be tried again: by a probe, not by a client's request.
    bool wants_probe(SteadyTime now) const;
    void probed(SteadyTime now);

private:
    bool told_dead(SteadyTime now);
    bool told_alive(SteadyTime now);

    std::optional<SteadyTime> silent_since_;   // the first query since the last answer was asked then
    std::uint32_t expired_ = 0;                // queries that ran out, in a row
    bool overdue_ = false;                     // the last one that was waited for
    bool refused_ = false;                     // connections fail
    SteadyTime probed_at_{};
    bool told_dead_ = false;
};

}  // namespace garner::icp
