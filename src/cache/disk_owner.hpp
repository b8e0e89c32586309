// Owns the disk stores behind a cache: opens one at the start, and exchanges it while requests run.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/cache.hpp"
#include "store/disk_disposal.hpp"
#include "store/disk_store.hpp"
#include "store/interim_disk.hpp"
#include "util/prepared.hpp"
#include "util/result.hpp"

namespace garner::cache {

/// Belongs to the thread of reloads. Declare it before the cache, so that it is destroyed after it.
class DiskOwner {
public:
    DiskOwner() = default;
    /// Waits until all stores are closed. Every reader must have ended.
    ~DiskOwner();

    enum class OnError : std::uint8_t {
        retries,   // only a store that another process has open is a fault; with another error the process begins without the disk
        is_fault
    };
    /// Before the workers run. An empty path: no disk. The fault names the key.
    Result<void> open(Cache& cache, store::DiskOptions const& options, OnError on_error);

    /// For a reload with these options. The fault names the key, and nothing has changed. Prepare it as the last part of a
    /// reload: a store that exists at another path is emptied already here, because the process has missed removals from it.
    ///
    /// Requests go on meanwhile. Bodies that are being sent from the former store are sent to their end. Bodies that are being
    /// written to it may not be stored.
    /// - Another path, or none: the former store is left, and its objects are never found again, in this process or later. The
    ///   new one is open before that, and empty.
    /// - Other options of a store that stays where it is, beyond those that change while it is open: it is closed, and opened
    ///   again with its objects (fewer bytes: without them). Until then lookups miss and nothing is stored. Removals are
    ///   remembered, and waits for them go on. Space and the least size are checked before. If it cannot be opened
    ///   nevertheless, it is opened with the former options, and if that fails, too, it fails like a store at the start: it is
    ///   retried every few seconds.
    Result<Prepared> prepare(Cache& cache, store::DiskOptions const& fresh);

    /// Another process takes the store over: closes it, and releases its file. `stand_in` is used from now on. Waits for the disk.
    void hand_over(Cache& cache, std::shared_ptr<store::InterimDisk> const& stand_in);
    /// After hand_over(): if that process uses a store at another path (empty: none), it misses removals from this one, which is
    /// never found again, in this process or later.
    void leave_unless_at(std::string const& path);
    /// That process has ended: opens the store again, without what was removed from `stand_in`. Waits for the disk.
    void take_back(Cache& cache, store::InterimDisk& stand_in);
    /// Null: no disk.
    store::DiskStore const* store() const { return store_.get(); }

    /// See DiskStore: for every store that is in use.
    void stop();
    void wait_until_settled(store::Survives what);

private:
    using StorePtr = std::shared_ptr<store::DiskStore>;

    StorePtr own(std::unique_ptr<store::DiskStore> store);
    StorePtr holder_of(std::string const& path);
    Result<Prepared> prepare_other(Cache& cache, store::DiskOptions const& fresh);
    void adjust(Cache& cache, store::DiskOptions const& fresh);
    void replace(Cache& cache, StorePtr next, store::DiskOptions const& fresh);
    void reopen(Cache& cache, store::DiskOptions const& fresh);
    /// `trouble`: begins the message if the store cannot be opened.
    void follow(Cache& cache, store::InterimDisk& stand_in, store::DiskOptions const& fresh, bool settled, char const* trouble);
    StorePtr open_again(store::DiskStore& former, store::DiskOptions const& fresh, bool keeps_contents, std::uint64_t number,
                        char const* trouble);

    store::DiskOptions options_;
    std::shared_ptr<store::DiskDisposal> disposal_ = std::make_shared<store::DiskDisposal>();
    std::vector<std::weak_ptr<store::DiskStore>> all_;   // the one in use, and former ones until their last reader ends
    StorePtr store_;                                     // null: no disk
    bool settled_ = true;                                // the store that was handed over may be opened with its objects
};

}   // namespace garner::cache
