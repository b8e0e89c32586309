// The liveness of a peer: alive, suspect, dead. Pure: times are arguments.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "util/clock.hpp"

namespace garner::icp {

enum class Health : std::uint8_t {
    alive,     // queried, and waited for
    suspect,   // the last query expired, or the last request waited in vain: queried, but not waited for
    dead       // like suspect; used only when no other source is left
};

/// "alive", "suspect", "dead".
std::string_view name_of(Health);

/// RFC 2187 5.1.3 and Harvest's rule of 20 queries. Connections and queries count separately: a peer that refuses
/// connections is dead although it replies to queries, and the reverse. A peer may also accept connections and answer no
/// request: each such request counts as a wait. Not thread-safe.
class Liveness {
public:
    static constexpr std::uint32_t unanswered_max = 20;     // in a row
    static constexpr milliseconds silence_max{10'000};      // since the first of several unanswered queries
    static constexpr milliseconds probe_interval{10'000};   // least time between a failed connection and the next probe
    static constexpr std::uint32_t waits_max = 2;           // in a row

    void asked(SteadyTime now);
    /// True when this makes a dead peer alive.
    bool answered(SteadyTime now);
    /// A reply did not come within the wait, but may still come: suspect. Many concurrent queries may meet one short pause
    /// of the peer, so this alone never makes it dead.
    void overdue() { overdue_ = true; }
    /// One query has expired. True when this makes the peer dead.
    bool expired(SteadyTime now);
    /// An HTTP connection failed, or broke without a response. True when this makes the peer dead.
    bool connect_failed(SteadyTime now);
    /// True when this makes a dead peer alive.
    bool connected(SteadyTime now);
    /// A request sent at that time got no response while another source answered it. Requests that wait at the same time count
    /// once. True when this makes the peer dead.
    bool waited(SteadyTime sent_at, SteadyTime now);
    /// A response head has arrived. True when this makes a dead peer alive.
    bool responded(SteadyTime now);
    /// A probe got a response, or none. It may get one although requests wait, if the peer cannot reach origins. So a response
    /// counts only some time after the last wait. True when this makes a dead peer alive, or a suspect one dead.
    bool probe_responded(SteadyTime now);
    bool probe_waited(SteadyTime now);
    /// A probe must get a response, and not only a connection.
    bool must_respond() const { return waits_ > 0; }

    Health health(SteadyTime now) const;

    /// For another process.
    struct State {
        std::optional<milliseconds> silent_for = std::nullopt;
        std::uint32_t expired = 0;
        bool overdue = false;
        bool refused = false;
        milliseconds probed_before{0};
        std::uint32_t waits = 0;
    };
    State state(SteadyTime now) const;
    void adopt(State const& state, SteadyTime now);

    /// Its HTTP port should be tried again, by a probe rather than by a client's request. At once after the first wait.
    bool wants_probe(SteadyTime now) const;
    void probed(SteadyTime now);

private:
    bool told_dead(SteadyTime now);
    bool told_alive(SteadyTime now);

    std::optional<SteadyTime> silent_since_;   // time of the first query since the last reply
    std::uint32_t expired_ = 0;                // expired queries, in a row
    bool overdue_ = false;                     // the last query that was waited for
    bool refused_ = false;                     // connections fail
    SteadyTime probed_at_{};
    std::uint32_t waits_ = 0;   // requests without a response, in a row
    SteadyTime waited_at_{};    // the last of them
    bool told_dead_ = false;
};

}   // namespace garner::icp
