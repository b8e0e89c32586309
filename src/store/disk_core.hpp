// The interface between the parts of the disk store: append and read records.
#pragma once
#include <memory>

#include "net/asio.hpp"
#include "store/disk_format.hpp"
#include "store/disk_options.hpp"
#include "store/lent.hpp"

namespace garner::store::disk {

/// A verified record, valid as long as `owner` lives.
struct ReadRecord {
    std::shared_ptr<Lent> owner;
    Record record;
    bool at_once = false;   // read without waiting for the disk
    bool gone = false;      // no error: the record moved or was evicted
    explicit operator bool() const { return owner != nullptr; }
};

/// The purpose of an append decides whether it may use the last room in the buffers.
enum class Purpose : std::uint8_t {
    newcomer,     // a response that was fetched
    head,         // head of a body already on disk, which would be lost without it: may use room that newcomers may not
    kept,         // a record rewritten because its segment is reclaimed
    bookkeeping   // tombstones: they may use the last buffer
};

/// Thread-safe. Outlives all its users.
class Core {
public:
    virtual ~Core() = default;
    /// Appends a copy of the record to the log and puts it in the index, replacing the entry with its hash. Never
    /// waits. Reads only kind, freshness, hash, sequence and first of parts.head.
    virtual NotStored append(RecordParts& parts, Purpose purpose) = 0;
    /// The record that the index has for this hash, verified with its body; counts as a use. Empty when there is
    /// none, it is damaged (then it is dropped), or the disk takes too long. The caller compares the rest: key, body
    /// number, offset. Suspends only if it must wait for the disk.
    virtual net::awaitable<ReadRecord> read(Fingerprint hash, net::Executor executor) = 0;
    /// Whether the index has an entry for this hash.
    virtual bool has(Fingerprint hash) const = 0;
    /// Removes the record from the index and makes sure that a restart does not restore it.
    virtual void drop(Fingerprint hash) = 0;

    virtual std::uint64_t seed() const = 0;
    /// Bytes of a body in one piece record.
    virtual Bytes piece_bytes() const = 0;
    /// A body number never used before, also not by an earlier process.
    virtual std::uint64_t next_body() = 0;
    virtual DiskOptions const& limits() const = 0;
    /// Keeps it from being destroyed as long as the result lives; nullptr: its users end before it.
    virtual std::shared_ptr<void const> kept() const { return nullptr; }
};

}   // namespace garner::store::disk
