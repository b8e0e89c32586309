#include "cache/disk_tier.hpp"

#include <utility>

#include "cache/key.hpp"

namespace garner::cache {

void DiskTier::set(std::shared_ptr<store::DiskStore> store) {
    {
        MutexLock const lock(mutex_);
        store_.swap(store);
        is_there_ = store_ != nullptr;
    }
    reconfigure();
}

std::shared_ptr<store::DiskStore> DiskTier::store() const {
    if (!*this) return nullptr;
    MutexLock const lock(mutex_);
    return store_;
}

net::awaitable<bool> DiskTier::settled(store::Survives what, net::Executor executor) const {
    for (auto store = this->store(); store;) {
        if (co_await store->settled(what, executor)) co_return true;
        auto const former = std::exchange(store, this->store());
        if (store == former) co_return false;   // otherwise another store has taken over its removals
    }
    co_return true;
}

void DiskTier::reconfigure() {
    constexpr unsigned enough = 8;
    auto const store = this->store();
    if (!store) return;
    bool const wants_all = store->options().admit == store::DiskOptions::Admit::second_hit;
    uses_a_report_.store(wants_all ? 1 : enough, std::memory_order_relaxed);
}

net::awaitable<store::ObjectPtr> DiskTier::load(std::string_view key, net::Executor executor) const {
    auto const store = this->store();
    if (!store || !store->may_have(key)) co_return nullptr;
    co_return co_await store->load(key, executor);
}

bool DiskTier::may_have(std::string_view key) const {
    auto const store = this->store();
    return store && store->may_have(key);
}

bool DiskTier::is_fresh_until(std::string_view key, WallTime until) const {
    auto const store = this->store();
    return store && store->is_fresh_until(key, until);
}

milliseconds DiskTier::patience() const {
    auto const store = this->store();
    return store ? store->options().patience : milliseconds{0};
}

void DiskTier::not_offered(store::NotStored why) {
    if (auto const store = this->store()) store->not_offered(why);
}

net::awaitable<store::ObjectPtr> DiskTier::load_parts(std::string_view key, net::Executor executor) const {
    auto const text = parts_text(key);
    co_return co_await load(text, executor);
}

bool DiskTier::keep(store::Object const& object, std::string_view rival, store::DiskFill* fill) {
    auto const store = this->store();
    if (!store) return false;
    auto const parts = object.parts();
    bool const kept = fill ? fill->commit(parts) : store->store(parts) == store::NotStored::none;
    // The fill may be one of a former store, which this one has replaced.
    if (!kept && fill) store->forget(parts.key);
    store->forget(rival);
    return kept;
}

void DiskTier::store(store::Object::Parts const& parts) {
    if (auto const store = this->store()) store->store(parts);
}

bool DiskTier::forget(std::string_view key) {
    auto const store = this->store();
    return store && store->forget(key);
}

bool DiskTier::forget_with_parts(std::string_view key) {
    auto const store = this->store();
    if (!store) return false;
    bool const whole = store->forget(key);
    bool const parts = store->forget(parts_text(key));
    return whole || parts;
}

void DiskTier::demote(store::Object const& object) {
    if (auto const store = this->store()) store->demote(object);
}

}   // namespace garner::cache
