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
    MutexLock const lock(shard.mutex);
    bool gone = stale && !holds(shard, *stale, key) && !(disk_ && !stale->charged() && disk_->may_have(stale->key()));
    auto lease = start_fill(shard, key, std::move(stale), false);
    // Purged since it was looked up: a 304 must not bring it back.
    if (gone) lease.fill()->in_shard(shard.mutex).attached = false;
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

void Cache::detach(Fill& fill, char const* reason) {
    auto& shard = this->shard(fill.primary());
    MutexLock const lock(shard.mutex);
    end_in_vain(shard, fill);
    // What a fetch beside others learns (of a range, with credentials) says nothing about the URL.
    if (reason && fill.leads_others_) shard.mark_pass(fill.primary(), unix_seconds(wall_now()) + pass_seconds, reason);
    settle(shard, fill.primary());
}

/// Under the lock, so that a fill with a leader is always registered: a purge must find it.
bool Cache::promote_or_detach(Fill& fill) {
    auto& shard = this->shard(fill.primary());
    MutexLock const lock(shard.mutex);
    if (fill.promote_next()) return true;
    end_in_vain(shard, fill);
    settle(shard, fill.primary());
    return false;
}

void Cache::stop_storing(Fill& fill, char const* reason) {
    auto& shard = this->shard(fill.primary());
    std::vector<store::ObjectPtr> gone;
    MutexLock const lock(shard.mutex);
    end_in_vain(shard, fill);
    auto const view = fill.view();
    // Somebody was given some of it; a refresh for nobody leaves what there is.
    if (view.object && fill.in_shard(shard.mutex).attached && fill.is_given())
        drop_older(shard, {fill, *view.object, view.object->key(), fill.varies_by(), nullptr}, gone);
    fill.in_shard(shard.mutex).attached = false;
    if (reason) shard.mark_pass(fill.primary(), unix_seconds(wall_now()) + pass_seconds, reason);
    settle(shard, fill.primary());
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

/// What came, and where it would lie.
struct Cache::Arrival {
    Fill& fill;
    store::ObjectPtr const& object;
    Came came;
    bool keep = false;
    bool to_memory = false;
    bool to_disk = false;          // where it was not refused already
    bool incomplete = false;
    bool marked_on_disk = false;   // by a marker that has this Vary
    std::string names{};           // of its Vary, as http::to_string
    store::ObjectPtr marker{};     // of a URL with variants
    std::string whole{};           // the key of the whole of it
    // Of one response there is the whole or parts, never both.
    std::string text{}, rival{};
    Fingerprint of_text = 0, of_rival = 0;
    // Under the lock: what is at the URL now.
    Shard::Found at_primary{};
    bool same_vary = false;        // that is the marker of this Vary

    Key primary() const { return {fill.key(), fill.primary()}; }
    bool is_fetched() const { return came == Came::fetched; }
    Newcomer newcomer() const { return {fill, *object, whole, names, nullptr}; }
};

bool Cache::publish(Fill& fill, store::ObjectPtr const& object, http::VaryNames const& vary, std::string const& variant,
                    Came came, store::DiskFill* on_disk, std::uint64_t marker_sequence) {
    auto arrival = arrival_of(fill, object, vary, variant, came, marker_sequence);
    auto& shard = this->shard(fill.primary());
    std::vector<store::ObjectPtr> gone;   // freed after the lock
    MutexLock const lock(shard.mutex);
    unregister(shard, fill);
    if (!fill.in_shard(shard.mutex).attached || (came == Came::from_disk && fill.in_shard(shard.mutex).overtaken)) return false;
    // The variants that it brings back are over.
    if (arrival.marked_on_disk && fill.in_shard(shard.mutex).unmarked) arrival.keep = false;
    bool const supersedes = object && came == Came::fetched && !vary.star;
    if (supersedes && !arrival.keep) drop_older(shard, arrival.newcomer(), gone);
    // A 304 may have changed Vary: an object under another key than its own would never be found again.
    if (!arrival.keep || object->key() != arrival.text) return false;
    if (arrival.is_fetched() && contradicts_heard(shard, fill, *object, arrival.whole, arrival.names)) {
        drop_older(shard, arrival.newcomer(), gone);   // somebody was given this one, too: neither stays
        return false;
    }
    look_around(shard, arrival);
    if (is_outdone(shard, arrival)) {
        // A client got this response: older ones may not answer any more.
        if (supersedes) drop_older(shard, arrival.newcomer(), gone);
        return false;
    }

    put_in_memory(shard, arrival, gone);
    bool const kept_on_disk = disk_ && arrival.is_fetched() && put_on_disk(arrival, on_disk);
    if (disk_ && arrival.is_fetched()) overtake(shard, arrival.primary());
    if (arrival.is_fetched()) detach_older(shard, arrival.newcomer());
    note_bytes(shard, fill.primary());
    settle(shard, fill.primary());
    return arrival.to_memory || kept_on_disk;
}

Cache::Arrival Cache::arrival_of(Fill& fill, store::ObjectPtr const& object, http::VaryNames const& vary,
                                 std::string const& variant, Came came, std::uint64_t marker_sequence) {
    Arrival arrival{fill, object, came};
    arrival.to_disk = disk_ && came == Came::fetched && !fill.off_disk_;
    // One whose body lies on disk alone would be a promise that the disk may break when its turn comes.
    arrival.to_memory = object && object->charged() && (!object->body() || object->body()->is_resident());
    // A part that has not found its place is none.
    arrival.keep = object && (arrival.to_memory || arrival.to_disk) && !vary.star && object->status() != 206;
    arrival.names = http::to_string(vary);
    arrival.whole = vary.empty() ? fill.key() : variant_text(fill.key(), variant);
    if (!arrival.keep) return arrival;

    arrival.incomplete = is_incomplete(*object);
    arrival.text = arrival.whole;
    arrival.rival = parts_text(arrival.whole);
    if (arrival.incomplete) arrival.text.swap(arrival.rival);
    arrival.of_text = fingerprint(arrival.text, seed_);
    arrival.of_rival = fingerprint(arrival.rival, seed_);
    // What memory has forgotten meanwhile is no new Vary: the variants on disk stay what they are.
    arrival.marked_on_disk = fill.marker_ && fill.marker_->head() == arrival.names;
    if (arrival.marked_on_disk) marker_sequence = fill.marker_->sequence();
    if (!vary.empty()) arrival.marker = make_marker(arrival.primary(), vary, marker_sequence);
    arrival.keep = vary.empty() || arrival.marker;
    return arrival;
}

void Cache::look_around(Shard const& shard, Arrival& arrival) {
    auto const primary = arrival.primary();
    arrival.at_primary = shard.find(primary.fingerprint, primary.text);
    auto const* there = arrival.at_primary.object;
    arrival.same_vary = arrival.marker && there && there->kind() == store::Object::Kind::vary_marker &&
                        there->head() == arrival.marker->head();
}

/// By what is there, or by what somebody has been given already.
bool Cache::is_outdone(Shard const& shard, Arrival const& arrival) const {
    auto const& object = *arrival.object;
    auto is_newer = [&](Shard::Found there) { return there && there.object->sequence() > object.sequence(); };
    if (is_newer(shard.find(arrival.of_text, arrival.text))) return true;
    if (!arrival.same_vary && is_newer(arrival.at_primary)) return true;
    if (arrival.is_fetched() && contradicts_rival(shard, arrival.fill, object, arrival.whole, arrival.names)) return true;
    if (grows_newer(shard, object, arrival.primary())) return true;
    // The whole is worth more than its own parts, whichever began first.
    auto const rival = shard.find(arrival.of_rival, arrival.rival);
    if (!rival) return false;
    if (arrival.incomplete) return is_newer(rival) || outranks_parts(*rival.object, object, wall_now());
    return is_newer(rival) && !is_same_representation(*rival.object, object, wall_now());
}

void Cache::put_in_memory(Shard& shard, Arrival const& arrival, std::vector<store::ObjectPtr>& gone) {
    auto const primary = arrival.primary();
    if (!arrival.incomplete) shard.clear_pass(primary.fingerprint);   // parts say nothing about the whole
    if (!arrival.same_vary) {
        shard.drop_variants(primary.fingerprint, gone);
        if (arrival.marker) gone.push_back(shard.put(primary.fingerprint, arrival.marker));
        if (arrival.marker) gone.push_back(drop_parts(shard, primary, policy::Left::replaced));
    }
    auto const rival = shard.find(arrival.of_rival, arrival.rival);
    if (rival) gone.push_back(shard.remove(rival.slot, policy::Left::replaced));
    auto const there = shard.find(arrival.of_text, arrival.text);
    if (there && arrival.to_memory && arrival.fill.stale().get() == there.object)
        gone.push_back(shard.freshen(there.slot, arrival.object));
    else if (arrival.to_memory)
        gone.push_back(shard.put(arrival.of_text, arrival.object));
    else if (there)
        gone.push_back(shard.remove(there.slot, policy::Left::replaced));
    if (arrival.marker && arrival.to_memory) gone.push_back(shard.add_variant(primary.fingerprint, arrival.of_text));
}

/// True when it is kept there. Without its marker no variant would be found, though it come from memory later.
bool Cache::put_on_disk(Arrival const& arrival, store::DiskFill* on_disk) {
    auto const& url = arrival.fill.key();
    bool const marked = arrival.same_vary || (arrival.marked_on_disk && !arrival.at_primary);
    if (arrival.marker && (!marked || !disk_->may_have(url))) {
        disk_->store(arrival.same_vary ? arrival.at_primary.object->parts() : arrival.marker->parts());
        if (!marked) disk_->forget(parts_text(url));
    }
    return arrival.to_disk && keep_on_disk(*arrival.object, arrival.rival, on_disk);
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
