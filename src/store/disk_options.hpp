// What the disk tier is told, and what it tells.
#pragma once
#include <cstdint>
#include <string>

#include "util/bytes.hpp"
#include "util/clock.hpp"

namespace garner::io {
class Faults;
}

namespace garner::store {

struct DiskOptions {
    std::string path;                           // a directory, or a block device; empty: no disk tier
    Bytes size = 10 * GiB;                      // of the whole file; a device is used as far as it goes
    std::string policy = "fifo-reinsertion";    // or the spec of a replacement policy
    Bytes object_max = 4 * GiB;                 // the largest body kept
    Bytes buffer = 64 * MiB;                    // of memory, for what is not written yet; full: nothing is stored meanwhile
    milliseconds sync{200};                     // what a power failure may take at most
    milliseconds patience{500};                 // that a request waits for the disk, before it goes to the origin
    unsigned readers = 8;                       // threads for reads that must wait for the disk
    // Who may come in, to spare a disk that wears out.
    enum class Admit : std::uint8_t { all, second_hit } admit = Admit::all;
    Bytes object_min = 0;                       // smaller bodies stay out
    Bytes rate = 0;                             // bytes a second that may be written for newcomers; 0: any
    io::Faults* faults = nullptr;               // of tests

    /// What a running store can change is as in `fresh` then; file, index, buffers and threads are made at the start.
    void take_over(DiskOptions const& fresh) {
        object_max = fresh.object_max;
        sync = fresh.sync;
        patience = fresh.patience;
        admit = fresh.admit;
        object_min = fresh.object_min;
        rate = fresh.rate;
    }
    friend bool operator==(DiskOptions const&, DiskOptions const&) = default;
};

/// Why something was not written.
enum class NotStored : std::uint8_t { none, too_slow, too_large, too_small, not_admitted, rate, failing, no_room, count };
char const* text(NotStored);

struct DiskStats {
    enum class State : std::uint8_t {
        off,          // there is none
        recovering,   // it works; not all that is there has been found yet
        working,
        failing       // its faults keep it from being used; see `trouble`
    };
    State state = State::off;
    std::string path;
    std::string trouble;                  // in words, with what would mend it; of the last fault
    Bytes size = 0;
    Bytes live = 0;                       // bytes of records that can still be found
    std::uint64_t records = 0;            // objects, pieces
    Bytes metadata = 0;                   // of memory: index, policy, segments
    Bytes buffered = 0;                   // waiting to be written
    std::uint32_t segments = 0;
    std::uint32_t segments_recovered = 0;
    std::uint32_t segments_retired = 0;   // after faults
    std::uint64_t hits = 0;               // objects that were found and are good
    std::uint64_t hits_at_once = 0;       // of them, those whose heads were read without waiting for the disk
    std::uint64_t pieces = 0;             // of large bodies, that were read and are good
    std::uint64_t misses = 0;             // that the index said was there: another key, gone meanwhile
    std::uint64_t damaged = 0;            // records that did not fit their checksum; never served
    std::uint64_t too_late = 0;           // loads given up after `patience`
    std::uint64_t stored = 0;             // objects
    std::uint64_t not_stored[static_cast<std::size_t>(NotStored::count)] = {};
    Bytes stored_bytes = 0;               // heads and bodies of what was stored
    Bytes written_bytes = 0;              // all that went to the file
    Bytes reinserted_bytes = 0;           // of it, records that were kept when their segment was needed
    std::uint64_t evicted = 0;            // records
    std::uint64_t read_errors = 0;
    std::uint64_t write_errors = 0;
    std::uint64_t laps = 0;               // times that the log came round
};

}  // namespace garner::store
