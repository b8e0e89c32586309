#include "cache/fetches.hpp"

#include <utility>
#include <vector>

#include "util/recycled_memory.hpp"

namespace garner::cache {

FillLease Fetches::start(Shard& shard, Key const& key, store::ObjectPtr stale, bool leads_others) {
    auto fill = std::allocate_shared<Fill>(RecyclingAllocator<Fill>(), *this, key.text, key.fingerprint, std::move(stale),
                                           memory_.numbers.next());
    fill->leads_others_ = leads_others;
    shard.add_fill(fill);
    return FillLease(std::move(fill));
}

FillLease Fetches::start_alone(Key const& key, store::ObjectPtr stale) {
    auto& shard = memory_.shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    auto const is_stored = [&](store::Object const& object) REQUIRES(shard.mutex) {
        return memory_.find(shard, object.key()).object == &object || (!object.charged() && disk_.may_have(object.key()));
    };
    // Purged since the lookup: a 304 must not restore it.
    bool const is_gone = stale && !is_stored(*stale);
    auto lease = start(shard, key, std::move(stale), false);
    lease.fill()->in_shard(shard.mutex).stored = !is_gone;
    return lease;
}

void Fetches::end_in_vain(Shard& shard, Fill& fill) {
    shard.remove_fill(fill);
    if (fill.refreshes_) shard.pause_refresh(fill.primary(), unix_seconds(wall_now()) + refresh_pause_seconds);
}

void Fetches::end(Fill& fill, char const* reason) {
    auto& shard = memory_.shard(fill.primary());
    MutexLock const lock(shard.mutex);
    end_in_vain(shard, fill);
    // A fetch beside others (for a range or with credentials) says nothing about the URL in general.
    bool const marks = reason && fill.leads_others_;
    bool const grows = marks && shard.mark_hit_for_pass(fill.primary(), unix_seconds(wall_now()) + pass_seconds, reason);
    if (grows || fill.refreshes_) memory_.settle(shard, fill.primary());
}

/// Holds the lock of the shard, so that a fill with a leader is always registered: a purge must find it.
bool Fetches::promote_or_end(Fill& fill) {
    auto& shard = memory_.shard(fill.primary());
    MutexLock const lock(shard.mutex);
    if (fill.promote_next()) return true;
    end_in_vain(shard, fill);
    memory_.settle(shard, fill.primary());
    return false;
}

void Fetches::stop_storing(Fill& fill, char const* reason) {
    auto& shard = memory_.shard(fill.primary());
    std::vector<store::ObjectPtr> gone;
    MutexLock const lock(shard.mutex);
    end_in_vain(shard, fill);
    auto const object = fill.view().object;
    // A client received a part of it. A background refresh without clients changes nothing.
    if (object && Supersession::may_store(shard, fill) && fill.is_given())
        supersession_.drop_older(shard, {fill, *object, object->key(), fill.varies_by()}, gone);
    fill.in_shard(shard.mutex).stored = false;
    if (reason) shard.mark_hit_for_pass(fill.primary(), unix_seconds(wall_now()) + pass_seconds, reason);
    memory_.settle(shard, fill.primary());
}

bool Fetches::remember_failure(Fill const& fill, FetchFailure const& failure, bool of_head_only, NegativeTerms const& terms,
                               std::optional<Witness> const& witness) {
    Key const key{fill.key(), fill.primary()};
    // Makes room in advance, because nothing may be evicted under the lock. The lock must be the one under which a
    // purge detaches the fill.
    auto const most = memory_.failures().most_growth(key, failure);
    if (!memory_.reserve(most, key.fingerprint)) return !witness;
    memory_.budget().release(most);
    auto& shard = memory_.shard(key.fingerprint);
    MutexLock const lock(shard.mutex);
    if (!Supersession::may_store(shard, fill)) return !witness;
    return memory_.failures().remember(key, failure, of_head_only, terms, steady_now(), witness);
}

}   // namespace garner::cache
