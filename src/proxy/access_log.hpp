// The access log: workers queue lines without waiting, and one thread writes them.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "proxy/dropped_lines.hpp"
#include "proxy/access_log_format.hpp"
#include "util/counter.hpp"
#include "util/mutex.hpp"
#include "util/result.hpp"

namespace garner::proxy {

/// Each worker has a bounded buffer. When it is full, lines are dropped and counted. Lines reach the file within about
/// 200 ms (two intervals), in the order each worker logged them.
class AccessLog {
public:
    /// An output with its format. Another one may follow while the log is in use.
    struct LogTarget {
        std::string path = "-";   // "-": standard output; "": no log
        LogFormat format = LogFormat::squid;
        friend bool operator==(LogTarget const&, LogTarget const&) = default;
    };
    struct Options {
        LogTarget place = {};
        unsigned workers = 1;
        Bytes buffer = 1 * MiB;       // per worker; rounded up to a power of two, at least 32 KiB
        milliseconds interval{100};   // between two batches; a half full buffer starts the next batch early
    };

    struct Stats {
        std::uint64_t written = 0;   // lines
        std::uint64_t dropped = 0;   // lines, because the worker's buffer was full
        std::uint64_t lost = 0;      // lines, because they could not be written
        std::uint64_t write_errors = 0;
        Bytes bytes = 0;                                 // written
        std::string last_error;                          // empty: none yet
        std::vector<DroppedLines::Count> dropped_most;   // the ten clients and statuses with most dropped lines
        Bytes buffers = 0;                               // memory of the workers' buffers that lines have used
        Bytes buffers_max = 0;
    };

    /// Opens the file, creating it with mode 0640, and starts the thread if there is one.
    static Result<std::unique_ptr<AccessLog>> open(Options);

    /// Writes the buffered lines; waits at most about 1 s for an output that accepts nothing. No worker may log any more.
    ~AccessLog();

    AccessLog(AccessLog const&) = delete;
    AccessLog& operator=(AccessLog const&) = delete;

    /// False: write() drops the worker's lines, because there is no log.
    bool writes(unsigned worker) const;
    /// Called by one thread at a time for each worker number. Never waits, never allocates.
    void write(unsigned worker, LogEntry const&);

    class Output;
    using OutputPtr = std::shared_ptr<Output>;
    /// Opens another place, or returns the current output if it is this place. The fault names the key and the file. One
    /// thread calls it and move_to().
    Result<OutputPtr> prepare(LogTarget const&);
    /// For a prepared output. reopen() refers to it from now on. Each worker must turn to it.
    /// False if the log writes there already.
    bool move_to(OutputPtr);
    /// Called by the thread that writes for this worker: its later lines go to the output, in its format; earlier ones go to
    /// the former output, which is closed after that. It gets a second for lines that it does not accept.
    void turn(unsigned worker, OutputPtr);

    /// Reopens the path after the file was renamed. After an error the old file stays in use. The log thread switches to the new
    /// file with its next batch: lines logged 200 ms later are in the new file.
    Result<void> reopen();

    std::uint64_t dropped() const;
    Stats stats() const;

private:
    class Worker;
    class File;

    AccessLog(Options const&, OutputPtr, int wake);
    OutputPtr output() const;
    void start_thread();
    void run();
    void deliver(Output&, std::string_view first, std::string_view second);
    void account(std::string_view lines, std::size_t sent);
    std::size_t write_what_goes(Output&, std::string_view);
    bool wait_until_writable(Output&);
    void note_error(int error);
    void wake();

    milliseconds const interval_;
    DroppedLines dropped_lines_;
    std::vector<std::unique_ptr<Worker>> workers_;
    int const wake_;                   // an eventfd
    std::atomic<bool> hurry_{false};   // a buffer is half full; the wake-up was sent
    std::atomic<bool> stop_{false};
    mutable Mutex output_mutex_;
    OutputPtr output_ GUARDED_BY(output_mutex_);
    unsigned vain_waits_ = 0;   // while stopping; used by the log thread only

    Counter written_, lost_, write_errors_, bytes_;
    std::atomic<int> last_error_{0};
    std::thread thread_;
};

}   // namespace garner::proxy
