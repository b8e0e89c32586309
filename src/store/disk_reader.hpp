// Reading records: from the buffers, from the page cache at once, or from the disk while the caller waits.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <span>

#include "io/file.hpp"
#include "io/pool.hpp"
#include "net/asio.hpp"
#include "store/disk_complaints.hpp"
#include "store/disk_core.hpp"
#include "store/disk_index.hpp"
#include "store/disk_log.hpp"

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

    Reader(io::File const& file, Log const& log, Index& index, unsigned threads, milliseconds patience, Bad bad)
        : file_(file), log_(log), index_(index), patience_(patience), bad_(std::move(bad)), pool_(threads, waiting_max) {}

    /// See Core::read; of an entry that the index gave.
    net::awaitable<ReadRecord> read(Fingerprint hash, Index::Entry entry, net::Executor executor);
    /// The same on a thread that may wait.
    ReadRecord read_here(Fingerprint hash, Index::Entry const& entry);

    void stop() { pool_.stop(); }
    Figures const& figures() const { return figures_; }
    /// To be called now and then: see Complaints.
    void tell() { complaints_.tell(); }

private:
    static constexpr std::size_t waiting_max = 1024;
    /// One read. Its bytes are kept by whoever is last to use them.
    struct Job {
        std::shared_ptr<char[]> bytes;
        Bytes size = 0;
        Place place;
        io::Done done;
    };
    Job job_of(Index::Entry const& entry) const;
    ReadRecord judge(Fingerprint hash, Job const& job);
    net::awaitable<bool> wait_for_disk(Job& job, net::Executor executor);

    io::File const& file_;
    Log const& log_;
    Index& index_;
    milliseconds const patience_;
    Bad const bad_;
    Figures figures_;
    Complaints complaints_;
    io::Pool pool_;
};

}  // namespace garner::store::disk
