// Stands in for a disk store while it is closed and opened again.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "store/disk_store.hpp"
#include "util/mutex.hpp"

namespace garner::store {

/// Finds and stores nothing. Remembers what is removed, and passes it on to the next store. Thread-safe.
class InterimDisk : public DiskStore {
public:
    /// Has the options and figures of this store; null: of none.
    explicit InterimDisk(DiskStore const* former);
    explicit InterimDisk(DiskStore const& former) : InterimDisk(&former) {}

    /// Removes from `next` what was removed here, and passes later removals on. False when too many removals came to be
    /// remembered: then nothing was passed on, and `next` must not contain anything stored before.
    bool pass_on(std::shared_ptr<DiskStore> next);
    /// After pass_on() failed: the contents of `next` are new.
    void pass_on_to_empty(std::shared_ptr<DiskStore> next);
    static constexpr std::size_t removals_max = 100'000;

    bool may_have(std::string_view) const override { return false; }
    bool is_fresh_until(std::string_view, WallTime) const override { return false; }
    bool used(std::string_view) override { return false; }
    net::awaitable<ObjectPtr> load(std::string_view, net::Executor) override { co_return nullptr; }
    ObjectPtr peek(std::string_view) override { return nullptr; }
    /// The replaced object is removed.
    NotStored store(Object::Parts const& parts) override;
    std::unique_ptr<DiskFill> begin(std::string_view key, std::optional<Bytes> length, DiskFill::Of of, NotStored& why) override;
    void not_offered(NotStored) override {}
    bool forget(std::string_view key) override;
    /// Waits for the next store first.
    net::awaitable<bool> settled(Survives what, net::Executor executor) override;
    bool wait_until_settled(Survives what) override;
    void demote(Object const&) override {}
    bool note(std::string_view line) override;
    void stop() override {}
    DiskStats stats() const override { return stats_; }
    DiskOptions const& options() const override { return options_; }
    void reconfigure(DiskOptions const&) override {}
    std::uint64_t first_sequence() const override { return first_sequence_; }
    net::awaitable<bool> heads(std::uint32_t, std::vector<ObjectPtr>&, net::Executor) override { co_return false; }
    bool list(std::uint32_t, std::vector<Listed>&) override { return false; }
    void list_waiting(std::vector<Listed>&) const override {}
    std::optional<Stretch> segment_from(std::uint64_t) const override { return std::nullopt; }
    bool verify(std::uint32_t, Verified&) override { return false; }

protected:
    /// Null until pass_on().
    std::shared_ptr<DiskStore> next() const;

private:
    DiskOptions const options_;
    DiskStats stats_;
    std::uint64_t const first_sequence_;
    mutable Mutex mutex_;
    std::shared_ptr<DiskStore> next_ GUARDED_BY(mutex_);
    std::vector<std::string> removed_ GUARDED_BY(mutex_);
    std::vector<std::string> noted_ GUARDED_BY(mutex_);
    bool too_many_ GUARDED_BY(mutex_) = false;
};

}   // namespace garner::store
