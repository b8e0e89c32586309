// The optional disk tier, addressed by the cache keys of URLs, parts and variants.
#pragma once
#include <atomic>
#include <string_view>

#include "net/asio.hpp"
#include "store/disk_store.hpp"
#include "store/object.hpp"

namespace garner::cache {

/// Thread-safe. Without a disk all lookups miss and nothing is stored. Coroutines wait for the disk and resume on the
/// caller's executor; other functions cost a probe of the disk's in-memory index.
class DiskTier {
public:
    /// Call before the workers run; the store outlives them.
    void set(store::DiskStore* store);
    explicit operator bool() const { return store_ != nullptr; }
    store::DiskStore* store() const { return store_; }
    /// Waits until all that was removed or superseded before this call stays so after a kill of this process (`power`: after a
    /// power failure, too). False if the disk does not confirm it in time.
    net::awaitable<bool> settled(store::Survives what, net::Executor executor) const;
    /// The store's options may have changed.
    void reconfigure();

    bool may_have(std::string_view key) const { return store_ && store_->may_have(key); }
    bool is_fresh_until(std::string_view key, WallTime until) const { return store_ && store_->is_fresh_until(key, until); }
    /// Uncharged; nullptr when it is not stored or loads too slowly.
    net::awaitable<store::ObjectPtr> load(std::string_view key, net::Executor executor) const;
    /// The stored parts of the response whose whole has this key.
    net::awaitable<store::ObjectPtr> load_parts(std::string_view key, net::Executor executor) const;

    // The rest is called under the lock of the URL's shard, so that a purge comes before or after.

    /// Stores the object and removes its `rival`: the key of its parts, or of the whole that these parts belong to.
    /// `fill` has the body already. True when it is stored.
    bool keep(store::Object const& object, std::string_view rival, store::DiskFill* fill);
    bool forget(std::string_view key) { return store_ && store_->forget(key); }
    /// Also removes its parts. Variants are reachable only through the marker, which has the URL's key.
    bool forget_with_parts(std::string_view key);
    void demote(store::Object const& object) {
        if (store_) store_->demote(object);
    }

    /// One of this many uses in memory is reported to the disk. With second_hit admission every use is reported, so
    /// that the disk can store the object at its second use.
    unsigned uses_a_report() const { return uses_a_report_.load(std::memory_order_relaxed); }

private:
    store::DiskStore* store_ = nullptr;
    std::atomic<unsigned> uses_a_report_{0};
};

}   // namespace garner::cache
