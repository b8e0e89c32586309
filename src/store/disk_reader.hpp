// Reads records: from the buffers, from the page cache at once, or from the disk while the caller waits.
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

    /// Called for a record that is unreadable or damaged: it must leave the index, and no older record may replace
    /// it.
    using Bad = std::function<void(Fingerprint, Bytes offset)>;

    struct Limits {
        unsigned threads;        // for reads that wait for the disk
        milliseconds patience;   // deadline of a read; after it the read is not started any more
        Bytes memory;            // for all records being read or in use; a quarter is reserved for short ones
    };
    Reader(io::File const& file, Log const& log, Index& index, Limits limits, Bad bad)
        : file_(file), log_(log), index_(index), patience_(limits.patience), bad_(std::move(bad)),
          memory_(std::make_shared<Budget>(limits.memory, limits.memory / 4 * 3)), pool_(limits.threads, waiting_max) {}

    /// See Core::read; for an entry returned by the index. Waits for memory, too, within the deadline. Follows a
    /// record that is rewritten meanwhile.
    net::awaitable<ReadRecord> read(Fingerprint hash, Index::Entry entry, net::Executor executor);
    /// The blocking form; reads this location only.
    ReadRecord read_here(Fingerprint hash, Index::Entry const& entry);

    /// Replaces limits.patience for reads from now on.
    void wait_at_most(milliseconds patience) { patience_.store(patience, std::memory_order_relaxed); }

    /// The bytes of all records being read or in use, and their bound.
    Bytes memory() const { return memory_->used(); }
    Bytes memory_max() const { return memory_->capacity(); }

    void stop() { pool_.stop(); }
    Figures const& figures() const { return figures_; }
    /// Call periodically: see Complaints.
    void tell() { complaints_.tell(); }

private:
    static constexpr std::size_t waiting_max = 1024;
    /// One read. Its bytes live as long as their last user.
    struct Job : Lent {
        Job() = default;
        Job(Job const&) = delete;
        ~Job() override { take_over(); }
        Bytes capacity() const override { return size; }
        bool take_over() override;
        Log::Found found;   // in the buffers, if it is still there
        std::unique_ptr<char[]> bytes;
        Bytes size = 0;
        io::Done done;
        SteadyTime give_up;
        std::shared_ptr<Budget> memory;   // `charged` was reserved from it
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
    std::shared_ptr<Budget> const memory_;   // outlives the Reader while records are in use
    Figures figures_;
    Complaints complaints_;
    ReadPace pace_;
    io::Pool pool_;
};

}   // namespace garner::store::disk
