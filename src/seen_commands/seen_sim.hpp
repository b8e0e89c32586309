// A stream of URL numbers through caches of seen URLs.
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
    bool all = false;                  // every one there is: those that cannot be had here are left out
    std::vector<std::uint64_t> entries;
    std::uint32_t threads_model = 0;   // private caches; 0: one that all threads share
    std::uint32_t page_links = 62;     // dealt to a thread before the next one's turn
    bool json = false;
    std::uint64_t seed = 1;
};

struct SeenResult {
    std::string cache;           // its spec
    std::uint64_t entries = 0;   // as wished for
    std::uint64_t requests = 0, misses = 0;
    std::uint64_t false_positives = 0;   // answered seen, but never asked for before
    std::uint64_t false_negatives = 0;   // answered new, but asked for before
    double seconds = 0;                  // of processor time, in the cache alone
    double bits_per_entry = 0;           // at the end

    double miss_ratio() const { return share(static_cast<double>(misses)); }
    double nanoseconds() const { return share(seconds * 1e9); }

private:
    double share(double of) const { return requests ? of / static_cast<double>(requests) : 0; }
};

struct SeenRuns {
    std::vector<SeenResult> results;     // in the order of entries, then caches
    std::vector<std::string> left_out;   // of all: which, and why, a line each
    std::string fault;                   // one line that names what is wrong and the mend
    bool interrupted = false;            // the progress callback ended the run; `fault` says where
};
/// Called after each block of the stream with the run and how far it is: packed bytes read of those in the file, 0 when not
/// known. When it returns false, the run is abandoned and no other is begun.
using SeenProgress = std::function<bool(std::string const& run, Bytes read, Bytes in_file)>;

/// A file is read once for each cache, so that a cache has the processor for itself and memory for one suffices;
/// standard input feeds all at once. Throws std::bad_alloc when memory does not suffice.
SeenRuns run_seen_caches(SeenSimOptions const&, SeenProgress const&);

/// One line: the cache reads the stream twice, which standard input does not allow.
std::string needs_a_file(std::string const& spec);

}   // namespace garner::seen_commands
