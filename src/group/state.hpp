// The state of a group as one member sees it, for people and monitors.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "group/times.hpp"
#include "util/counter.hpp"

namespace garner::group {

/// The result of a submission.
struct SubmissionResult {
    bool accepted = false;
    bool everywhere = false;   // no member that is current uses what it covers
    std::size_t stored = 0, voters = 0;
    microseconds took{0};     // until it was accepted, or not
    microseconds spread{0};   // until it was everywhere
    std::string why = {};     // not accepted

    /// "stored by 2 of 3 voters in 3.1 ms", "not accepted: stored by 1 of 3 voters in 1.96 s: the lease ..."
    std::string text() const;
};

struct GroupState {
    struct VoterRow {
        std::string address;
        bool is_own = false, connected = false, trusted = false;
        std::uint64_t instance = 0, sequence = 0;
        Time age = never;           // of its lease: since the poll that it answered; negative: none
        Time left{0};               // until its lease ends
        std::string trouble = {};   // the end of the last connection, or the refusal of this member
    };
    /// A member, as the voter in this process knows it.
    struct MemberRow {
        std::string name, address;
        std::uint64_t acknowledged = 0, lag = 0;   // notices
        Time heard_before{0};
    };
    /// An object that is offered to the group.
    struct OfferRow {
        std::string url, validator;
        std::uint64_t length = 0;   // bytes; 0: unknown
        Time left{0};               // until it ends
        bool is_own = false;
        std::vector<std::string> parents = {};   // the proxies to ask, nearest first
        std::string state = {};                  // "stored"
    };
    struct Watermark {
        WallTime at{};
        std::string reason;
    };
    struct Totals {
        std::uint64_t accepted = 0, not_accepted = 0, received = 0;
        std::uint64_t refused = 0;                     // submissions that no voter was asked to store
        std::uint64_t watermarks = 0, cut_off = 0;     // how often
        std::uint64_t offered = 0, offers_taken = 0;   // by this member, and of others
        std::uint64_t links_refused = 0, bad_frames = 0, flooded = 0, slow_readers = 0;
    };

    std::string name = {}, member = {}, address = {};
    milliseconds lease{0};
    bool current = false;
    WallTime since{};              // it became so
    std::string why = {};          // it is cut off: "no lease of 10.0.0.2:3133 (connection refused)"
    bool serves_cut_off = false;   // group.cut_off: then it uses stored responses all the same
    Time left{0};                  // until the lease ends
    std::vector<VoterRow> voters = {};
    bool is_voter = false;
    std::size_t held = 0;   // notices in the list of the voter in this process
    std::vector<MemberRow> members = {};
    std::vector<OfferRow> offers = {};        // those in force, oldest first
    std::vector<Watermark> watermarks = {};   // the last ones, oldest first
    Totals totals = {};
    LatencySnapshot acceptance, spread;

    static constexpr std::size_t watermarks_kept = 16;
    /// The voters whose lease is over, with their trouble.
    std::string silent() const;
};

}   // namespace garner::group
