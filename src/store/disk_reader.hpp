// Reading records: from the buffers, from the page cache at once, or from the disk while the caller waits.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <span>

#include "io/file.hpp"
#include "io/pool.hpp"
#include "net/asio.hpp"
#include "store/budget.hpp"
#include "store/disk_complaints.hpp"
#include "store/disk_core.hpp"
#include "store/disk_index.hpp"
#include "store/disk_log.hpp"
#include "store/disk_pace.hpp"
#include "store/lent.hpp"

namespace garner::store::disk {

/// Thread-safe.
class Reader {
public:
    struct Figures {
        std::atomic<std::uint64_t> misses{0};
        std::atomic<std::uint64_t> damaged{0};
        std::atomic<std::uint64_t> too_late{0};
        std::atomic<std::uint64_t> errors{0};
    };

    /// Told of a record that cannot be read or is damaged: it must leave the index, and nothing older take its place.
    using Bad = std::function<void(Fingerprint, Bytes offset)>;

    struct Limits {
        unsigned threads;         // for reads that take long
        milliseconds patience;    // of a read, until it is given up; it is not begun after that
        Bytes memory;             // of all records that wait to be read or that somebody has; a quarter of it for short ones
    };
    Reader(io::File const& file, Log const& log, Index& index, Limits limits, Bad bad)
        : file_(file), log_(log), index_(index), patience_(limits.patience), bad_(std::move(bad)),
          memory_(std::make_shared<Budget>(limits.memory, limits.memory / 4 * 3)), pool_(limits.threads, waiting_max) {}

    /// See Core::read; of an entry that the index gave. Waits for memory, too, as long as for the disk. What is written
    /// again elsewhere meanwhile is read there.
    net::awaitable<ReadRecord> read(Fingerprint hash, Index::Entry entry, net::Executor executor);
    /// The same on a thread that may wait; of this place alone.
    ReadRecord read_here(Fingerprint hash, Index::Entry const& entry);

    /// In place of limits.patience, for reads from now on.
    void wait_at_most(milliseconds patience) { patience_.store(patience, std::memory_order_relaxed); }

    void stop() { pool_.stop(); }
    Figures const& figures() const { return figures_; }
    /// To be called now and then: see Complaints.
    void tell() { complaints_.tell(); }

private:
    static constexpr std::size_t waiting_max = 1024;
    /// One read. Its bytes are kept by whoever is last to use them.
    struct Job : Lent {
        Job() = default;
        Job(Job const&) = delete;
        ~Job() override { take_over(); }
        Bytes capacity() const override { return size; }
        bool take_over() override;
        Log::Found found;                 // in the buffers, where it is there still
        std::unique_ptr<char[]> bytes;
        Bytes size = 0;
        io::Done done;
        SteadyTime give_up;
        std::shared_ptr<Budget> memory;   // from which `charged` was taken
        Bytes charged = 0;
        bool is_long = false;
        std::atomic<bool> is_taken_over = false;
    };
    std::shared_ptr<Job> job_of(Index::Entry const& entry, SteadyTime give_up) const;
    bool take_memory(Job& job) const;
    net::awaitable<bool> wait_for_memory(std::shared_ptr<Job> job, net::Executor executor);
    static bool from_buffer(Job& job);
    ReadRecord judge(Fingerprint hash, std::shared_ptr<Job> job);
    net::awaitable<bool> look_again(Job& job, net::Executor executor);
    net::awaitable<bool> wait_for_disk(std::shared_ptr<Job> job, net::Executor executor);

    io::File const& file_;
    Log const& log_;
    Index& index_;
    std::atomic<milliseconds> patience_;
    Bad const bad_;
    std::shared_ptr<Budget> const memory_;   // outlives this where somebody still has a record
    Figures figures_;
    Complaints complaints_;
    ReadPace pace_;
    io::Pool pool_;
};

}  // namespace garner::store::disk
