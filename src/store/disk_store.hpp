// The disk tier: a log of segments in one file, an index in memory, and their maintenance.
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
#include "util/bytes.hpp"
#include "util/result.hpp"

namespace garner::store {

/// Bits of an object or body number that count within a second. The upper bits are seconds since 1970 (until the year
/// 2514), so that a process started a second later never reuses a number.
inline constexpr unsigned numbers_of_a_second = 30;

/// The failure that all removals and writes so far must survive: a process crash, or also a power failure.
enum class Survives : std::uint8_t { process, power };

/// A large body being written to the disk, and the source for its readers. One producer; if destroyed before
/// commit(), its pieces are unreachable.
class DiskFill {
public:
    enum class Of : bool {
        whole,   // a body that turns out small is stored with its head
        part     // a part of a longer body: commit() gets the object it became a part of, with a body that includes its source
    };
    virtual ~DiskFill() = default;
    /// Takes the bytes that the body has grown by, in whole pieces, and the rest once it is complete; all must be in
    /// memory. False: the store gave up, and so may the caller; taken bytes can still be loaded. True without
    /// progress: the buffers are full for the moment. Costs a copy and a checksum of the taken bytes; never waits.
    virtual bool take(Body const& growing) = 0;
    /// Stores the object that lookups find from now on. `parts.body` is complete: the body that was taken, or one
    /// that has only its source. Bytes not yet taken are taken now. False: the object is not stored, and the object
    /// under its key is removed.
    virtual bool commit(Object::Parts const& parts) = 0;
    /// The source of the taken bytes.
    virtual std::shared_ptr<BodySource> source() const = 0;
    /// The number of body bytes taken, which need not stay in memory.
    virtual Bytes taken() const = 0;
};

/// Thread-safe. No function waits for the disk unless it says so; coroutines resume on the caller's executor. Sources of bodies
/// and DiskFills keep a store whose owner has called keep_by() from being destroyed; otherwise it must outlive them.
class DiskStore {
public:
    /// Opens the store at options.path, or creates one. A fault if another process has it open. On any other error it returns a
    /// failing store, which gives the reason in stats() and retries every few seconds.
    static Result<std::unique_ptr<DiskStore>> open(DiskOptions const& options);
    /// Opens an existing store in its own size and creates nothing. Every error is a fault.
    static Result<std::unique_ptr<DiskStore>> open_existing(DiskOptions const& options);
    /// How a running process opens a store.
    struct Reopening {
        DiskStore* former = nullptr;        // a closed store of this process, which may have the same file: hands its lock over
        bool keeps_contents = false;        // the process missed no removal since they were stored; otherwise they are discarded
        bool retries = false;               // an error gives a failing store, as with open(), and no fault
        std::uint64_t least_sequence = 0;   // first_sequence() is higher
    };
    static Result<std::unique_ptr<DiskStore>> open_while_running(DiskOptions const& options, Reopening const& how);
    /// Like close(). Releases the file.
    virtual ~DiskStore() = default;

    // ---- another store takes its place: called by the thread of the reload ----

    /// Whether its file is the one of this disk.path.
    virtual bool is_at(std::string const&) const { return false; }
    /// A fault if open_while_running() with this size would certainly find no room. Names disk.size.
    virtual Result<void> has_room_for(Bytes) const { return {}; }
    /// Objects that are read from now on keep the store alive. Its threads run already.
    virtual void keep_by(std::weak_ptr<void const>) {}
    /// The process goes on without this store: stores nothing more, and makes the next start find it empty. Waits for the disk.
    virtual void leave() {}
    /// Writes all that waits, closes the segment, syncs, and stops writing. Loads still work. True when every removal is in the
    /// file. Waits for the disk.
    virtual bool close() { return true; }
    /// After close(): another process may open the file.
    virtual void unlock() {}
    /// After unlock(): false while another process has the file.
    virtual bool lock_again() { return true; }

    // ---- in use ----

    /// Whether the index has an entry for this key; false positives are about one in a thousand.
    virtual bool may_have(std::string_view key) const = 0;
    /// True only if the index alone guarantees that the object under this key is fresh until then.
    virtual bool is_fresh_until(std::string_view key, WallTime until) const = 0;

    /// Counts a use of an object that memory served; reads nothing. True when it is not on disk, and options.admit
    /// would admit it now. Costs a probe of the index.
    virtual bool used(std::string_view key) = 0;

    /// The object with exactly this key, verified and uncharged. A body longer than Object::inline_body_max has only
    /// a source. nullptr when it is not stored, is damaged, or the disk takes longer than options.patience. Counts as
    /// a use.
    virtual net::awaitable<ObjectPtr> load(std::string_view key, net::Executor executor) = 0;
    /// A load for operator queries: waits for the disk on this thread, which must not be a worker, and does not count
    /// as a use.
    virtual ObjectPtr peek(std::string_view key) = 0;

    /// Stores a copy of a whole object, or returns the reason why not. Does not wait. The object it replaces is
    /// removed at once, even if the new one is not stored. A body with gaps keeps them; for a body already on this
    /// disk only the head is written.
    virtual NotStored store(Object::Parts const& parts) = 0;
    /// Begins to store a body too long to wait for, of an object with this key; nullptr with the reason in `why`.
    virtual std::unique_ptr<DiskFill> begin(std::string_view key, std::optional<Bytes> length, DiskFill::Of of, NotStored& why) = 0;
    /// Counts an object that was not offered.
    virtual void not_offered(NotStored why) = 0;
    /// Makes all records of this key unreachable, now and after any restart. True when one may have existed,
    /// including unknown ones while recovery is incomplete.
    virtual bool forget(std::string_view key) = 0;
    /// Waits until all removals and writes before this call survive a process crash (`power`: a power failure, too);
    /// false when that takes more than 5 s.
    virtual net::awaitable<bool> settled(Survives what, net::Executor executor) = 0;
    /// The blocking form of settled().
    virtual bool wait_until_settled(Survives what) = 0;

    // ---- lines of text that the next start finds ----

    /// Keeps a line without its end. A process crash does not lose it, and after wait_until_settled() a power failure does not. If
    /// it cannot be kept, the next start finds no objects. Waits for no more than the page cache. False: the store is closed, and
    /// another one has its place.
    virtual bool note(std::string_view) { return true; }
    /// The lines that earlier processes have kept.
    virtual std::vector<std::string> notes() const { return {}; }

    /// Offers an object evicted from memory that may not be on disk; ignored unless options.admit admits all.
    virtual void demote(Object const& object) = 0;

    /// Call after the last request, before the executors are destroyed: wakes no waiter afterwards, and loads fail.
    virtual void stop() = 0;

    virtual DiskStats stats() const = 0;
    /// The options in force; a reference once returned stays unchanged, also after a reconfigure().
    virtual DiskOptions const& options() const = 0;
    /// Applies the options that can change at run time: see DiskOptions::take_over().
    virtual void reconfigure(DiskOptions const& fresh) = 0;
    /// Higher than any sequence in any record; the first sequence of this process.
    virtual std::uint64_t first_sequence() const = 0;

    /// Reads the objects of one segment without their bodies, to list the stored URLs. Runs on a thread that may
    /// block; false after the last segment. An object stored again meanwhile may be returned twice or not at all.
    virtual net::awaitable<bool> heads(std::uint32_t segment, std::vector<ObjectPtr>& into, net::Executor executor) = 0;

    /// One object in the index, for listings.
    struct Listed {
        std::string key;
        std::uint16_t status = 0;
        Bytes length = 0;   // of the body
        Bytes bytes = 0;    // on disk, including pieces
        WallTime stored{};
        std::int64_t fresh_for = 0;   // seconds from now; negative: stale for that long
        bool whole = true;
    };
    /// Reads and verifies the objects of one segment, and appends them. Waits for the disk: never call it on a worker. False
    /// after the last segment.
    virtual bool list(std::uint32_t segment, std::vector<Listed>& into) = 0;
    /// Appends the objects that wait to be written.
    virtual void list_waiting(std::vector<Listed>& into) const = 0;
    /// The first segment from this generation on, in the order in which segments were opened; nothing after the
    /// newest. Records written or rewritten during such a walk are appended after its position.
    struct Stretch {
        std::uint32_t segment = 0;
        std::uint64_t generation = 0;
    };
    virtual std::optional<Stretch> segment_from(std::uint64_t generation) const = 0;
    /// Reads and verifies every live record of one segment; drops damaged ones. Waits for the disk.
    struct Verified {
        std::uint64_t records = 0;
        std::uint64_t damaged = 0;
        Bytes bytes = 0;
    };
    virtual bool verify(std::uint32_t segment, Verified& sum) = 0;
};

}   // namespace garner::store
