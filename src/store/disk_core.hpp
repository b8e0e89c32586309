// What the parts of the disk store do for each other: records in, records out.
#pragma once
#include <memory>

#include "net/asio.hpp"
#include "store/disk_format.hpp"
#include "store/disk_options.hpp"
#include "store/lent.hpp"

namespace garner::store::disk {

/// A verified record, as long as `owner` lives.
struct ReadRecord {
    std::shared_ptr<Lent> owner;
    Record record;
    bool at_once = false;   // without waiting for the disk
    bool gone = false;      // nothing is wrong: it is elsewhere by now, or has left
    explicit operator bool() const { return owner != nullptr; }
};

/// What an append is for: who may take the last room in the buffers.
enum class Purpose : std::uint8_t {
    newcomer,      // a response that was fetched
    head,          // of a body that is here, and would be lost without it: where newcomers find no room it does
    kept,          // a record whose segment is needed
    bookkeeping    // tombstones: they must find room
};

/// Thread-safe. Outlives all that use it.
class Core {
public:
    virtual ~Core() = default;
    /// Writes a record at the end of the log and puts it in the index, in place of what has its hash. Copies it; never
    /// waits. Of parts.head only kind, freshness, hash, sequence and first are looked at.
    virtual NotStored append(RecordParts& parts, Purpose purpose) = 0;
    /// The record that the index has under this hash, verified with its body; counts as a use. Empty when there is none, it
    /// is damaged (it is forgotten then), or the disk takes too long. The caller compares what else must fit: key, number
    /// of the body, place in it. Suspends only when the disk must be waited for.
    virtual net::awaitable<ReadRecord> read(Fingerprint hash, net::Executor executor) = 0;
    /// Whether the index has something under this hash.
    virtual bool has(Fingerprint hash) const = 0;
    /// Takes the record off the index, and sees to it that it does not come back.
    virtual void drop(Fingerprint hash) = 0;

    virtual std::uint64_t seed() const = 0;
    /// Of a body, in one record.
    virtual Bytes piece_bytes() const = 0;
    /// A number that no other body has, not even one of an earlier process.
    virtual std::uint64_t next_body() = 0;
    virtual DiskOptions const& limits() const = 0;
};

}  // namespace garner::store::disk
