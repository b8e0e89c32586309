// Lines of text beside a disk store, for the next start.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "io/file.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {

/// Thread-safe. Belongs to the process that has the lock of the store.
class NoteFile {
public:
    /// A file of this size gets no more lines.
    static constexpr Bytes size_max = 64 * MiB;

    /// Reads the lines of earlier processes, and drops those that repeat another one except for its number and time: the first two
    /// words. `keeps`: otherwise all are dropped. After an error no line can be added, and one line that
    /// means nothing stands for those that could not be read.
    void open(std::string const& path, bool keeps, io::Faults* faults);
    /// The file at `path` is full.
    static bool is_full(std::string const& path);

    enum class Added { done, closed, failed };
    Added add(std::string_view line);
    /// False if the disk does not confirm what was added.
    bool sync();
    void close();
    std::vector<std::string> lines() const;

private:
    void rewrite(std::string const& path, io::Faults* faults) REQUIRES(mutex_);

    mutable Mutex mutex_;
    io::File file_ GUARDED_BY(mutex_);
    Bytes size_ GUARDED_BY(mutex_) = 0;
    bool closed_ GUARDED_BY(mutex_) = false;
    bool unsynced_ GUARDED_BY(mutex_) = false;
    std::vector<std::string> lines_ GUARDED_BY(mutex_);
};

}   // namespace garner::store::disk
