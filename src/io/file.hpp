// A file on disk: positional reads and writes, with errors as values; tests can inject faults into each operation.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "util/bytes.hpp"

namespace garner::io {

/// Fault injection for tests. Asked before each operation, from any thread.
class Faults {
public:
    enum class Operation : std::uint8_t { open, read, write, sync, allocate };
    struct Verdict {
        int error = 0;                    // an errno; 0: none
        std::size_t at_most = SIZE_MAX;   // bytes read or written before it ends short, without an error
    };
    virtual ~Faults() = default;
    virtual Verdict judge(Operation, Bytes offset, std::size_t size) = 0;
};

/// The progress of an operation; complete when `error` is 0.
struct Done {
    std::size_t bytes = 0;
    int error = 0;   // an errno; EIO also for an unexpected end of file
};

/// Thread-safe except moves and close. Owns its descriptor.
class File {
public:
    enum class Mode : std::uint8_t {
        read,         // must exist
        write,        // read and write; must exist
        create,       // read and write; created with access for its owner only if missing
        create_here   // like create, but ELOOP if `path` is a symbolic link
    };
    struct Opened;
    /// `faults` outlives the file.
    static Opened open(std::string const& path, Mode mode, Faults* faults = nullptr);

    File() = default;
    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    ~File() { close(); }

    explicit operator bool() const { return descriptor_ >= 0; }
    void close();

    /// Fills `into`; may wait for the disk.
    Done read_at(Bytes offset, std::span<char> into) const;
    /// Reads only if that needs no waiting; otherwise returns EAGAIN, and the system has started the read. EOPNOTSUPP
    /// where the file system does not support this.
    Done read_now(Bytes offset, std::span<char> into) const;
    /// Requests read-ahead, so that read_at() need not wait; does not wait.
    void will_read(Bytes offset, Bytes size) const;
    /// Writes all bytes, with retries after short writes; may wait for the disk.
    Done write_at(Bytes offset, std::string_view bytes) const;
    /// Opens this file again. The system reports a failed writeback once per open file: to the sync() of this one and
    /// to that of the new one. Empty if it cannot be opened again.
    File again() const;
    /// Another descriptor of the same open file, which shares its lock: the lock ends when both are closed.
    File shared() const;
    /// Removes all access rights except the owner's. 0, EPERM if the file belongs to another user, or the system's
    /// error.
    int keep_for_owner() const;
    /// Enables direct writes in write_past_cache_at(). False where the system does not support them.
    bool allow_past_cache();
    /// Writes like write_at(), but whole pages go directly to the disk, bypassing the page cache: this avoids a copy,
    /// and cache memory for data that may never be read. Waits for the disk. Falls back to write_at() without whole
    /// pages, or if memory and file are not equally aligned.
    Done write_past_cache_at(Bytes offset, std::string_view bytes) const;
    /// Removes all behind the first `size` bytes, or adds zeros up to there. 0, or an errno.
    int resize(Bytes size) const;
    /// 0 when all written data has reached the disk; otherwise an errno.
    int sync() const;
    /// Starts writeback of this range; does not wait.
    void start_writing(Bytes offset, Bytes size) const;
    /// Allocates the first `size` bytes, so that no later write finds the disk full, if the file system supports
    /// that. 0, or an errno: ENOSPC without enough space.
    int allocate(Bytes size) const;
    /// The size of a file or block device; 0 when it is unknown.
    Bytes size() const;
    /// Locks the file against other processes until it is closed. 0; EWOULDBLOCK when another process has the lock.
    int lock() const;
    /// Also for all files that share the lock.
    void unlock() const;
    /// True while `path` still refers to this file.
    bool is_at(std::string const& path) const;

private:
    int open_again(int flags) const;
    Done write_judged(int descriptor, Bytes offset, std::string_view bytes) const;
    Done write_all(int descriptor, Bytes offset, std::string_view bytes) const;

    int descriptor_ = -1;
    int past_cache_ = -1;
    Faults* faults_ = nullptr;
};

struct File::Opened {
    File file;
    int error = 0;   // an errno; `file` is empty then
};

/// "No space left on device"
std::string text_of_error(int error);

}   // namespace garner::io
