#include "store/disk_body.hpp"

#include <algorithm>
#include <utility>

namespace garner::store::disk {

namespace {

/// In order, apart from each other or not, and within the body.
bool are_sound(std::vector<Body::Span> const& spans, Bytes length) {
    Bytes reached = 0;
    for (auto const& span : spans) {
        if (span.first < reached || span.last < span.first || span.last >= length) return false;
        reached = span.last + 1;
    }
    return true;
}

}  // namespace

/// Where there is none: one behind the offset.
Body::Span PieceSource::span_at(Bytes offset) const {
    if (spans_.empty()) return {0, until() - 1};
    auto const at = std::ranges::lower_bound(spans_, offset, {}, &Body::Span::last);
    return at == spans_.end() ? Body::Span{UINT64_MAX, UINT64_MAX} : *at;
}

std::optional<Body::Span> PieceSource::piece_at(Bytes offset) const {
    if (offset >= until()) return std::nullopt;
    auto const span = span_at(offset);
    if (offset < span.first) return std::nullopt;
    auto const first = offset - (offset - span.first) % piece_;
    return Body::Span{first, std::min(first + piece_ - 1, span.last)};
}

net::awaitable<bool> PieceSource::open(net::Executor executor) {
    opened_at_ = span_at(0).first;
    opened_ = co_await load(opened_at_, executor);
    co_return !opened_.bytes.empty();
}

/// Once: what lies in memory from then on is its reader's.
Loaded PieceSource::take_opened(Bytes offset) {
    std::lock_guard const lock(mutex_);
    bool const is_it = offset >= opened_at_ && offset - opened_at_ < opened_.bytes.size();
    if (!is_it) return {};
    auto taken = std::exchange(opened_, {});
    taken.bytes.remove_prefix(offset - opened_at_);
    return taken;
}

net::awaitable<Loaded> PieceSource::load(Bytes offset, net::Executor executor) {
    auto loaded = take_opened(offset);
    if (loaded.owner) co_return loaded;
    auto const piece = piece_at(offset);
    if (!piece) co_return loaded;
    auto read = co_await core_.read(hash_of(piece->first), executor);
    if (!read) co_return loaded;
    auto const& [head, key, meta, body] = read.record;
    bool const is_it = head.kind == RecordKind::piece && head.sequence == number_ && head.first == piece->first &&
                       body.size() == piece->last - piece->first + 1;
    if (!is_it) co_return loaded;
    loaded.bytes = body.substr(offset - piece->first);
    loaded.owner = std::move(read.owner);
    co_return loaded;
}

bool PieceSource::is_whole() const {
    auto const whole = [&](Body::Span span) {
        for (auto at = span.first; at <= span.last; at += piece_)
            if (!core_.has(hash_of(at))) return false;
        return true;
    };
    if (spans_.empty()) return until() > 0 && whole({0, until() - 1});
    return std::ranges::all_of(spans_, whole);
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
        parts.bytes = record.body;
        return Object::make(parts, nullptr);
    }
    std::vector<Body::Span> spans;
    for (auto const& span : meta->spans) spans.push_back({span.first, span.last});
    if (meta->length == 0 || !are_sound(spans, meta->length)) return nullptr;
    auto source = std::make_shared<PieceSource>(core, meta->body, meta->length, spans);
    if (!source->is_whole()) return nullptr;
    if (spans.empty()) spans.push_back({0, meta->length - 1});
    parts.body = BodyPtr(new Body(meta->length, std::move(spans), std::move(source)));
    return Object::make(parts, nullptr);
}

}  // namespace garner::store::disk
