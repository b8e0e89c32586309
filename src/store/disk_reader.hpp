// Reading records: from the buffers, from the page cache at once, or from the disk while the caller waits.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <span>

#include "io/file.hpp"
#include "io/pool.hpp"
#include "net/asio.hpp"
#include "store/disk_core.hpp"
#include "store/disk_index.hpp"
#include "store/disk_log.hpp"

namespace garner::store::disk {

/// Thread-safe.
class Reader {
public:
    struct Figures {
        std::atomic<std::uint64_t> hits{0};
        std::atomic<std::uint64_t> hits_at_once{0};
        std::atomic<std::uint64_t> misses{0};
        std::atomic<std::uint64_t> damaged{0};
        std::atomic<std::uint64_t> too_late{0};
        std::atomic<std::uint64_t> errors{0};
    };

    /// Told of a record that cannot be read or is damaged: it must leave the index, and nothing older take its place.
    using Bad = std::function<void(Fingerprint, Bytes offset)>;

    Reader(io::File const& file, Log const& log, Index& index, unsigned threads, milliseconds patience, Bad bad)
        : file_(file), log_(log), index_(index), patience_(patience), bad_(std::move(bad)), pool_(threads, waiting_max) {}

    /// See Core::read; of an entry that the index gave.
    net::awaitable<ReadRecord> read(Fingerprint hash, Index::Entry entry, net::Executor executor);
    /// The same on a thread that may wait.
    ReadRecord read_here(Fingerprint hash, Index::Entry const& entry);

    /// On one of its threads. False, and nothing done, when too many wait already.
    bool run(std::function<void()> job) { return pool_.run(std::move(job)); }

    void stop() { pool_.stop(); }
    Figures const& figures() const { return figures_; }

private:
    static constexpr std::size_t waiting_max = 1024;
    /// What one read needs, kept by whoever is last to use it.
    struct Job {
        std::unique_ptr<char[]> bytes;
        Bytes size = 0;
        Place place;
        io::Done done;
    };
    std::shared_ptr<Job> job_of(Index::Entry const& entry) const;
    bool from_buffer(Job& job) const;
    ReadRecord judge(Fingerprint hash, std::shared_ptr<Job> job);
    net::awaitable<bool> wait_for_disk(std::shared_ptr<Job> job, net::Executor executor);

    io::File const& file_;
    Log const& log_;
    Index& index_;
    milliseconds const patience_;
    Bad const bad_;
    Figures figures_;
    io::Pool pool_;
};

}  // namespace garner::store::disk
