// A file on disk: read and written at places, with errors as values; tests may let each operation fail.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "util/bytes.hpp"

namespace garner::io {

/// What a test lets go wrong. Asked before each operation, from any thread.
class Faults {
public:
    enum class Operation : std::uint8_t { open, read, write, sync, allocate };
    struct Verdict {
        int error = 0;                     // an errno; 0: none
        std::size_t at_most = SIZE_MAX;    // bytes that are read or written before it ends short, without an error
    };
    virtual ~Faults() = default;
    virtual Verdict judge(Operation, Bytes offset, std::size_t size) = 0;
};

/// How far an operation came. Whole when `error` is 0.
struct Done {
    std::size_t bytes = 0;
    int error = 0;   // an errno; EIO, too, where the file ended before
};

/// Thread-safe but for moves and close. Owns its descriptor.
class File {
public:
    enum class Mode : std::uint8_t {
        read,       // must be there
        write,      // read and written; must be there
        create,     // read and written; made for its owner alone if it is not there
        create_here // like create, but ELOOP if `path` is a symbolic link
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
    /// The same, only if that needs no waiting: EAGAIN else, and the system has begun to read it. EOPNOTSUPP where the file
    /// system cannot tell.
    Done read_now(Bytes offset, std::span<char> into) const;
    /// Asks that it be read soon, so that read_at() need not wait; does not wait.
    void will_read(Bytes offset, Bytes size) const;
    /// Writes all of it, again where the system took less; may wait for the disk.
    Done write_at(Bytes offset, std::string_view bytes) const;
    /// The same file once more. The system tells of a write that failed later once to each: to the sync() of this one and of
    /// that. Empty where it cannot be opened again.
    File again() const;
    /// Takes the rights of all but the owner away. 0, EPERM where the file belongs to another user, or the system's error.
    int keep_for_owner() const;
    /// From now on write_past_cache_at() does so. False where the system cannot.
    bool allow_past_cache();
    /// As write_at(), but the whole pages among the bytes go to the disk at once, past the page cache: no copy, and no memory
    /// for what nobody may ask for again. Waits for the disk. Only where a page of memory is one of the file.
    Done write_past_cache_at(Bytes offset, std::string_view bytes) const;
    /// 0 when all that was written has reached the disk; else an errno.
    int sync() const;
    /// Asks that what was written there goes to the disk soon; does not wait.
    void start_writing(Bytes offset, Bytes size) const;
    /// Room for the first `size` bytes, so that no later write finds the disk full, where the file system can promise
    /// that. 0, or an errno: ENOSPC when there is not as much.
    int allocate(Bytes size) const;
    /// Of a file or a block device; nothing when it cannot be told.
    Bytes size() const;
    /// Keeps other processes from locking it, until it is closed. 0; EWOULDBLOCK when another one has it.
    int lock() const;
    /// True while `path` still leads to this file.
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

}  // namespace garner::io
