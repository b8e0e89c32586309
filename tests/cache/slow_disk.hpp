// A disk tier on a map, with a hook that runs during reads.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cache/cache.hpp"

namespace garner::cache {

class SlowDisk : public store::DiskStore {
public:
    /// Called once, after a record was read and before it is returned.
    std::function<void()> meanwhile;
    std::vector<std::string> uses;

    std::string stored(std::string_view key) const {
        auto const found = objects_.find(std::string(key));
        return found == objects_.end() ? "-" : std::string(found->second->bytes());
    }

    // ---- DiskStore ----
    bool may_have(std::string_view key) const override { return objects_.contains(std::string(key)); }
    bool is_fresh_until(std::string_view, WallTime) const override { return false; }
    bool used(std::string_view key) override { return uses.emplace_back(key), false; }
    net::awaitable<store::ObjectPtr> load(std::string_view key, net::Executor) override {
        auto const found = objects_.find(std::string(key));
        auto object = found == objects_.end() ? nullptr : found->second;
        if (auto const act = std::exchange(meanwhile, nullptr)) act();
        co_return object;
    }
    store::ObjectPtr peek(std::string_view key) override {
        auto const found = objects_.find(std::string(key));
        return found == objects_.end() ? nullptr : found->second;
    }
    store::NotStored store(store::Object::Parts const& parts) override {
        objects_[std::string(parts.key)] = store::Object::make(parts, nullptr);
        return store::NotStored::none;
    }
    std::unique_ptr<store::DiskFill> begin(std::string_view, std::optional<Bytes>, store::DiskFill::Of,
                                           store::NotStored& why) override {
        why = store::NotStored::failing;
        return nullptr;
    }
    void not_offered(store::NotStored) override {}
    bool forget(std::string_view key) override { return objects_.erase(std::string(key)) > 0; }
    net::awaitable<bool> settled(store::Survives, net::Executor) override { co_return true; }
    bool wait_until_settled(store::Survives) override { return true; }
    void demote(store::Object const& object) override { store(object.parts()); }
    void stop() override {}
    store::DiskStats stats() const override { return {}; }
    store::DiskOptions const& options() const override { return options_; }
    void reconfigure(store::DiskOptions const& fresh) override { options_.take_over(fresh); }
    std::uint64_t first_sequence() const override { return 1; }
    net::awaitable<bool> heads(std::uint32_t, std::vector<store::ObjectPtr>&, net::Executor) override { co_return false; }
    bool list(std::uint32_t, std::vector<Listed>&) override { return false; }
    void list_waiting(std::vector<Listed>&) const override {}
    std::optional<Stretch> segment_from(std::uint64_t) const override { return std::nullopt; }
    bool verify(std::uint32_t, Verified&) override { return false; }

private:
    std::map<std::string, store::ObjectPtr> objects_;
    store::DiskOptions options_;
};

}   // namespace garner::cache
