#include "cache/restoration.hpp"

#include <algorithm>
#include <utility>

namespace garner::cache {

namespace {

constexpr Bytes reserve_part = 64;   // denominator

constexpr std::uint64_t ranked = std::uint64_t{1} << 63;   // behind all objects without a rank

/// Stale objects without a validator would be fetched again whole.
bool is_useful(store::Object::Parts const& parts) {
    if (parts.kind == store::Object::Kind::vary_marker) return true;
    auto const reuse = http::may_reuse(parts.terms, {}, wall_now()).reuse;
    return reuse == http::Reuse::fresh || reuse == http::Reuse::stale_while_revalidate || parts.terms.has_validator;
}

}   // namespace

Restoration::Restoration(Cache& cache, std::uint64_t former)
    : memory_(cache.memory()), wanted_(cache.wanted), begin_(begin_behind(cache, former)),
      reserve_(memory_.budget().capacity() / reserve_part), restored_(memory_.shards_.size()) {
    for (auto const& shard : memory_.shards_) {
        MutexLock const lock(shard->mutex);
        shard->touched.begin();
    }
}

std::uint64_t Restoration::begin_behind(Cache& cache, std::uint64_t former) {
    cache.numbers.begin_behind(former);
    return cache.numbers.last();
}

Restoration::~Restoration() {
    end_all(memory_);
    for (std::size_t i = 0; i < restored_.size(); ++i)
        if (!restored_[i].empty()) memory_.renew_policy(i, by_value(restored_[i]));
}

std::vector<Fingerprint> Restoration::by_value(std::vector<Restored>& restored) {
    std::ranges::stable_sort(restored, {}, &Restored::order);
    std::vector<Fingerprint> keys;
    for (auto const& one : restored) keys.push_back(one.key);
    return keys;
}

void Restoration::end_all(MemoryTier& memory) {
    for (auto const& shard : memory.shards_) {
        MutexLock const lock(shard->mutex);
        shard->touched.end();
    }
}

void Restoration::take(store::disk::Record const& record) {
    if (record.head.kind == store::disk::RecordKind::piece) return take_piece(record);
    growing_.reset();
    if (record.head.kind == store::disk::RecordKind::object) return take_object(record);
    if (record.head.kind == store::disk::RecordKind::filler) rank_ = record.head.sequence & ~ranked;
    if (record.head.kind == store::disk::RecordKind::tombstone) wanted_.answer(record.key, nullptr);
}

void Restoration::take_object(store::disk::Record const& record) {
    auto const rank = std::exchange(rank_, std::nullopt);
    order_ = rank ? ranked | *rank : arrived_++;
    auto head = record.meta;
    auto const meta = store::disk::decode_meta(head);
    if (!meta || !meta->spans.empty() || full_) return;
    store::Object::Parts parts;
    parts.kind = meta->kind;
    parts.key = record.key;
    parts.head = head;
    parts.terms = meta->terms;
    parts.status = meta->status;
    parts.sequence = std::min(record.head.sequence, begin_);
    parts.source = meta->source;
    if (!is_useful(parts)) {
        ++figures_.useless;
        return;
    }
    if (meta->body != 0) return begin_body(parts, *meta);
    if (record.body.size() <= store::Object::dense_body_max)
        parts.bytes = record.body;
    else if (parts.body = body_of(record.body); !parts.body)
        return;
    add(parts);
}

// ---- bodies ----

void Restoration::begin_body(store::Object::Parts const& parts, store::disk::ObjectMeta const& meta) {
    if (meta.length > memory_.object_max()) return;
    growing_ = Growing{.key = std::string(parts.key),
                       .head = std::string(parts.head),
                       .meta = meta,
                       .sequence = parts.sequence,
                       .body = memory_.make_body(meta.length)};
}

void Restoration::take_piece(store::disk::Record const& piece) {
    if (!growing_) return;
    auto& body = *growing_->body;
    bool const is_next = piece.head.sequence == growing_->meta.body && piece.head.first == body.size() &&
                         piece.body.size() <= growing_->meta.length - body.size();
    if (!is_next || !append(body, piece.body)) return growing_.reset();
    if (body.size() < growing_->meta.length) return;
    body.finish(store::Body::State::complete);
    auto const whole = std::exchange(growing_, std::nullopt);
    store::Object::Parts parts;
    parts.kind = whole->meta.kind;
    parts.key = whole->key;
    parts.head = whole->head;
    parts.body = whole->body;
    parts.terms = whole->meta.terms;
    parts.status = whole->meta.status;
    parts.sequence = whole->sequence;
    parts.source = whole->meta.source;
    add(parts);
}

/// nullptr when memory has no room.
store::BodyPtr Restoration::body_of(std::string_view bytes) {
    auto body = memory_.make_body(bytes.size());
    if (!append(*body, bytes)) return nullptr;
    body->finish(store::Body::State::complete);
    return body;
}

bool Restoration::append(store::Body& body, std::string_view bytes) {
    return body.append(bytes, [this](Bytes wanted) { return take_room(wanted); });
}

/// For a growing body.
bool Restoration::take_room(Bytes bytes) {
    auto& budget = memory_.budget();
    full_ = full_ || budget.used() + bytes + reserve_ > budget.capacity() || !budget.reserve(bytes);
    if (full_) return false;
    if (budget.reserve_filling(bytes)) return true;
    budget.release(bytes);
    return false;   // requests receive large bodies
}

// ---- objects ----

void Restoration::add(store::Object::Parts const& parts) {
    if (give(parts)) return;
    auto const cost = store::Object::cost_of(parts);
    auto& budget = memory_.budget();
    full_ = full_ || budget.used() + cost + reserve_ > budget.capacity() || !budget.reserve(cost);
    if (full_) return;
    auto object = store::Object::make(parts, &budget);
    auto const charged = object->cost();
    if (!put(parts, std::move(object))) {
        ++figures_.overtaken;
        return;
    }
    ++figures_.added;
    figures_.bytes += charged;
}

/// A request that waits for it puts it into memory, if nothing has changed since.
bool Restoration::give(store::Object::Parts const& parts) {
    if (!wanted_.waits_for(parts.key)) return false;
    wanted_.answer(parts.key, store::Object::make(parts, nullptr));
    ++figures_.added;
    return true;
}

/// Fetches that began before are of other URLs.
bool Restoration::put(store::Object::Parts const& parts, store::ObjectPtr object) {
    auto const url = url_of(parts.key);
    auto const primary = memory_.fingerprint_of(url), of_key = memory_.fingerprint_of(parts.key);
    bool const is_variant = url.size() < parts.key.size();
    store::ObjectPtr gone;
    auto& shard = memory_.shard(primary);
    MutexLock const lock(shard.mutex);
    if (!shard.touched.may_restore(primary) || shard.find(of_key, parts.key)) return false;
    if (memory_.invalidations.judge(*object).is_invalidated()) return false;
    auto const* const marker = shard.find(primary, url).object;
    if (is_variant && (!is_marker(marker) || marker->sequence() > parts.sequence)) return false;
    shard.put(of_key, std::move(object));
    if (is_variant) gone = shard.add_variant(primary, of_key);
    restored_[memory_.number(primary)].push_back({order_, of_key});
    memory_.note_bytes(shard, primary);
    full_ = full_ || !memory_.charge_metadata(shard);
    return true;
}

}   // namespace garner::cache
