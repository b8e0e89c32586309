#include "store/disk_body.hpp"

#include <algorithm>
#include <utility>

namespace garner::store::disk {

namespace {

/// True if the extents are in order, without overlaps, and within the body.
bool are_sound(std::vector<Extent> const& extents, Bytes length) {
    Bytes reached = 0;
    for (auto const& extent : extents) {
        bool const in_order = extent.first >= reached && extent.last >= extent.first && extent.last < length;
        if (!in_order || extent.origin > extent.first || extent.body == 0) return false;
        reached = extent.last + 1;
    }
    return true;
}

std::vector<Body::Span> spans_of(std::vector<Extent> const& extents) {
    std::vector<Body::Span> spans;
    for (auto const& extent : extents) {
        if (!spans.empty() && spans.back().last + 1 == extent.first)
            spans.back().last = extent.last;
        else
            spans.push_back({extent.first, extent.last});
    }
    return spans;
}

}   // namespace

std::vector<Extent> fill_gaps(std::vector<Extent> const& extents, std::vector<Extent> const& more) {
    auto all = extents;
    for (auto const& extent : more) {
        auto rest = extent;
        bool is_left = true;
        for (auto const& known : extents) {
            if (known.last < rest.first) continue;
            if (known.first > rest.last) break;
            if (known.first > rest.first) all.push_back({rest.first, known.first - 1, rest.body, rest.origin});
            is_left = known.last < rest.last;
            if (!is_left) break;
            rest.first = known.last + 1;
        }
        if (is_left) all.push_back(rest);
    }
    std::ranges::sort(all, {}, &Extent::first);
    return all;
}

std::shared_ptr<Core> StoreOfSource::lock() const {
    if (!is_shared_) return {std::shared_ptr<void>(), core_};
    auto owner = owner_.lock();
    if (!owner) return nullptr;
    return {std::move(owner), core_};
}

void StoreOfSource::let_go() {
    std::shared_ptr<void const> kept;   // released without the lock
    MutexLock const lock(mutex_);
    kept.swap(kept_);
}

std::vector<Extent> PieceSource::extents() const {
    if (number_ == 0) return extents_;
    auto const until = this->until();
    return until == 0 ? std::vector<Extent>{} : std::vector<Extent>{{0, until - 1, number_, 0}};
}

std::optional<Extent> PieceSource::extent_at(Bytes offset) const {
    auto const until = this->until();
    if (offset >= until) return std::nullopt;
    if (number_ != 0) return Extent{0, until - 1, number_, 0};
    auto const at = std::ranges::lower_bound(extents_, offset, {}, &Extent::last);
    if (at == extents_.end() || at->first > offset) return std::nullopt;
    return *at;
}

std::shared_ptr<BodySource> PieceSource::as_part(Bytes first, Bytes length) const {
    auto const core = store_.lock();
    if (!core) return nullptr;
    auto moved = extents();
    for (auto& extent : moved) {
        extent.first += first;
        extent.last += first;
        extent.origin += first;
    }
    return std::make_shared<PieceSource>(*core, length, std::move(moved));
}

std::shared_ptr<BodySource> PieceSource::joined_with(BodySource const& other) const {
    auto const* known = dynamic_cast<PieceSource const*>(&other);
    auto const core = store_.lock();
    if (!core || !known || !known->is_of(*core)) return nullptr;
    auto all = fill_gaps(known->extents(), extents());
    if (all.size() > extents_max) return nullptr;
    return std::make_shared<PieceSource>(*core, until(), std::move(all));
}

bool PieceSource::has(Bytes first, Bytes last) const {
    auto const spans = spans_of(extents());
    return std::ranges::any_of(spans, [&](Body::Span span) { return span.first <= first && last <= span.last; });
}

net::awaitable<bool> PieceSource::open(net::Executor executor) {
    Bytes const at = number_ == 0 && !extents_.empty() ? extents_.front().first : 0;
    auto loaded = co_await load(at, executor);
    bool const is_there = !loaded.bytes.empty();
    keep_opened(at, std::move(loaded));
    co_return is_there;
}

void PieceSource::keep_opened(Bytes offset, Loaded loaded) {
    MutexLock const lock(mutex_);
    opened_at_ = offset;
    opened_ = std::move(loaded);
}

/// Works once: the caller then owns the loaded memory.
Loaded PieceSource::take_opened(Bytes offset) {
    MutexLock const lock(mutex_);
    bool const is_it = offset >= opened_at_ && offset - opened_at_ < opened_.bytes.size();
    if (!is_it) return {};
    auto taken = std::exchange(opened_, {});
    taken.bytes.remove_prefix(offset - opened_at_);
    return taken;
}

net::awaitable<Loaded> PieceSource::load(Bytes offset, net::Executor executor) {
    auto loaded = take_opened(offset);
    if (loaded.owner) co_return loaded;
    auto const extent = extent_at(offset);
    auto const core = store_.lock();
    if (!extent || !core) co_return loaded;
    auto const piece = piece_of(*extent, offset);
    auto const last = std::min(piece + piece_ - 1, extent->last);
    auto read = co_await core->read(hash_of_piece(extent->body, piece - extent->origin, core->seed()), executor);
    if (!read) co_return loaded;
    auto const& [head, key, meta, body] = read.record;
    // The piece may be longer: another fill may have had the end of it already.
    bool const is_it = head.kind == RecordKind::piece && head.sequence == extent->body && head.first == piece - extent->origin &&
                       body.size() >= last - piece + 1;
    if (!is_it) co_return loaded;
    loaded.bytes = body.substr(offset - piece, last - offset + 1);
    loaded.owner = std::move(read.owner);
    co_return loaded;
}

bool PieceSource::is_whole() const {
    auto const core = store_.lock();
    if (!core) return false;
    auto const has_all = [&](Extent const& extent) {
        for (auto at = piece_of(extent, extent.first); at <= extent.last; at += piece_)
            if (!core->has(hash_of_piece(extent.body, at - extent.origin, core->seed()))) return false;
        return true;
    };
    auto const all = extents();
    return !all.empty() && std::ranges::all_of(all, has_all);
}

ObjectPtr object_of(Core& core, ReadRecord const& read) {
    auto const& record = read.record;
    auto text = record.meta;
    auto meta = decode_meta(text);
    if (record.head.kind != RecordKind::object || !meta) return nullptr;
    Object::Parts parts;
    parts.kind = meta->kind;
    parts.key = record.key;
    parts.head = text;
    parts.terms = meta->terms;
    parts.status = meta->status;
    parts.sequence = record.head.sequence;
    parts.source = meta->source;
    if (meta->body == 0) {
        if (record.body.size() > Object::dense_body_max)
            parts.body = BodyPtr(new Body({read.owner, record.body}));
        else
            parts.bytes = record.body;
        return Object::make(parts, nullptr);
    }
    auto extents = meta->spans;
    if (extents.empty() && meta->length > 0) extents.push_back({0, meta->length - 1, meta->body, 0});
    if (extents.empty() || !are_sound(extents, meta->length)) return nullptr;
    auto spans = spans_of(extents);
    auto source = std::make_shared<PieceSource>(core, meta->length, std::move(extents));
    if (!source->is_whole()) return nullptr;
    parts.body = BodyPtr(new Body(meta->length, std::move(spans), std::move(source)));
    return Object::make(parts, nullptr);
}

}   // namespace garner::store::disk
