// The optional disk tier, addressed by the cache keys of URLs, parts and variants.
#pragma once
#include <atomic>
#include <memory>
#include <string_view>

#include "net/asio.hpp"
#include "store/disk_store.hpp"
#include "store/object.hpp"
#include "util/mutex.hpp"

namespace garner::cache {

/// Thread-safe. Without a disk all lookups miss and nothing is stored. Coroutines wait for the disk and resume on the
/// caller's executor; other functions cost a probe of the disk's in-memory index.
class DiskTier {
public:
    /// From now on all functions use this store. Functions of other threads may still use the former one for a moment, and
    /// coroutines until they end.
    void set(std::shared_ptr<store::DiskStore> store);
    explicit operator bool() const { return is_there_.load(std::memory_order_relaxed); }
    /// Null: no disk. Another thread may replace it at any time.
    std::shared_ptr<store::DiskStore> store() const;
    /// Waits until all that was removed or superseded before this call stays so after a kill of this process (`power`: after a
    /// power failure, too). False if the disk does not confirm it in time.
    net::awaitable<bool> settled(store::Survives what, net::Executor executor) const;
    /// The store's options may have changed.
    void reconfigure();

    bool may_have(std::string_view key) const;
    bool is_fresh_until(std::string_view key, WallTime until) const;
    /// See DiskOptions; 0 without a disk.
    milliseconds patience() const;
    void not_offered(store::NotStored why);
    /// Uncharged; nullptr when it is not stored or loads too slowly.
    net::awaitable<store::ObjectPtr> load(std::string_view key, net::Executor executor) const;
    /// The stored parts of the response whose whole has this key.
    net::awaitable<store::ObjectPtr> load_parts(std::string_view key, net::Executor executor) const;

    // The rest is called under the lock of the URL's shard, so that a purge comes before or after.

    /// Stores the object and removes its `rival`: the key of its parts, or of the whole that these parts belong to.
    /// `fill` has the body already. True when it is stored.
    bool keep(store::Object const& object, std::string_view rival, store::DiskFill* fill);
    void store(store::Object::Parts const& parts);
    bool forget(std::string_view key);
    /// Also removes its parts. Variants are reachable only through the marker, which has the URL's key.
    bool forget_with_parts(std::string_view key);
    void demote(store::Object const& object);

    /// One of this many uses in memory is reported to the disk. With second_hit admission every use is reported, so
    /// that the disk can store the object at its second use.
    unsigned uses_a_report() const { return uses_a_report_.load(std::memory_order_relaxed); }

private:
    mutable Mutex mutex_;
    std::shared_ptr<store::DiskStore> store_ GUARDED_BY(mutex_);
    std::atomic<bool> is_there_{false};
    std::atomic<unsigned> uses_a_report_{0};
};

}   // namespace garner::cache
