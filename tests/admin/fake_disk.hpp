// A disk tier in memory, for tests that only list it.
#pragma once
#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "store/disk_store.hpp"

namespace garner::admin {

class FakeDisk : public store::DiskStore {
public:
    struct Entry {
        Listed listed;
        bool damaged = false;
    };
    explicit FakeDisk(std::size_t segments) : segments_(segments) {
        stats_.state = store::DiskStats::State::working;
        stats_.path = "/var/cache/garner";
        stats_.segments = stats_.segments_recovered = static_cast<std::uint32_t>(segments);
    }

    void put(std::size_t segment, std::string key, std::int64_t fresh_for = 60) {
        Entry entry;
        entry.listed.key = std::move(key);
        entry.listed.status = 200;
        entry.listed.length = 1'536;
        entry.listed.bytes = 2'048;
        entry.listed.stored = from_unix_seconds(1'000'000);
        entry.listed.fresh_for = fresh_for;
        std::lock_guard lock(mutex_);
        segments_[segment].push_back(std::move(entry));
    }
    /// Appends a new segment with only this entry.
    void go_on_with(std::string key) {
        {
            std::lock_guard lock(mutex_);
            segments_.emplace_back();
        }
        put(segments_.size() - 1, std::move(key));
    }
    void damage(std::size_t segment) { segments_[segment].front().damaged = true; }
    std::vector<std::string> keys() const {
        std::lock_guard lock(mutex_);
        std::vector<std::string> keys;
        for (auto const& segment : segments_)
            for (auto const& entry : segment) keys.push_back(entry.listed.key);
        return keys;
    }
    /// Called with each segment that is listed.
    std::function<void(std::uint32_t)> on_list;
    bool settles = true;
    std::vector<Listed> waiting;
    store::DiskStats stats_;

    // ---- DiskStore ----

    bool may_have(std::string_view key) const override {
        auto const all = keys();
        return std::find(all.begin(), all.end(), key) != all.end();
    }
    bool is_fresh_until(std::string_view, WallTime) const override { return false; }
    net::awaitable<store::ObjectPtr> load(std::string_view, net::Executor) override { co_return nullptr; }
    store::ObjectPtr peek(std::string_view) override { return nullptr; }
    store::NotStored store(store::Object::Parts const&) override { return store::NotStored::failing; }
    std::unique_ptr<store::DiskFill> begin(std::string_view, std::optional<Bytes>, store::DiskFill::Of,
                                           store::NotStored& why) override {
        why = store::NotStored::failing;
        return nullptr;
    }
    void not_offered(store::NotStored) override {}
    bool forget(std::string_view key) override {
        std::lock_guard lock(mutex_);
        std::size_t gone = std::erase_if(waiting, [key](Listed const& one) { return one.key == key; });
        for (auto& segment : segments_)
            gone += std::erase_if(segment, [key](Entry const& entry) { return entry.listed.key == key; });
        return gone > 0;
    }
    net::awaitable<bool> settled(store::Survives, net::Executor) override { co_return settles; }
    bool wait_until_settled(store::Survives) override { return settles; }
    void stop() override {}
    bool used(std::string_view) override { return false; }
    net::awaitable<bool> heads(std::uint32_t, std::vector<store::ObjectPtr>&, net::Executor) override { co_return false; }
    void demote(store::Object const&) override {}
    store::DiskStats stats() const override { return stats_; }
    store::DiskOptions const& options() const override { return options_; }
    void reconfigure(store::DiskOptions const& fresh) override { options_.take_over(fresh); }
    std::uint64_t first_sequence() const override { return 1; }
    bool list(std::uint32_t segment, std::vector<Listed>& into) override {
        if (on_list) on_list(segment);
        std::lock_guard lock(mutex_);
        if (segment >= segments_.size()) return false;
        for (auto const& entry : segments_[segment]) into.push_back(entry.listed);
        return true;
    }
    void list_waiting(std::vector<Listed>& into) const override { into.insert(into.end(), waiting.begin(), waiting.end()); }
    std::optional<Stretch> segment_from(std::uint64_t generation) const override {
        std::lock_guard lock(mutex_);
        auto const first = std::max<std::uint64_t>(generation, 1);
        if (first > segments_.size()) return std::nullopt;
        return Stretch{static_cast<std::uint32_t>(first - 1), first};
    }
    bool verify(std::uint32_t segment, Verified& sum) override {
        std::lock_guard lock(mutex_);
        if (segment >= segments_.size()) return false;
        for (auto const& entry : segments_[segment]) {
            ++sum.records;
            sum.damaged += entry.damaged;
            sum.bytes += entry.listed.bytes;
        }
        std::erase_if(segments_[segment], [](Entry const& entry) { return entry.damaged; });
        return true;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::vector<Entry>> segments_;
    store::DiskOptions options_;
};

}   // namespace garner::admin
