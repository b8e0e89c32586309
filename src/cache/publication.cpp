// Publishes a response in the index of a tier and removes what it replaces. No other code publishes.
#include <algorithm>
#include <string>
#include <vector>

#include "cache/fetches.hpp"
#include "cache/parts.hpp"
#include "store/body_source.hpp"

namespace garner::cache {

/// A fetched response and the keys it is stored under.
class Publication {
public:
    Publication(Fetches& fetches, Fill& fill, FetchResult const& result);
    /// True when it is stored.
    bool run();

private:
    store::ObjectPtr make_marker(std::uint64_t sequence) const;
    bool admit(Shard& shard) REQUIRES(shard.mutex);
    void find_marker(Shard const& shard) REQUIRES(shard.mutex);
    Shard::Found find_other(Shard const& shard) const REQUIRES(shard.mutex);
    bool has_newer(Shard const& shard) const REQUIRES(shard.mutex);
    bool grows_newer(Shard const& shard) const REQUIRES(shard.mutex);
    void put_in_memory(Shard& shard) REQUIRES(shard.mutex);
    bool put_on_disk();
    bool is_fetched() const { return result_.from == ResultFrom::origin; }
    Supersession::Newcomer newcomer() const { return {fill_, *result_.object, whole_, names_}; }
    void free(store::ObjectPtr object) {
        if (object) freed_.push_back(std::move(object));
    }

    MemoryTier& memory_;
    DiskTier& disk_;
    Supersession& supersession_;
    Fill& fill_;
    FetchResult const& result_;
    bool storable_ = false;
    bool to_memory_ = false;
    bool to_disk_ = false;   // unless the disk rejected it before
    bool incomplete_ = false;
    bool marked_on_disk_ = false;   // by a marker on disk with the Vary of this response
    std::string names_;             // names of its Vary, as http::to_string
    store::ObjectPtr marker_;       // for a URL with variants
    std::string variant_key_;       // empty: the URL has no variants
    std::string_view whole_;        // the key of its whole: `variant_key_`, or the fill's
    // Either the whole response or its parts are stored, never both.
    std::string parts_key_;   // empty until it is needed
    std::string_view key_;    // `whole_` or `parts_key_`
    Fingerprint of_key_ = 0;
    // Valid under the lock: the object at the URL's own key.
    Shard::Found at_primary_;
    bool same_vary_ = false;                // at_primary_ is a marker with the Vary of this response
    std::vector<store::ObjectPtr> freed_;   // after the lock
};

bool Fetches::publish(Fill& fill, FetchResult const& result) { return Publication(*this, fill, result).run(); }

Publication::Publication(Fetches& fetches, Fill& fill, FetchResult const& result)
    : memory_(fetches.memory_), disk_(fetches.disk_), supersession_(fetches.supersession_), fill_(fill), result_(result) {
    auto const& [object, vary, variant, from, marker, on_disk] = result;
    to_disk_ = disk_ && is_fetched() && !fill.off_disk_;
    // An object in memory whose body is only on disk would fail when the disk evicts the body.
    to_memory_ = object && object->charged() && (!object->body() || object->body()->is_resident());
    // A 206 without a known position cannot be stored.
    storable_ = object && (to_memory_ || to_disk_) && !vary.star && object->status() != 206;
    names_ = http::to_string(vary);
    if (!vary.empty()) variant_key_ = variant_text(fill.key(), variant);
    whole_ = vary.empty() ? fill.key() : variant_key_;
    if (!storable_) return;
    incomplete_ = is_incomplete(*object);
    if (incomplete_ || to_disk_) parts_key_ = parts_text(whole_);
    key_ = incomplete_ ? parts_key_ : whole_;
    of_key_ = vary.empty() && !incomplete_ ? fill.primary() : memory_.fingerprint_of(key_);
    // If memory evicted the marker meanwhile, Vary is unchanged: the variants on disk stay valid.
    marked_on_disk_ = fill.marker_ && fill.marker_->head() == names_;
    if (!vary.empty()) marker_ = make_marker(marked_on_disk_ ? fill.marker_->sequence() : marker);
    storable_ = vary.empty() || marker_;
}

store::ObjectPtr Publication::make_marker(std::uint64_t sequence) const {
    store::Object::Parts parts;
    parts.kind = store::Object::Kind::vary_marker;
    parts.key = fill_.key();
    parts.head = names_;
    parts.sequence = sequence;
    return memory_.make_object(parts, fill_.primary());
}

bool Publication::run() {
    auto const primary = fill_.primary();
    auto& shard = memory_.shard(primary);
    MutexLock const lock(shard.mutex);
    bool const admitted = admit(shard);
    if (admitted) put_in_memory(shard);
    bool const kept_on_disk = admitted && disk_ && is_fetched() && put_on_disk();
    if (admitted && is_fetched()) supersession_.note_change_on_disk(shard, primary);
    if (admitted && is_fetched()) Supersession::detach_older(shard, newcomer());
    shard.remove_fill(fill_);
    if (!admitted) return false;
    memory_.settle(shard, primary);
    return to_memory_ || kept_on_disk;
}

/// If it may not be published, a client received it nevertheless, so older objects are removed.
bool Publication::admit(Shard& shard) {
    auto const& object = result_.object;
    bool const is_outdated = object && is_fetched() && memory_.invalidations.judge_newcomer(*object, fill_.asked());
    if (is_outdated) fill_.in_shard(shard.mutex).stored = false;
    // The fill leaves the shard; the last one ends the URL's history. So the fill itself reports the change to the
    // reader.
    if (!is_fetched() && supersession_.is_overtaken(shard, fill_)) fill_.in_shard(shard.mutex).stored = false;
    if (!Supersession::may_store(shard, fill_)) return false;
    // The variants of the marker on disk have been superseded.
    if (marked_on_disk_ && Supersession::is_unmarked(shard, fill_)) storable_ = false;
    bool const supersedes = object && is_fetched() && !result_.vary.star;
    // A 304 may have changed Vary: an object under a key other than its own would be unreachable.
    bool const is_found = storable_ && object->key() == key_;
    if (storable_ && !is_found) return false;
    if (is_found) find_marker(shard);
    if (is_found && !has_newer(shard)) return true;
    if (supersedes) supersession_.drop_older(shard, newcomer(), freed_);
    return false;
}

void Publication::find_marker(Shard const& shard) {
    at_primary_ = shard.find(fill_.primary(), fill_.key());
    same_vary_ = marker_ && is_marker_of(at_primary_.object, marker_->head());
}

/// The stored whole of parts, or the stored parts of a whole.
Shard::Found Publication::find_other(Shard const& shard) const {
    if (incomplete_) return memory_.find(shard, whole_);
    return shard.has_parts() ? memory_.find(shard, parts_text(whole_)) : Shard::Found();
}

/// True if a stored object, or a response already sent, is newer.
bool Publication::has_newer(Shard const& shard) const {
    auto const& object = *result_.object;
    auto is_newer = [&](Shard::Found there) { return there && there.object->sequence() > object.sequence(); };
    if (is_newer(shard.find(of_key_, key_))) return true;
    if (!same_vary_ && is_newer(at_primary_)) return true;
    if (is_fetched() && Supersession::contradicts_told(shard, newcomer())) return true;
    if (is_fetched() && Supersession::contradicts_given(shard, newcomer())) return true;
    if (grows_newer(shard)) return true;
    // The whole is preferred to its own parts, whichever began first.
    auto const other = find_other(shard);
    if (!other) return false;
    if (incomplete_) return is_newer(other) || outranks_parts(*other.object, object, wall_now());
    return is_newer(other) && !is_same_representation(*other.object, object, wall_now());
}

/// True if readers already have bytes of a newer response, other than of a part only.
bool Publication::grows_newer(Shard const& shard) const {
    auto const& object = *result_.object;
    return std::ranges::any_of(shard.fills(fill_.primary()), [&](FillPtr const& other) {
        auto const view = other->view();
        return view.phase == FillView::Phase::body && view.object->status() != 206 && view.object->key() == object.key() &&
               view.object->sequence() > object.sequence();
    });
}

void Publication::put_in_memory(Shard& shard) {
    auto const primary = fill_.primary();
    if (to_memory_ && result_.object->body() && result_.object->body()->source()) result_.object->body()->source()->let_go();
    if (!incomplete_) shard.clear_hit_for_pass(primary);   // parts say nothing about the whole
    if (!same_vary_) {
        shard.drop_variants(primary, freed_);
        if (marker_) free(shard.put(primary, marker_));
        if (marker_) free(memory_.drop_parts(shard, fill_.key(), policy::Left::replaced));
    }
    auto const other = find_other(shard);
    if (other) free(shard.remove(other.slot, policy::Left::replaced));
    auto const there = shard.find(of_key_, key_);
    if (there && to_memory_ && fill_.stale().get() == there.object)
        free(shard.freshen(there.slot, result_.object));
    else if (to_memory_)
        free(shard.put(of_key_, result_.object));
    else if (there)
        free(shard.remove(there.slot, policy::Left::replaced));
    if (marker_ && to_memory_) free(shard.add_variant(primary, of_key_));
}

/// True when it is stored on disk. The marker is stored even if the variant is not: a variant demoted from memory
/// later needs it.
bool Publication::put_on_disk() {
    auto const& url = fill_.key();
    bool const marked = same_vary_ || (marked_on_disk_ && !at_primary_);
    if (marker_ && (!marked || !disk_.may_have(url))) {
        disk_.store(same_vary_ ? at_primary_.object->parts() : marker_->parts());
        if (!marked) disk_.forget(parts_text(url));
    }
    return to_disk_ && disk_.keep(*result_.object, incomplete_ ? whole_ : parts_key_, result_.on_disk);
}

}   // namespace garner::cache
