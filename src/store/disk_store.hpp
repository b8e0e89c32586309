// The disk tier: a log of segments in one file, an index in memory, and what keeps both in order.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/asio.hpp"
#include "store/body_source.hpp"
#include "store/disk_options.hpp"
#include "store/object.hpp"

namespace garner::store {

/// Of objects and bodies, in bits, so that who starts a second later has none that an earlier one gave: of 64 the others
/// have seconds since 1970 until the year 2514.
inline constexpr unsigned numbers_of_a_second = 30;

/// All that was forgotten and stored outlives the process, or a power failure, too.
enum class Survives : std::uint8_t { process, power };

/// A large body on its way to the disk, and its readers' way back. One producer; dropped before commit() it leaves
/// nothing that can be found.
class DiskFill {
public:
    enum class Of : bool {
        whole,   // a body that is small in the end lies with its head
        part     // of a longer body: commit() is given the object that it became a part of, over a body that has its source
    };
    virtual ~DiskFill() = default;
    /// Takes what the body has grown by, whole pieces at a time, and the rest once it is complete; all must be in memory.
    /// False: the store gave up on it, and so may the caller; what was taken can still be loaded. True and yet not taken:
    /// its buffers are full, and have room again soon. Costs a copy and a checksum of what is taken; never waits.
    virtual bool take(Body const& growing) = 0;
    /// The object as it is found from now on. `parts.body` is complete, be it the one that was taken or one that has only
    /// its source; what take() has left of it is taken now. False: it is not kept, nor is what was there under its key.
    virtual bool commit(Object::Parts const& parts) = 0;
    /// Of what was taken.
    virtual std::shared_ptr<BodySource> source() const = 0;
    /// In bytes of the body: up to here it was taken, and need not stay in memory.
    virtual Bytes taken() const = 0;
};

/// Thread-safe. Nothing here waits for the disk but what says so; what must wait is resumed on the caller's executor.
class DiskStore {
public:
    /// Opens the store at options.path, or makes one. nullptr with `fault` when another process has it. With any other
    /// fault there is a store all the same: it fails, says why in stats(), and looks every few seconds whether it works.
    static std::unique_ptr<DiskStore> open(DiskOptions const& options, std::string& fault);
    /// The same of a store that is there, in the size that it has; nullptr with any fault. Makes nothing.
    static std::unique_ptr<DiskStore> open_existing(DiskOptions const& options, std::string& fault);
    /// Writes what is waiting, closes the segment, and lets go of the file.
    virtual ~DiskStore() = default;

    /// Whether a record of this key may be there, by the index alone: yes may be wrong once in a thousand times.
    virtual bool may_have(std::string_view key) const = 0;
    /// A promise from the index alone that the object under this key is fresh until then, or false.
    virtual bool is_fresh_until(std::string_view key, WallTime until) const = 0;

    /// Memory has answered for it: a use, too, though nothing is read. True when it is not here, and options.admit would
    /// have it now. Costs a probe of the index.
    virtual bool used(std::string_view key) = 0;

    /// The object with exactly this key, verified; uncharged. A body longer than Object::inline_body_max has only a source.
    /// nullptr when it is not there, is damaged, or the disk takes longer than options.patience. Counts as a use.
    virtual net::awaitable<ObjectPtr> load(std::string_view key, net::Executor executor) = 0;
    /// The same for an operator's question: waits for the disk on this thread, not a worker's, and counts as no use.
    virtual ObjectPtr peek(std::string_view key) = 0;

    /// Writes a whole object, or gives the reason why not. Copies it, and does not wait. One that it replaces is gone from
    /// now on, even where the new one could not be stored. A body with gaps keeps them; of one whose bytes lie here already
    /// only the head is written.
    virtual NotStored store(Object::Parts const& parts) = 0;
    /// For a body that is too long to wait until it is whole, of an object that will have this key; nullptr with the reason
    /// in `why`.
    virtual std::unique_ptr<DiskFill> begin(std::string_view key, std::optional<Bytes> length, DiskFill::Of of,
                                            NotStored& why) = 0;
    /// Counts what was not even offered.
    virtual void not_offered(NotStored why) = 0;
    /// Nothing that was stored under this key until now can be found any more, now and after any restart. True when
    /// something may have been there: also of what is not known, as long as not all that is there was found.
    virtual bool forget(std::string_view key) = 0;
    /// Until all that was forgotten and stored before this call outlives the process (`power`: a power failure, too);
    /// false when that takes more than 5 s.
    virtual net::awaitable<bool> settled(Survives what, net::Executor executor) = 0;
    /// The same for a thread that may wait.
    virtual bool wait_until_settled(Survives what) = 0;

    /// What memory will not keep and the disk may not have yet, where options.admit lets in all.
    virtual void demote(Object const& object) = 0;

    /// After the last request, before the executors go: nobody is woken any more, and nothing can be loaded.
    virtual void stop() = 0;

    virtual DiskStats stats() const = 0;
    /// Those in force; what this gave once stays as it was, also after a reconfigure().
    virtual DiskOptions const& options() const = 0;
    /// Takes over what can change while it runs: see DiskOptions::take_over().
    virtual void reconfigure(DiskOptions const& fresh) = 0;
    /// Higher than any sequence in any record, for the sequences of this process.
    virtual std::uint64_t first_sequence() const = 0;

    /// The objects of one segment, without their bodies, for those who must know which URLs there are. Read by a thread
    /// that may wait; false behind the last segment. One that is stored again meanwhile may be met twice, or not at all.
    virtual net::awaitable<bool> heads(std::uint32_t segment, std::vector<ObjectPtr>& into, net::Executor executor) = 0;

    /// One object that the index knows, for people who look.
    struct Listed {
        std::string key;
        std::uint16_t status = 0;
        Bytes length = 0;             // of the body
        Bytes bytes = 0;              // on disk, with pieces
        WallTime stored{};
        std::int64_t fresh_for = 0;   // seconds from now; below 0: stale for so long
        bool whole = true;
    };
    /// Reads the objects of one segment, verified, and appends them. Waits for the disk: not on a worker. False behind the
    /// last segment.
    virtual bool list(std::uint32_t segment, std::vector<Listed>& into) = 0;
    /// Appends what is in no segment yet, and will be.
    virtual void list_waiting(std::vector<Listed>& into) const = 0;
    /// Of the segments in the order in which they were begun, the first from this generation on; nothing behind the newest.
    /// Whatever is written, or written again, while somebody goes through them comes to lie further on.
    struct Stretch {
        std::uint32_t segment = 0;
        std::uint64_t generation = 0;
    };
    virtual std::optional<Stretch> segment_from(std::uint64_t generation) const = 0;
    /// Reads and checks every live record of one segment; damaged ones are forgotten. Waits for the disk.
    struct Verified {
        std::uint64_t records = 0;
        std::uint64_t damaged = 0;
        Bytes bytes = 0;
    };
    virtual bool verify(std::uint32_t segment, Verified& sum) = 0;
};

}  // namespace garner::store
