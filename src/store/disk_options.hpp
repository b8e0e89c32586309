// Options and statistics of the disk tier.
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
    std::string path;                          // a directory, or a block device; empty: no disk tier
    Bytes size = 10 * GiB;                     // file size; a smaller device is used completely
    std::string policy = "fifo-reinsertion";   // or the spec of a replacement policy
    Bytes object_max = 4 * GiB;                // the largest body kept
    Bytes buffer = 64 * MiB;                   // memory for unwritten records; when it is full, nothing is stored
    milliseconds sync{200};                    // sync interval: the most that a power failure can lose
    milliseconds patience{500};                // how long a request waits for the disk before it goes to the origin
    unsigned readers = 8;                      // threads for reads that must wait for the disk
    // Admission: limits writes, for disks with limited write endurance.
    enum class Admit : std::uint8_t { all, second_hit } admit = Admit::all;
    Bytes object_min = 0;           // smaller bodies are not stored
    Bytes rate = 0;                 // write rate limit for new objects, in bytes per second; 0: unlimited
    io::Faults* faults = nullptr;   // for tests

    /// Applies the options that can change at run time; file, index, buffers and threads are fixed at the start.
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
        off,          // no disk tier configured
        recovering,   // usable, but not all records are known yet
        working,
        failing   // unusable because of errors; see `trouble`
    };
    State state = State::off;
    std::string path;
    std::string trouble;   // the last error, with a suggested fix
    Bytes size = 0;
    Bytes live = 0;              // bytes of reachable records
    std::uint64_t records = 0;   // objects and pieces
    Bytes metadata = 0;          // memory for index, policy and segments
    Bytes metadata_max = 0;      // with as many records of the smallest size as fit
    Bytes buffered = 0;          // bytes waiting to be written
    Bytes buffers = 0;           // memory for segments that are being written, and for records that are being read
    Bytes buffers_max = 0;
    std::uint32_t segments = 0;
    std::uint32_t segments_recovered = 0;
    std::uint32_t segments_retired = 0;   // after write errors
    std::uint64_t hits = 0;               // objects found and valid
    std::uint64_t hits_at_once = 0;       // hits whose heads were read without waiting for the disk
    std::uint64_t pieces = 0;             // pieces of large bodies read and valid
    std::uint64_t misses = 0;             // index false positives: another key, or removed meanwhile
    std::uint64_t damaged = 0;            // records with a wrong checksum; never served
    std::uint64_t too_late = 0;           // loads that exceeded `patience`
    std::uint64_t stored = 0;             // objects
    std::uint64_t not_stored[static_cast<std::size_t>(NotStored::count)] = {};
    Bytes stored_bytes = 0;       // heads and bodies of stored objects
    Bytes written_bytes = 0;      // all bytes written to the file
    Bytes reinserted_bytes = 0;   // part of it: records rewritten when their segment was reclaimed
    std::uint64_t evicted = 0;    // records
    std::uint64_t read_errors = 0;
    std::uint64_t write_errors = 0;
    std::uint64_t laps = 0;   // times that the log wrapped around
};

}   // namespace garner::store
