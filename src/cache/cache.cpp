#include "cache/cache.hpp"

#include <algorithm>
#include <bit>
#include <random>

#include "cache/partition.hpp"
#include "cache/parts.hpp"
#include "policy/policies.hpp"

namespace garner::cache {

namespace {

std::uint64_t random_seed() {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
}

/// An object of object_max must be able to grow, whatever the share.
Bytes filling_capacity(Options const& options) {
    auto share = static_cast<Bytes>(static_cast<double>(options.size) * options.fill_share);
    return std::min(options.size, std::max(share, options.object_max));
}

// In less than this an index and its marks would take more than a few per cent.
constexpr Bytes least_share = 256 * KiB;

unsigned shards_of(Options const& options) {
    return static_cast<unsigned>(std::clamp<Bytes>(std::bit_floor(options.size / least_share), 1, options.shards));
}

// Of memory.size: a failure is worth less than what could be stored in its place.
std::size_t failures_of(Options const& options) {
    constexpr Bytes part = 64, one_with_words = 384;
    return std::min<Bytes>(NegativeCache::entries_default, options.size / part / one_with_words);
}

std::unique_ptr<policy::ReplacementPolicy> make_policy(Options const& options, std::size_t shards, std::uint64_t seed) {
    policy::Options of_policy;
    of_policy.capacity = options.size / shards;
    of_policy.seed = seed;
    auto made = policy::make(options.policy, of_policy);
    check(made != nullptr);
    return made;
}

}  // namespace

std::string variant_text(std::string_view key, std::string_view variant) {
    std::string text(key);
    text += '\x01';   // in no URI
    text += variant;
    return text;
}

Bytes least_size(Options const& options) {
    constexpr Bytes part = 2;   // half of it for objects
    auto tried = options;
    for (tried.size = std::max<Bytes>(tried.size, KiB);; tried.size *= 2) {
        auto const shards = shards_of(tried);
        Shard const one(make_policy(tried, shards, 1), tried.variants_per_url);
        if (part * shards * one.metadata_bytes() <= tried.size) return tried.size;
    }
}

Cache::Cache(Options options)
    : seed_(options.seed ? options.seed : random_seed()), object_max_(options.object_max),
      budget_(options.size, filling_capacity(options)), policy_(options.policy), failures_(failures_of(options), &budget_) {
    check(options.shards > 0);
    auto const shards = shards_of(options);
    for (unsigned i = 0; i < shards; ++i) {
        shards_.push_back(std::make_unique<Shard>(make_policy(options, shards, seed_ + i), options.variants_per_url));
        charge_metadata(*shards_.back());
    }
    shard_bytes_ = std::make_unique<std::atomic<Bytes>[]>(shards);
}

Cache::~Cache() = default;

// ---- lookup ----

Lookup Cache::lookup(Key const& key, http::RequestHead const& request, http::RequestCacheControl const& control,
                     WallTime now, Collapse collapse) {
    auto& shard = this->shard(key.fingerprint);
    std::lock_guard lock(shard.mutex);
    auto const [found, marker, variant] = select(shard, key, request);
    shard.policy().requested(variant.empty() ? key.fingerprint : fingerprint(variant, seed_));
    // A use of a variant is one of its marker: were that the oldest, it would take them all with it.
    if (marker) shard.policy().used_along(marker.slot, marker.object->cost());
    if (!found) return lookup_absent(shard, key, request, now, collapse, variant);
    // Whose credentials are wrong shall not speak for the others.
    bool may_refresh = !request.fields.has(http::Name::authorization);
    return answer_from(shard, found, key, control, now, collapse, may_refresh);
}

Cache::Selected Cache::select(Shard const& shard, Key const& key, http::RequestHead const& request) const {
    auto found = shard.find(key.fingerprint, key.text);
    if (!found || found.object->kind() != store::Object::Kind::vary_marker) return {found, {}, {}};
    auto variant = variant_text(key.text, http::variant_key(found.object->head(), request.fields));
    auto selected = shard.find(fingerprint(variant, seed_), variant);
    return {selected, found, std::move(variant)};
}

Lookup::Kind Cache::kind_of(http::Reuse reuse) {
    switch (reuse) {
    case http::Reuse::fresh:
    case http::Reuse::stale_allowed: return Lookup::Kind::fresh;
    case http::Reuse::stale_while_revalidate: return Lookup::Kind::refresh;
    case http::Reuse::revalidate: break;
    }
    return Lookup::Kind::stale;
}

/// The revalidation that others may wait for.
FillPtr Cache::validation_of(Shard const& shard, Key const& key, store::ObjectPtr const& stale) {
    auto [first, last] = shard.fills.equal_range(key.fingerprint);
    for (; first != last; ++first) {
        auto const& fill = first->second;
        if (fill->leads_others_ && fill->key() == key.text && fill->stale() == stale) return fill;
    }
    return nullptr;
}

/// The fetch of what is not stored that this request may wait for.
FillPtr Cache::fetch_of(Shard const& shard, Key const& key, http::RequestHead const& request, std::string_view variant) {
    auto [first, last] = shard.fills.equal_range(key.fingerprint);
    for (; first != last; ++first) {
        auto const& fill = first->second;
        if (!fill->leads_others_ || fill->stale() || fill->key() != key.text) continue;
        // Before the head the URL's last Vary is the best guess at whose answer this will be.
        bool head = fill->view().phase == FillView::Phase::head;
        if (head ? fill->sought_ == variant : fill->selects(request.fields)) return fill;
    }
    return nullptr;
}

Lookup Cache::answer_from(Shard& shard, Shard::Found found, Key const& key, http::RequestCacheControl const& control,
                          WallTime now, Collapse collapse, bool may_refresh) {
    Lookup result;
    shard.policy().hit(found.slot, found.object->cost());
    result.object = store::ObjectPtr(found.object);
    result.answer = http::may_reuse(found.object->terms(), control, now);
    result.kind = kind_of(result.answer.reuse);
    if (result.kind == Lookup::Kind::refresh && may_refresh) lead_refresh(result, shard, key, now);
    if (result.kind != Lookup::Kind::stale || collapse == Collapse::alone) return result;
    bool shares = !shard.passes(key.fingerprint, unix_seconds(now));
    if (shares) result.follow = validation_of(shard, key, result.object);
    if (!result.follow) result.lead = start_fill(shard, key, result.object, shares);
    return result;
}

/// One revalidation at a time for one object, whoever asks and in whatever way.
void Cache::lead_refresh(Lookup& result, Shard& shard, Key const& key, WallTime now) {
    if (shard.refresh_pauses(key.fingerprint, unix_seconds(now))) return;
    auto [first, last] = shard.fills.equal_range(key.fingerprint);
    for (; first != last; ++first)
        if (first->second->stale() == result.object) return;
    result.lead = start_fill(shard, key, result.object, !shard.passes(key.fingerprint, unix_seconds(now)));
    result.lead.fill()->refreshes_ = true;
}

Lookup Cache::lookup_absent(Shard& shard, Key const& key, http::RequestHead const& request, WallTime now,
                            Collapse collapse, std::string_view variant) {
    Lookup result;
    result.variant_missing = !variant.empty();
    if (collapse == Collapse::alone) return result;
    if (shard.passes(key.fingerprint, unix_seconds(now))) {
        result.kind = Lookup::Kind::pass;
        result.lead = start_fill(shard, key, nullptr, false);
        return result;
    }
    result.follow = fetch_of(shard, key, request, variant);
    if (result.follow) {
        result.kind = Lookup::Kind::busy;
        return result;
    }
    result.lead = start_fill(shard, key, nullptr, true);
    result.lead.fill()->sought_ = variant;
    return result;
}

Shard::Found Cache::find_parts(Shard const& shard, Key const& key, http::RequestHead const& request) const {
    auto const selected = select(shard, key, request);
    auto const text = parts_text(selected.marker ? std::string_view(selected.variant) : key.text);
    return shard.find(fingerprint(text, seed_), text);
}

/// They are validated before they are sent, not meanwhile.
http::ReuseAnswer Cache::may_reuse_parts(store::Object const& parts, http::RequestCacheControl const& control,
                                         WallTime now) {
    auto terms = parts.terms();
    terms.stale_while_revalidate = 0;
    return http::may_reuse(terms, control, now);
}

Lookup Cache::lookup_parts(Key const& key, http::RequestHead const& request, http::RequestCacheControl const& control,
                           WallTime now) {
    Lookup result;
    auto& shard = this->shard(key.fingerprint);
    std::lock_guard lock(shard.mutex);
    auto found = find_parts(shard, key, request);
    if (!found) return result;
    shard.policy().requested(fingerprint(found.object->key(), seed_));
    if (!can_answer(*found.object, request, now)) {
        result.part_missing = true;
        return result;
    }
    shard.policy().hit(found.slot, found.object->cost());
    result.object = store::ObjectPtr(found.object);
    result.answer = may_reuse_parts(*found.object, control, now);
    result.kind = kind_of(result.answer.reuse);
    return result;
}

store::ObjectPtr Cache::parts(Key const& key, http::RequestHead const& request) const {
    auto& shard = this->shard(key.fingerprint);
    std::lock_guard lock(shard.mutex);
    return store::ObjectPtr(find_parts(shard, key, request).object);
}

store::ObjectPtr Cache::find(std::string_view key, Fingerprint primary) const {
    auto& shard = this->shard(primary);
    std::lock_guard lock(shard.mutex);
    return store::ObjectPtr(shard.find(fingerprint(key, seed_), key).object);
}

Peek Cache::peek(Key const& key, http::RequestHead const& request, http::RequestCacheControl const& control, WallTime now,
                 Collapse collapse) const {
    Peek peek;
    peek.failure = failures_.peek(key, steady_now());
    auto& shard = this->shard(key.fingerprint);
    std::lock_guard lock(shard.mutex);
    peek.passes_until = shard.passes_until(key.fingerprint);
    bool const shares = collapse != Collapse::alone && !shard.passes(key.fingerprint, unix_seconds(now));
    auto const [found, marker, variant] = select(shard, key, request);
    if (marker) {
        peek.vary = marker.object->head();
        peek.selected = http::variant_key(peek.vary, request.fields);
        auto const prefix = variant_text(key.text, {}).size();
        for (auto const* stored : shard.variants_of(key.fingerprint))
            if (!is_incomplete(*stored)) peek.variants.emplace_back(stored->key().substr(std::min(prefix, stored->key().size())));
    }
    auto [first, last] = shard.fills.equal_range(key.fingerprint);
    for (; first != last; ++first)
        if (first->second->key() == key.text) peek.fetches.push_back(first->second);
    if (found) {
        peek.object = store::ObjectPtr(found.object);
        peek.answer = http::may_reuse(found.object->terms(), control, now);
        peek.kind = kind_of(peek.answer.reuse);
        if (peek.kind == Lookup::Kind::stale && shares) peek.follow = validation_of(shard, key, peek.object);
        return peek;
    }
    if (shares) peek.follow = fetch_of(shard, key, request, variant);
    if (peek.follow) peek.kind = Lookup::Kind::busy;
    if (auto const parts = find_parts(shard, key, request)) {
        peek.parts = store::ObjectPtr(parts.object);
        peek.part_missing = request.fields.has(http::Name::range) && !peek.follow;
        if (peek.part_missing && can_answer(*parts.object, request, now)) {
            peek.part_missing = false;
            peek.object = peek.parts;
            peek.answer = may_reuse_parts(*parts.object, control, now);
            peek.kind = kind_of(peek.answer.reuse);
            return peek;
        }
    }
    if (!shares && collapse != Collapse::alone) peek.kind = Lookup::Kind::pass;
    return peek;
}

bool Cache::contains_fresh(Key const& key, http::RequestHead const& request, WallTime now) const {
    auto& shard = this->shard(key.fingerprint);
    std::lock_guard lock(shard.mutex);
    auto const found = select(shard, key, request).found;
    return found && http::may_reuse(found.object->terms(), {}, now).reuse == http::Reuse::fresh;
}

bool Cache::would_serve(Key const& key, WallTime now, milliseconds margin) const {
    http::RequestCacheControl fresh_for_longer;
    fresh_for_longer.min_fresh = static_cast<http::DeltaSeconds>(std::chrono::ceil<seconds>(margin).count());
    auto serves = [&](store::Object const* object) {
        bool const good = object->status() < 400 && object->status() != 206 && !is_incomplete(*object);
        return good && http::may_reuse(object->terms(), fresh_for_longer, now).reuse == http::Reuse::fresh;
    };
    auto& shard = this->shard(key.fingerprint);
    std::lock_guard lock(shard.mutex);
    auto const found = shard.find(key.fingerprint, key.text);
    if (!found) return disk_ && disk_->is_fresh_until(key.text, now + margin);
    if (found.object->kind() != store::Object::Kind::vary_marker) return serves(found.object);
    if (found.object->head() != "accept-encoding") return false;
    auto const variants = shard.variants_of(key.fingerprint);
    return std::any_of(variants.begin(), variants.end(), serves);
}

// ---- fills ----

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
    bool const to_disk = disk_ && came == Came::fetched && !fill.off_disk_;
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
    if (to_disk && is_over(shard, *object)) return false;
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
    if (to_disk && marker && (!marked || !disk_->may_have(primary.text))) {
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

bool Cache::purge(Key const& key, Fill const* but) {
    auto& shard = this->shard(key.fingerprint);
    std::vector<store::ObjectPtr> gone;
    bool found_fill = false;
    std::lock_guard lock(shard.mutex);
    bool known_failure = failures_.forget(key, steady_now());
    auto [first, last] = shard.fills.equal_range(key.fingerprint);
    while (first != last) {
        auto& fill = *first->second;
        if (fill.key() != key.text || &fill == but) {
            ++first;
            continue;
        }
        // Its followers read on; nothing that began before this moment is stored, and nobody joins it any more.
        fill.attached_ = false;
        found_fill = true;
        first = shard.fills.erase(first);
    }
    shard.drop_variants(key.fingerprint, gone);
    if (auto found = shard.find(key.fingerprint, key.text))
        gone.push_back(shard.remove(found.slot, policy::Left::purged));
    if (auto parts = drop_parts(shard, key, policy::Left::purged)) gone.push_back(std::move(parts));
    note_bytes(shard, key.fingerprint);
    bool const on_disk = forget_on_disk(key);
    return !gone.empty() || found_fill || known_failure || on_disk;
}

bool Cache::purge_url(std::string_view url) {
    bool found = false;
    std::string text;
    for (auto const partition : partitions) {
        write_key_text(partition, url, text);
        found |= purge(key(text));
    }
    return found;
}

void Cache::forget(Key const& key, store::Object const& object) {
    auto& shard = this->shard(key.fingerprint);
    auto of_object = object.key() == key.text ? key.fingerprint : fingerprint(object.key(), seed_);
    store::ObjectPtr gone;
    std::lock_guard lock(shard.mutex);
    auto found = shard.find(of_object, object.key());
    overtake(shard, key);
    if (!found && disk_) disk_->forget(object.key());
    if (found.object != &object) return;
    gone = shard.remove(found.slot, policy::Left::purged);
    if (disk_) disk_->forget(gone->key());
    // A 304 that is still on its way must not bring it back.
    auto [first, last] = shard.fills.equal_range(key.fingerprint);
    for (; first != last; ++first)
        if (first->second->stale() == gone) first->second->attached_ = false;
    note_bytes(shard, key.fingerprint);
}

void Cache::remember_failure(Fill const& fill, Key const& key, FetchFailure const& failure, bool of_head_only,
                             NegativeTerms const& terms) {
    // Made before, since nothing may be evicted under the lock: it must be the same as where a purge detaches the fill.
    auto const most = failures_.most_growth(key, failure);
    if (!reserve(most, key.fingerprint)) return;
    budget_.release(most);
    auto& shard = this->shard(key.fingerprint);
    std::lock_guard lock(shard.mutex);
    if (fill.attached_) failures_.remember(key, failure, of_head_only, terms, steady_now());
}

bool Cache::walk(Walk& walk, std::vector<store::ObjectPtr>& into) const {
    if (walk.shard >= shards_.size()) return false;
    auto& shard = *shards_[walk.shard];
    std::lock_guard lock(shard.mutex);
    bool const more = shard.collect(walk.slot, walk_step, into);
    walk = more ? Walk{walk.shard, walk.slot + walk_step} : Walk{walk.shard + 1, 0};
    return walk.shard < shards_.size();
}

// ---- budget ----

bool Cache::admits(store::Object::Parts const& parts, Fingerprint primary, Bytes growing) {
    auto cost = store::Object::cost_of(parts) + growing;
    auto used = budget_.used();
    auto capacity = budget_.capacity();
    if (used + cost <= capacity) return true;
    auto of_key = fingerprint(parts.key, seed_);
    auto& shard = this->shard(primary);
    std::lock_guard lock(shard.mutex);
    // What takes the place of its like is no newcomer.
    if (shard.find(of_key, parts.key) || shard.policy().admits(of_key, cost, used + cost - capacity)) return true;
    not_admitted_.fetch_add(1, std::memory_order_relaxed);
    return false;
}

store::ObjectPtr Cache::make_object(store::Object::Parts parts, Fingerprint primary) {
    if (!reserve(store::Object::cost_of(parts), primary)) return nullptr;
    return store::Object::make(parts, &budget_);
}

store::BodyPtr Cache::make_body(std::optional<Bytes> expected) {
    return store::BodyPtr(new store::Body(budget_, expected));
}

std::span<char> Cache::room(store::Body& body, Fingerprint near) {
    return body.room([&](Bytes bytes) { return reserve_growing(bytes, near); });
}

bool Cache::reserve_growing(Bytes bytes, Fingerprint near) {
    if (!budget_.reserve_filling(bytes)) {
        refused_for_room_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    if (reserve(bytes, near)) return true;
    budget_.release_filling(bytes);
    return false;
}

bool Cache::reserve(Bytes bytes, Fingerprint near) {
    // What is evicted may stay pinned by its readers: past some multiple of the need, more evicting only hurts.
    auto patience = 4 * bytes + MiB;
    for (Bytes gone = 0; !budget_.reserve(bytes);) {
        auto before = budget_.used();
        if (bytes > budget_.capacity() || gone > patience || !evict_one(near)) {
            refused_for_room_.fetch_add(1, std::memory_order_relaxed);
            return false;
        }
        auto after = budget_.used();
        gone += before > after ? before - after : 4 * KiB;
    }
    return true;
}

void Cache::note_bytes(Shard& shard, Fingerprint primary) {
    shard_bytes_[number(primary)].store(shard.bytes(), std::memory_order_relaxed);
}

/// The end of what was done under a shard's lock: its index, policy or marks may have grown. What they took is charged
/// before anything else is; where that needs room, others leave for it.
void Cache::settle(std::unique_lock<std::mutex>& lock, Shard& shard, Fingerprint primary) {
    if (charge_metadata(shard)) return;
    auto const owed = shard.metadata_bytes() - shard.charged;
    lock.unlock();
    if (!reserve(owed, primary)) return;   // all is filling or pinned: the shard's next newcomer settles it
    lock.lock();
    shard.charged += owed;
    charge_metadata(shard);
}

/// Under the shard's lock. False, and nothing charged, when the budget has no room for what it has grown by.
bool Cache::charge_metadata(Shard& shard) {
    auto const bytes = shard.metadata_bytes();
    if (bytes > shard.charged && !budget_.reserve(bytes - shard.charged)) return false;
    if (bytes < shard.charged) budget_.release(shard.charged - bytes);
    shard.charged = bytes;
    return true;
}

/// The newcomer's own shard while it has more than its share, else the fullest.
std::size_t Cache::shard_to_shrink(Fingerprint near) const {
    auto bytes = [&](std::size_t i) { return shard_bytes_[i].load(std::memory_order_relaxed); };
    auto const own = number(near);
    auto fullest = own;
    Bytes total = 0;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        total += bytes(i);
        if (bytes(i) > bytes(fullest)) fullest = i;
    }
    return bytes(own) * shards_.size() >= total ? own : fullest;
}

bool Cache::evict_one(Fingerprint near) {
    // Others may empty the chosen shard first: then there is another.
    for (std::size_t tries = 0; tries < shards_.size(); ++tries) {
        auto index = shard_to_shrink(near);
        if (shard_bytes_[index].load(std::memory_order_relaxed) == 0) return false;
        if (evict_from(index)) return true;
    }
    return false;
}

/// Somebody has been given a newer response of its URL, which is not stored yet.
bool Cache::is_over(Shard const& shard, store::Object const& object) const {
    auto const url = object.key().substr(0, object.key().find_first_of("\x01\x02"));
    auto [first, last] = shard.fills.equal_range(fingerprint(url, seed_));
    return std::any_of(first, last, [&](auto const& entry) { return entry.second->newest_ > object.sequence(); });
}

bool Cache::evict_from(std::size_t index) {
    auto& shard = *shards_[index];
    std::vector<store::ObjectPtr> gone;
    std::lock_guard lock(shard.mutex);
    auto victim = shard.evict();
    if (!victim) return false;
    // Without its marker no variant would be found again.
    if (victim->kind() == store::Object::Kind::vary_marker)
        shard.drop_variants(fingerprint(victim->key(), seed_), gone);
    else if (disk_ && !is_over(shard, *victim))
        disk_->demote(*victim);
    gone.push_back(std::move(victim));
    shard_bytes_[index].store(shard.bytes(), std::memory_order_relaxed);
    evictions_.fetch_add(gone.size(), std::memory_order_relaxed);
    return true;
}

// ---- operation ----

Stats Cache::stats() const {
    Stats stats;
    stats.capacity = budget_.capacity();
    stats.used = budget_.used();
    stats.filling = budget_.filling();
    for (auto const& shard : shards_) {
        std::lock_guard lock(shard->mutex);
        stats.cached += shard->bytes();
        stats.objects += shard->objects();
        stats.fills += shard->fills.size();
        for (auto const& [primary, fill] : shard->fills) stats.followers += fill->followers();
        stats.metadata += shard->charged;
    }
    stats.metadata += failures_.bytes();
    {
        std::lock_guard lock(policy_mutex_);
        stats.policy = policy_;
    }
    // Taken one after the other while others work: the sum may be the larger one for a moment.
    stats.pinned = stats.used - std::min(stats.used, stats.cached + stats.filling + stats.metadata);
    stats.failures = failures_.size();
    stats.evictions = evictions_.load(std::memory_order_relaxed);
    stats.refused_for_room = refused_for_room_.load(std::memory_order_relaxed);
    stats.not_admitted = not_admitted_.load(std::memory_order_relaxed);
    return stats;
}

Bytes Cache::least_size() const {
    constexpr Bytes of_one = 32 * KiB;
    return shards_.size() > 1 ? shards_.size() * of_one : 0;
}

void Cache::reconfigure(Options const& options) {
    object_max_.store(options.object_max, std::memory_order_relaxed);
    bool const is_smaller = options.size < budget_.capacity();
    budget_.set_capacity(options.size, filling_capacity(options));
    bool other_policy;
    {
        std::lock_guard lock(policy_mutex_);
        other_policy = std::exchange(policy_, options.policy) != options.policy;
    }
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        auto made = other_policy ? make_policy(options, shards_.size(), seed_ + i) : nullptr;
        auto& shard = *shards_[i];
        std::lock_guard lock(shard.mutex);
        if (made)
            shard.set_policy(std::move(made));
        else
            shard.policy().set_capacity(options.size / shards_.size());
    }
    while (budget_.used() > budget_.capacity() && evict_one(0)) {
    }
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        auto made = is_smaller ? make_policy(options, shards_.size(), seed_ + i) : nullptr;
        std::unique_lock lock(shards_[i]->mutex);
        // Else the arrays of a large memory would fill a small one. Counts of use begin anew where most objects have left.
        if (made && shards_[i]->is_sparse()) shards_[i]->set_policy(std::move(made));
        settle(lock, *shards_[i], Fingerprint{i} << number_shift);
    }
}

}  // namespace garner::cache
