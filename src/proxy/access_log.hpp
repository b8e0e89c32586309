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
#include "util/result.hpp"

namespace garner::proxy {

/// Each worker has a bounded buffer. When it is full, lines are dropped and counted. Lines reach the file within about
/// 200 ms (two intervals), in the order each worker logged them.
class AccessLog {
public:
    struct Options {
        std::string path = "-";   // "-": standard output; "": no log
        LogFormat format = LogFormat::squid;
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

    /// Opens the file, creating it with mode 0640, and starts the thread.
    static Result<std::unique_ptr<AccessLog>> open(Options);

    /// Writes the buffered lines; waits at most about 1 s for an output that accepts nothing. No worker may log any more.
    ~AccessLog();

    AccessLog(AccessLog const&) = delete;
    AccessLog& operator=(AccessLog const&) = delete;

    /// Called by one thread at a time for each worker number. Never waits, never allocates.
    void write(unsigned worker, LogEntry const&);

    /// Reopens the path after the file was renamed. Returns the error's text, or an empty string; after an error the old
    /// file stays in use. The log thread switches to the new file with its next batch: lines logged 200 ms later are in the
    /// new file.
    std::string reopen();

    std::uint64_t dropped() const;
    Stats stats() const;

private:
    class Worker;
    class File;

    AccessLog(Options, std::unique_ptr<File>, int wake);
    void run();
    void take_new_file();
    void deliver(std::string_view first, std::string_view second);
    void account(std::string_view lines, std::size_t sent);
    std::size_t write_what_goes(std::string_view);
    bool wait_until_writable();
    void note_error(int error);
    void wake();

    Options const options_;
    DroppedLines dropped_lines_;
    std::vector<std::unique_ptr<Worker>> workers_;   // empty: no log
    int const wake_;                                 // an eventfd
    std::atomic<bool> hurry_{false};                 // a buffer is half full; the wake-up was sent
    std::atomic<bool> stop_{false};
    std::atomic<File*> new_file_{nullptr};   // owned; reopened, but not in use yet

    // Used by the log thread only.
    std::unique_ptr<File> file_;
    bool torn_ = false;         // the last line written is incomplete
    unsigned vain_waits_ = 0;   // while stopping

    Counter written_, lost_, write_errors_, bytes_;
    std::atomic<int> last_error_{0};
    std::thread thread_;
};

}   // namespace garner::proxy
