// Tombstones, and pending tombstones that the log has no room for yet.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <unordered_set>

#include "util/hash.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {

/// A tombstone that the log has no room for stays pending until it is written. Thread-safe.
class Tombstones {
public:
    /// Appends a tombstone to the log; false: no room.
    using Append = std::function<bool(Fingerprint)>;
    /// Whether the index has a record of this hash: a newer one, which itself supersedes older records.
    using Has = std::function<bool(Fingerprint)>;
    /// The end of the log, and the part of it that is in the file; in bytes of the total ever appended.
    using Position = std::function<std::uint64_t()>;
    /// Permanently invalidates all that the log contains until now; false: it failed.
    using VoidAll = std::function<bool()>;
    /// Limit of pending tombstones while nothing can be written; beyond it the whole log is invalidated instead.
    static constexpr std::size_t pending_max = 1 << 20;

    Tombstones(Append append, Has has, Position end, Position written, VoidAll void_all, std::size_t most = pending_max)
        : append_(std::move(append)), has_(std::move(has)), end_(std::move(end)), written_(std::move(written)),
          void_all_(std::move(void_all)), pending_max_(most) {}

    /// Created before an entry is removed from the index: a thread that no longer finds the entry still waits for the
    /// tombstone.
    class Removal {
    public:
        Removal(Tombstones& tombstones, Fingerprint hash) : tombstones_(tombstones), hash_(hash) {
            ++tombstones_.bucket_of(hash_).pending;
        }
        ~Removal() { --tombstones_.bucket_of(hash_).pending; }
        Removal(Removal const&) = delete;
        Removal& operator=(Removal const&) = delete;

        /// The record existed: writes the tombstone, or makes it pending.
        void write();
        /// The record existed, and the log must not be written to: makes the tombstone pending.
        void enqueue() { tombstones_.enqueue(hash_); }
        /// Like is_open(), but counts only the tombstones of other threads.
        bool is_open_to_others() const { return tombstones_.is_open(hash_, 1); }

    private:
        Tombstones& tombstones_;
        Fingerprint const hash_;
    };

    /// Writes pending tombstones. True when none is pending.
    bool flush();
    /// For a thread that must not block: writes a limited number, and none while another thread writes them.
    bool flush_some();
    /// If too many tombstones were pending: invalidates the log instead. Waits for the disk.
    void flush_by_voiding();
    /// True when every tombstone until now is in the log.
    bool is_clear() const;
    /// A tombstone of this hash may not be in the file yet, so that a kill would restore its record. Costs a few
    /// loads.
    bool is_open(Fingerprint hash) const { return is_open(hash, 0); }

private:
    /// For hashes with the same first bits, because the full hash is not always known: see Index::hash_bits_max.
    struct Bucket {
        std::atomic<std::uint32_t> pending{0};   // outside the log: about to be appended, or pending
        std::atomic<std::uint64_t> end{0};       // log position after the last tombstone
    };
    static constexpr unsigned bucket_bits = 12;
    Bucket& bucket_of(Fingerprint hash) { return buckets_[hash >> (64 - bucket_bits)]; }
    Bucket const& bucket_of(Fingerprint hash) const { return buckets_[hash >> (64 - bucket_bits)]; }
    bool is_open(Fingerprint hash, std::uint32_t own) const;
    bool flush(std::size_t most) REQUIRES(flushing_) EXCLUDES(mutex_);
    void enqueue(Fingerprint hash);
    void note_pending(Fingerprint hash) REQUIRES(mutex_);
    void note_appended(Fingerprint hash);

    Append const append_;
    Has const has_;
    Position const end_, written_;
    VoidAll const void_all_;
    std::size_t const pending_max_;
    std::array<Bucket, 1 << bucket_bits> buckets_;
    std::atomic<bool> all_{false};   // too many tombstones were pending
    Mutex flushing_;                 // held by the thread that writes pending tombstones
    mutable Mutex mutex_;
    std::unordered_set<Fingerprint> pending_ GUARDED_BY(mutex_);
    bool on_its_way_ GUARDED_BY(mutex_) = false;          // a pending tombstone is being written, and may become pending again
    std::uint64_t more_pending_ GUARDED_BY(mutex_) = 0;   // since too many were pending
};

}   // namespace garner::store::disk
