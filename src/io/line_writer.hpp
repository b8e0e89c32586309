// Writes lines to a descriptor on a thread of its own, so that no other thread waits for a terminal, a pipe or a disk.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/mutex.hpp"

namespace garner::io {

/// Thread-safe. Lines are lost while the buffer is full or the descriptor returns errors. The next successful write is followed
/// by a line that tells how many.
class LineWriter {
public:
    /// Borrows the descriptor, and does not change its flags. `buffer`: the most bytes that wait for the thread, which may hold
    /// as many in addition.
    LineWriter(int descriptor, Bytes buffer);
    /// Writes what the descriptor accepts at once. Returns only after a write() in progress.
    ~LineWriter();
    LineWriter(LineWriter const&) = delete;

    /// Queues `lines`, which end with a line end. Never waits for the descriptor.
    void write(std::string_view lines);
    /// Waits at most `limit` until all queued lines are written or lost.
    void flush(milliseconds limit);
    /// The memory of queued lines, and of those that the thread holds: at most bytes_max().
    Bytes bytes();
    Bytes bytes_max() const { return 4 * buffer_; }   // a string may have twice the capacity that it needs
    std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

private:
    void run();
    bool take(std::string& batch);
    void deliver(std::string_view batch);
    std::size_t send(std::string_view text);
    bool wait_until_writable();

    int const descriptor_;
    std::size_t const piece_;   // the most bytes that write() accepts at once after poll() reports writable
    Bytes const buffer_;
    std::atomic<std::uint64_t> lost_{0};   // lines
    std::atomic<bool> stopping_{false};

    Mutex mutex_;
    ConditionVariable arrived_;
    ConditionVariable written_;
    std::string waiting_ GUARDED_BY(mutex_);
    bool busy_ GUARDED_BY(mutex_) = false;       // the thread holds lines
    Bytes batch_bytes_ GUARDED_BY(mutex_) = 0;   // the capacity of the thread's string

    // Used by the thread only.
    std::uint64_t told_ = 0;   // lost lines that a line has told
    bool torn_ = false;        // the last line written is incomplete
    int error_ = 0;            // the last error of a write

    std::thread thread_;
};

}   // namespace garner::io
