// Fetches that are under way, and how what they bring comes to be stored.
#include <algorithm>

#include "cache/cache.hpp"
#include "cache/parts.hpp"

namespace garner::cache {

FillLease Cache::start_fill(Shard& shard, Key const& key, store::ObjectPtr stale, bool leads_others) {
    auto fill = std::make_shared<Fill>(std::string(key.text), key.fingerprint, std::move(stale));
    fill->leads_others_ = leads_others;
    shard.fills.emplace(key.fingerprint, fill);
    return FillLease(*this, std::move(fill));
}

FillLease Cache::lease_alone(Key const& key, store::ObjectPtr stale) {
    auto& shard = this->shard(key.fingerprint);
    std::lock_guard lock(shard.mutex);
    bool gone = stale && !holds(shard, *stale, key) && !(disk_ && !stale->charged() && disk_->may_have(stale->key()));
    auto lease = start_fill(shard, key, std::move(stale), false);
    // Purged since it was looked up: a 304 must not bring it back.
    if (gone) lease.fill()->attached_ = false;
    return lease;
}

bool Cache::holds(Shard const& shard, store::Object const& object, Key const& key) const {
    auto of_object = object.key() == key.text ? key.fingerprint : fingerprint(object.key(), seed_);
    return shard.find(of_object, object.key()).object == &object;
}

void Cache::unregister(Shard& shard, Fill& fill) {
    auto [first, last] = shard.fills.equal_range(fill.primary());
    for (; first != last; ++first)
        if (first->second.get() == &fill) {
            shard.fills.erase(first);
            return;
        }
}

/// It leaves nothing to keep.
void Cache::end_in_vain(Shard& shard, Fill& fill) {
    unregister(shard, fill);
    if (fill.refreshes_) shard.pause_refresh(fill.primary(), unix_seconds(wall_now()) + refresh_pause_seconds);
}

void Cache::detach(Fill& fill, Mark mark) {
    auto& shard = this->shard(fill.primary());
    std::unique_lock lock(shard.mutex);
    end_in_vain(shard, fill);
    // What a fetch beside others learns (of a range, with credentials) says nothing about the URL.
    if (mark == Mark::pass && fill.leads_others_) shard.mark_pass(fill.primary(), unix_seconds(wall_now()) + pass_seconds);
    settle(lock, shard, fill.primary());
}

/// Under the lock, so that a fill with a leader is always registered: a purge must find it.
bool Cache::promote_or_detach(Fill& fill) {
    auto& shard = this->shard(fill.primary());
    std::unique_lock lock(shard.mutex);
    if (fill.promote_next()) return true;
    end_in_vain(shard, fill);
    settle(lock, shard, fill.primary());
    return false;
}

void Cache::stop_storing(Fill& fill, bool for_a_while) {
    auto& shard = this->shard(fill.primary());
    std::vector<store::ObjectPtr> gone;
    std::unique_lock lock(shard.mutex);
    end_in_vain(shard, fill);
    auto const view = fill.view();
    // Somebody was given some of it; a refresh for nobody leaves what there is.
    if (view.object && fill.attached_ && fill.followers() > 0)
        drop_older(shard, {fill, *view.object, view.object->key(), fill.varies_by(), nullptr}, gone);
    fill.attached_ = false;
    if (for_a_while) shard.mark_pass(fill.primary(), unix_seconds(wall_now()) + pass_seconds);
    settle(lock, shard, fill.primary());
}

store::ObjectPtr Cache::make_marker(Key const& key, http::VaryNames const& vary, std::uint64_t sequence) {
    auto names = http::to_string(vary);
    store::Object::Parts parts;
    parts.kind = store::Object::Kind::vary_marker;
    parts.key = key.text;
    parts.head = names;
    parts.sequence = sequence;
    return make_object(parts, key.fingerprint);
}

bool Cache::publish(Fill& fill, store::ObjectPtr const& object, http::VaryNames const& vary, std::string const& variant,
                    Came came, store::DiskFill* on_disk, std::uint64_t marker_sequence) {
    auto& shard = this->shard(fill.primary());
    Key primary{fill.key(), fill.primary()};
    bool const is_fetched = disk_ && came == Came::fetched;
    bool const to_disk = is_fetched && !fill.off_disk_;
    // One whose body lies on disk alone would be a promise that the disk may break when its turn comes.
    bool const to_memory = object && object->charged() && (!object->body() || object->body()->is_resident());
    // A part that has not found its place is none.
    bool keep = object && (to_memory || to_disk) && !vary.star && object->status() != 206;
    // What memory has forgotten meanwhile is no new Vary: the variants on disk stay what they are.
    bool const marked_on_disk = keep && fill.marker_ && fill.marker_->head() == http::to_string(vary);
    if (marked_on_disk) marker_sequence = fill.marker_->sequence();
    auto marker = keep && !vary.empty() ? make_marker(primary, vary, marker_sequence) : nullptr;
    auto text = vary.empty() ? fill.key() : variant_text(primary.text, variant);
    // Of one response there is the whole or parts, never both.
    auto other = parts_text(text);
    bool incomplete = keep && is_incomplete(*object);
    if (incomplete) std::swap(text, other);
    auto of_text = fingerprint(text, seed_);
    auto of_other = fingerprint(other, seed_);
    std::vector<store::ObjectPtr> gone;   // freed after the lock
    std::unique_lock lock(shard.mutex);
    unregister(shard, fill);
    if (!fill.attached_ || (came == Came::from_disk && fill.overtaken_)) return false;
    // The variants that it brings back are over.
    keep = keep && !(marked_on_disk && fill.unmarked_);
    bool const fetched = object && came == Came::fetched && !vary.star;
    auto const newcomer = [&] { return Newcomer{fill, *object, incomplete ? other : text, http::to_string(vary), nullptr}; };
    if (fetched && (!keep || (!vary.empty() && !marker))) drop_older(shard, newcomer(), gone);
    // A 304 may have changed Vary: an object under another key than its own would never be found again.
    if (!keep || (!vary.empty() && !marker) || object->key() != text) return false;

    auto at_primary = shard.find(primary.fingerprint, primary.text);
    bool same_vary = marker && at_primary && at_primary.object->kind() == store::Object::Kind::vary_marker &&
                     at_primary.object->head() == marker->head();
    auto is_newer = [&](Shard::Found there) { return there && there.object->sequence() > object->sequence(); };
    if (is_newer(shard.find(of_text, text)) || (!same_vary && is_newer(at_primary))) return false;
    // Somebody is about to be given a newer one, and its tombstone is in the log already: behind that this must not come.
    if (is_fetched && is_over(shard, *object)) return false;
    if (grows_newer(shard, *object, primary)) return false;
    // The whole is worth more than its own parts, whichever began first.
    auto rival = shard.find(of_other, other);
    bool newer = is_newer(rival);
    if (incomplete && rival && (newer || outranks_parts(*rival.object, *object, wall_now()))) return false;
    if (!incomplete && newer && !is_same_representation(*rival.object, *object, wall_now())) return false;

    if (!incomplete) shard.clear_pass(fill.primary());   // parts say nothing about the whole
    if (!same_vary) {
        shard.drop_variants(primary.fingerprint, gone);
        if (marker) gone.push_back(shard.put(primary.fingerprint, marker));
        if (marker) gone.push_back(drop_parts(shard, primary, policy::Left::replaced));
    }
    if ((rival = shard.find(of_other, other))) gone.push_back(shard.remove(rival.slot, policy::Left::replaced));
    auto there = shard.find(of_text, text);
    if (there && to_memory && fill.stale().get() == there.object)
        gone.push_back(shard.freshen(there.slot, object));
    else if (to_memory)
        gone.push_back(shard.put(of_text, object));
    else if (there)
        gone.push_back(shard.remove(there.slot, policy::Left::replaced));
    if (marker && to_memory) gone.push_back(shard.add_variant(primary.fingerprint, of_text));
    bool const marked = same_vary || (marked_on_disk && !at_primary);
    // Without its marker no variant would be found there, though it come from memory later.
    if (is_fetched && marker && (!marked || !disk_->may_have(primary.text))) {
        disk_->store(same_vary ? at_primary.object->parts() : marker->parts());
        if (!marked) disk_->forget(parts_text(primary.text));
    }
    bool kept = to_memory;
    if (to_disk) kept |= keep_on_disk(*object, other, on_disk);
    if (disk_ && came == Came::fetched) overtake(shard, primary);
    if (came == Came::fetched) detach_older(shard, newcomer());
    note_bytes(shard, fill.primary());
    settle(lock, shard, fill.primary());
    return kept;
}

/// Those of a URL without variants.
store::ObjectPtr Cache::drop_parts(Shard& shard, Key const& key, policy::Left why) {
    auto text = parts_text(key.text);
    auto found = shard.find(fingerprint(text, seed_), text);
    return found ? shard.remove(found.slot, why) : nullptr;
}

/// Readers have bytes of a newer response already, and not of a part alone.
bool Cache::grows_newer(Shard const& shard, store::Object const& object, Key const& key) {
    auto [first, last] = shard.fills.equal_range(key.fingerprint);
    return std::any_of(first, last, [&](auto const& entry) {
        auto view = entry.second->view();
        return view.phase == FillView::Phase::body && view.object->status() != 206 &&
               view.object->key() == object.key() && view.object->sequence() > object.sequence();
    });
}

}  // namespace garner::cache
