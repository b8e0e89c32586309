// What must not come back: tombstones, and those that found no room in the log yet.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <unordered_set>

#include "util/hash.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {

/// A tombstone that the log has no room for is owed until it has. Thread-safe.
class Graves {
public:
    /// Writes a tombstone at the end of the log; false: no room.
    using Append = std::function<bool(Fingerprint)>;
    /// Whether the index has something under a hash: that came since, and says itself that nothing older counts.
    using Has = std::function<bool(Fingerprint)>;
    /// How far the log goes, and how much of that is in the file, in bytes of all that was ever appended.
    using Position = std::function<std::uint64_t()>;
    /// Makes void for good all that the log has until now; false: that could not be done.
    using VoidAll = std::function<bool()>;
    /// More need not be owed, while nothing can be written: all that the log has is made void instead.
    static constexpr std::size_t owed_max = 1 << 20;

    Graves(Append append, Has has, Position end, Position written, VoidAll void_all, std::size_t most = owed_max)
        : append_(std::move(append)), has_(std::move(has)), end_(std::move(end)), written_(std::move(written)),
          void_all_(std::move(void_all)), owed_max_(most) {}

    /// Made before something is taken off the index: who finds nothing there any more waits for the tombstone all the same.
    class Digging {
    public:
        Digging(Graves& graves, Fingerprint hash) : graves_(graves), hash_(hash) { ++graves_.bucket_of(hash_).pending; }
        ~Digging() { --graves_.bucket_of(hash_).pending; }
        Digging(Digging const&) = delete;
        Digging& operator=(Digging const&) = delete;

        /// It was there: writes the tombstone, or owes it.
        void bury();
        /// It was there, and the log is not to be written to.
        void owe() { graves_.owe(hash_); }
        /// As is_open(), by what others did.
        bool is_open_to_others() const { return graves_.is_open(hash_, 1); }

    private:
        Graves& graves_;
        Fingerprint const hash_;
    };

    /// Writes what is owed. True when nothing is owed any more.
    bool pay();
    /// The same for a thread that must not be kept: some of it, and nothing while somebody else does.
    bool pay_some();
    /// Where too much was owed: makes void what it was for. Waits for the disk.
    void pay_by_voiding();
    /// Nothing is owed: every tombstone until now is in the log.
    bool is_clear() const;
    /// A tombstone of it may not be in the file yet: a kill would bring back what it is for. Costs a few loads.
    bool is_open(Fingerprint hash) const { return is_open(hash, 0); }

private:
    /// Of the hashes with the same first bits, for of some no more are known: see Index::hash_bits_max.
    struct Bucket {
        std::atomic<std::uint32_t> pending{0};   // not in the log: about to be, or owed
        std::atomic<std::uint64_t> end{0};       // of the log behind the last tombstone
    };
    static constexpr unsigned bucket_bits = 12;
    Bucket& bucket_of(Fingerprint hash) { return buckets_[hash >> (64 - bucket_bits)]; }
    Bucket const& bucket_of(Fingerprint hash) const { return buckets_[hash >> (64 - bucket_bits)]; }
    bool is_open(Fingerprint hash, std::uint32_t own) const;
    bool pay(std::size_t most) REQUIRES(paying_) EXCLUDES(mutex_);
    void owe(Fingerprint hash);
    void note_owed(Fingerprint hash) REQUIRES(mutex_);
    void note_appended(Fingerprint hash);

    Append const append_;
    Has const has_;
    Position const end_, written_;
    VoidAll const void_all_;
    std::size_t const owed_max_;
    std::array<Bucket, 1 << bucket_bits> buckets_;
    std::atomic<bool> all_{false};    // too much was owed
    Mutex paying_;               // held by who pays
    mutable Mutex mutex_;
    std::unordered_set<Fingerprint> owed_ GUARDED_BY(mutex_);
    bool on_its_way_ GUARDED_BY(mutex_) = false;         // one that was owed, and may be again
    std::uint64_t more_owed_ GUARDED_BY(mutex_) = 0;     // since too much was
};

}  // namespace garner::store::disk
