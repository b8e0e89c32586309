// Replays a stream of URL numbers through caches of seen URLs.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "util/bytes.hpp"

namespace garner::seen_commands {

struct SeenSimOptions {
    std::string stream;                // a file, "-" for standard input
    std::vector<std::string> caches;   // specs
    bool all = false;                  // all caches; those that cannot run here are left out
    std::vector<std::uint64_t> entries;
    std::uint32_t threads_model = 0;   // private caches; 0: one that all threads share
    std::uint32_t page_links = 62;     // links that a thread gets in its turn
    bool json = false;
    std::uint64_t seed = 1;
};

struct SeenResult {
    std::string cache;           // its spec
    std::uint64_t entries = 0;   // as configured
    std::uint64_t requests = 0, misses = 0;
    std::uint64_t false_positives = 0;   // answered seen, but never asked for before
    std::uint64_t false_negatives = 0;   // answered new, but asked for before
    double seconds = 0;                  // processor time of the cache alone
    double bits_per_entry = 0;           // at the end

    double miss_ratio() const { return share(static_cast<double>(misses)); }
    double nanoseconds() const { return share(seconds * 1e9); }

private:
    double share(double of) const { return requests ? of / static_cast<double>(requests) : 0; }
};

struct SeenRuns {
    std::vector<SeenResult> results;     // in the order of entries, then caches
    std::vector<std::string> left_out;   // runs left out, with the reason; one line each
    std::string fault;                   // one line with the error and a suggested fix
    bool interrupted = false;            // the progress callback ended the run; `fault` says where
};
/// Called after each block of the stream with the run and its progress: compressed bytes read, and the size of the file (0:
/// unknown). If it returns false, the run is abandoned, and no further run begins.
using SeenProgress = std::function<bool(std::string const& run, Bytes read, Bytes in_file)>;

/// Reads a file once for each cache, so that each cache has the processor for itself and only one is in memory. Reads standard
/// input once, for all caches together. Throws std::bad_alloc if memory does not suffice.
SeenRuns run_seen_caches(SeenSimOptions const&, SeenProgress const&);

/// The error for a cache that must read the stream twice, which standard input does not allow. One line.
std::string needs_a_file(std::string const& spec);

}   // namespace garner::seen_commands
