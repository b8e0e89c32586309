#include "cache/disk_tier.hpp"

#include "cache/key.hpp"

namespace garner::cache {

void DiskTier::set(store::DiskStore* store) {
    store_ = store;
    reconfigure();
}

net::awaitable<bool> DiskTier::settled(store::Survives what, net::Executor executor) const {
    if (!store_) co_return true;
    co_return co_await store_->settled(what, executor);
}

void DiskTier::reconfigure() {
    constexpr unsigned enough = 8;
    if (!store_) return;
    bool const wants_all = store_->options().admit == store::DiskOptions::Admit::second_hit;
    uses_a_report_.store(wants_all ? 1 : enough, std::memory_order_relaxed);
}

net::awaitable<store::ObjectPtr> DiskTier::load(std::string_view key, net::Executor executor) const {
    if (!may_have(key)) co_return nullptr;
    co_return co_await store_->load(key, executor);
}

net::awaitable<store::ObjectPtr> DiskTier::load_parts(std::string_view key, net::Executor executor) const {
    auto const text = parts_text(key);
    co_return co_await load(text, executor);
}

bool DiskTier::keep(store::Object const& object, std::string_view rival, store::DiskFill* fill) {
    auto const parts = object.parts();
    bool const kept = fill ? fill->commit(parts) : store_->store(parts) == store::NotStored::none;
    if (!kept && fill) store_->forget(parts.key);
    store_->forget(rival);
    return kept;
}

bool DiskTier::forget_with_parts(std::string_view key) {
    if (!store_) return false;
    bool const whole = store_->forget(key);
    bool const parts = store_->forget(parts_text(key));
    return whole || parts;
}

}   // namespace garner::cache
