// The disk behind memory, or none: by the keys of the cache, of a URL, its parts and its variants.
#pragma once
#include <atomic>
#include <string_view>

#include "net/asio.hpp"
#include "store/disk_store.hpp"
#include "store/object.hpp"

namespace garner::cache {

/// Thread-safe. Without a disk nothing is there, and nothing is kept. What must wait for the disk is resumed on the caller's
/// executor; all else costs a probe of the disk's index, which is in memory.
class DiskTier {
public:
    /// Before the workers run; outlives them.
    void set(store::DiskStore* store);
    explicit operator bool() const { return store_ != nullptr; }
    store::DiskStore* store() const { return store_; }
    /// The store's options may have changed.
    void reconfigure();

    bool may_have(std::string_view key) const { return store_ && store_->may_have(key); }
    bool is_fresh_until(std::string_view key, WallTime until) const { return store_ && store_->is_fresh_until(key, until); }
    /// Uncharged; nullptr when it is not there or comes too late.
    net::awaitable<store::ObjectPtr> load(std::string_view key, net::Executor executor) const;
    /// The parts of what has this key when it is whole.
    net::awaitable<store::ObjectPtr> load_parts(std::string_view key, net::Executor executor) const;

    // The rest is called under the lock of the URL's shard, so that a purge comes before or after.

    /// `rival`: the key of its parts, or of the whole that has these; it goes. `fill` has the body already. True when it is kept.
    bool keep(store::Object const& object, std::string_view rival, store::DiskFill* fill);
    bool forget(std::string_view key) { return store_ && store_->forget(key); }
    /// With its parts. Variants are found through the marker alone, which has the key of the URL.
    bool forget_with_parts(std::string_view key);
    void demote(store::Object const& object) {
        if (store_) store_->demote(object);
    }

    /// Of so many uses in memory the disk hears of one: of each, where it waits for the second to take what it has not.
    unsigned uses_a_report() const { return uses_a_report_.load(std::memory_order_relaxed); }

private:
    store::DiskStore* store_ = nullptr;
    std::atomic<unsigned> uses_a_report_{0};
};

}  // namespace garner::cache
