// Deliberate errors in the protocol, which tests/group must find. Only its build can select one.
#pragma once
#include <cstdint>

namespace garner::group {

enum class Mutant : std::uint8_t {
    none,
    one_voter_is_enough,          // current with the lease of one voter
    age_from_arrival,             // a lease counts from the arrival of State
    accepted_after_one_store,     // instead of a majority
    instance_trusted,             // a voter that restarted is trusted at once
    no_watermark,                 // voters are trusted without one
    reconnect_skips,              // the notices of a pause of the connection are skipped
    trusted_back_early,           // a voter that restarted is trusted as soon as the member is current
    no_time_to_store,             // a submission may be stored at any time
    confirmed_after_start,        // a voter confirms although members may hold leases of its earlier process
    confirmed_when_sent,          // a voter confirms notices that it has only sent
    no_fill_guard,                // a response from before an invalidation is stored
    followers_join_older_fills,   // a request joins a fetch from before an invalidation
    no_pass_after_match,          // after an invalidation, parents may answer from their caches
    no_pass_after_watermark,      // after a watermark, parents may answer from their caches
    any_fetch_counts,             // cut off: a response that was fetched without no-cache is used
    stale_on_error                // invalidated responses are served if the origin fails
};

#ifdef GARNER_MUTANTS
inline Mutant mutant = Mutant::none;
inline bool is_mutant(Mutant one) { return mutant == one; }
#else
constexpr bool is_mutant(Mutant) { return false; }
#endif

}   // namespace garner::group
