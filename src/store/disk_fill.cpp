#include "store/disk_fill.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "util/check.hpp"
#include "util/clock.hpp"

namespace garner::store::disk {

namespace {

using Views = std::vector<std::string_view>;

/// Views into memory; empty when a byte is missing. Those of a growing body are valid until its producer drops the
/// bytes.
Views views_of(Body const& body, Bytes first, Bytes bytes) {
    Views views;
    BodyReader reader(&body, first);
    std::array<std::string_view, 16> some;
    while (reader.offset() < first + bytes) {
        auto const count = reader.next(some, first + bytes - reader.offset());
        if (count == 0) return {};
        views.insert(views.end(), some.begin(), some.begin() + count);
        for (std::size_t i = 0; i < count; ++i) reader.advance(some[i].size());
    }
    return views;
}

/// `first` is relative to the piece number's own body, which begins at `origin` of this one.
NotStored append_piece(Core& core, std::uint64_t number, Body const& body, Bytes origin, Bytes first, Bytes bytes) {
    auto const views = views_of(body, origin + first, bytes);
    if (views.empty()) return NotStored::no_room;   // memory had to drop it
    RecordParts record;
    record.head.kind = RecordKind::piece;
    record.head.hash = hash_of_piece(number, first, core.seed());
    record.head.sequence = number;
    record.head.first = first;
    record.body = views;
    return core.append(record, Purpose::newcomer);
}

/// The freshness that the index alone may promise: no more than Cache::would_serve would.
std::uint8_t freshness_of(Object::Parts const& parts) {
    bool const may_promise = parts.kind == Object::Kind::response && parts.status < 400 && parts.status != 206 &&
                             !(parts.body && parts.body->has_gaps());
    if (!may_promise) return 0;
    auto const answer = http::may_reuse(parts.terms, {}, wall_now());
    return answer.reuse == http::Reuse::fresh ? Freshness::of(answer.ttl) : 0;
}

/// Appends the object's record. `meta`: the location of the body; `body`: its bytes, if they are in this record.
NotStored append_object(Core& core, Object::Parts const& parts, ObjectMeta meta, Views const& body) {
    meta.kind = parts.kind;
    meta.status = parts.status;
    meta.terms = parts.terms;
    meta.source = parts.source;
    auto const encoded = encode(meta);
    bool const is_alone = meta.body != 0 || !meta.spans.empty();   // the body is already on disk
    RecordParts record;
    record.head.kind = RecordKind::object;
    record.head.freshness = freshness_of(parts);
    record.head.hash = hash_of(parts.key, core.seed());
    record.head.sequence = parts.sequence;
    record.key = parts.key;
    record.meta = encoded;
    record.text = parts.head;
    record.body = body;
    return core.append(record, is_alone ? Purpose::head : Purpose::newcomer);
}

ObjectMeta meta_of(Bytes length, std::vector<Extent> extents) {
    ObjectMeta meta;
    meta.length = length;
    if (extents.empty()) return meta;
    auto const& one = extents.front();
    meta.body = one.body;
    bool const is_all = extents.size() == 1 && one.first == 0 && one.last + 1 == length && one.origin == 0;
    if (!is_all) meta.spans = std::move(extents);
    return meta;
}

/// The extents of the body already on this disk, if all of them are still in the index.
std::vector<Extent> extents_of(Core const& core, Body const& body) {
    auto const* source = dynamic_cast<PieceSource const*>(body.source().get());
    bool const is_here = source && source->is_of(core) && source->is_whole();
    return is_here ? source->extents() : std::vector<Extent>{};
}

/// The ranges of the body that exist but are not on this disk, each with a body number of its own.
std::vector<Extent> unwritten(Core& core, Body const& body, std::vector<Extent> const& written) {
    std::vector<Extent> spans, rest;
    for (auto const& span : body.present()) spans.push_back({span.first, span.last, 0, span.first});
    for (auto const& extent : fill_gaps(written, spans))
        if (extent.body == 0) rest.push_back({extent.first, extent.last, core.next_body(), extent.first});
    return rest;
}

NotStored write_in_pieces(Core& core, Object::Parts const& parts) {
    auto const written = write_pieces(core, *parts.body, [](unsigned) { return false; });
    return written.why == NotStored::none ? write_head(core, parts, written) : written.why;
}

NotStored write_whole(Core& core, Object::Parts const& parts) {
    if (!parts.body) return append_object(core, parts, meta_of(parts.bytes.size(), {}), {parts.bytes});
    auto const& body = *parts.body;
    auto const length = body.size();
    bool const with_head = extents_of(core, body).empty() && length <= Object::inline_body_max && !body.has_gaps();
    if (!with_head) return write_in_pieces(core, parts);
    if (!body.is_resident()) return NotStored::no_room;
    return append_object(core, parts, meta_of(length, {}), views_of(body, 0, length));
}

NotStored refusal_of(DiskOptions const& limits, Object::Parts const& parts) {
    if (parts.kind != Object::Kind::response) return NotStored::none;
    auto const length = parts.body ? parts.body->size() : parts.bytes.size();
    if (length > limits.object_max) return NotStored::too_large;
    return length < limits.object_min ? NotStored::too_small : NotStored::none;
}

}   // namespace

bool is_on_disk(Core const& core, Body const& body) {
    auto const* source = dynamic_cast<PieceSource const*>(body.source().get());
    if (!source || !source->is_of(core) || !source->is_whole()) return false;
    return std::ranges::all_of(body.present(), [&](Body::Span span) { return source->has(span.first, span.last); });
}

WrittenPieces write_pieces(Core& core, Body const& body, std::function<bool(unsigned tries)> const& full) {
    WrittenPieces written;
    auto const here = extents_of(core, body);
    auto const rest = unwritten(core, body, here);
    if (here.size() + rest.size() > extents_max) return {NotStored::too_large, {}};
    auto const piece = core.piece_bytes();
    for (auto const& extent : rest)
        for (Bytes at = 0; at <= extent.last - extent.first; at += piece) {
            auto const bytes = std::min(piece, extent.last + 1 - extent.first - at);
            auto const append = [&] { return append_piece(core, extent.body, body, extent.origin, at, bytes); };
            written.why = append();
            for (unsigned tries = 0; written.why == NotStored::too_slow && full(tries); ++tries) written.why = append();
            if (written.why != NotStored::none) return written;
        }
    written.extents = fill_gaps(here, rest);
    return written;
}

NotStored write_head(Core& core, Object::Parts const& parts, WrittenPieces const& written) {
    return append_object(core, parts, meta_of(parts.body->size(), written.extents), {});
}

NotStored write_object(Core& core, Object::Parts const& parts) {
    auto why = refusal_of(core.limits(), parts);
    if (why == NotStored::none) why = write_whole(core, parts);
    if (why == NotStored::none) return why;
    auto const hash = hash_of(parts.key, core.seed());
    if (core.has(hash)) core.drop(hash);
    return why;
}

PieceFill::~PieceFill() {
    if (told_ && !committed_ && trouble_ != NotStored::none) told_(trouble_, {});
}

/// Full buffers are temporary, and so no reason to give up.
bool PieceFill::take(Body const& growing) {
    bool const complete = growing.state() == Body::State::complete;
    auto const size = growing.size();
    if (size > core_.limits().object_max) give_up(NotStored::too_large);
    if (complete && lies_with_head(growing)) return !given_up_;
    for (int pieces = 0; !given_up_ && pieces < pieces_a_call; ++pieces) {
        auto const bytes = std::min(size - taken(), source_->piece());
        if (bytes == 0 || (bytes < source_->piece() && !complete)) break;
        trouble_ = append_piece(core_, source_->number(), growing, 0, taken(), bytes);
        if (trouble_ == NotStored::too_slow) break;
        if (trouble_ != NotStored::none)
            give_up(trouble_);
        else
            source_->grew(bytes);
    }
    return !given_up_;
}

/// A short body that memory has partly dropped is stored in pieces, which have the dropped bytes.
bool PieceFill::lies_with_head(Body const& complete) const {
    return of_ == Of::whole && complete.size() <= Object::inline_body_max && complete.is_resident();
}

void PieceFill::give_up(NotStored why) {
    given_up_ = true;
    trouble_ = why;
}

/// Takes the rest until the buffers are full.
void PieceFill::take_rest(Body const& body) {
    auto before = taken();
    while (take(body) && taken() > before) before = taken();
}

bool PieceFill::commit(Object::Parts const& parts) {
    check(!parts.body || parts.body->state() == Body::State::complete);
    if (parts.body && of_ == Of::whole) take_rest(*parts.body);
    auto const why = write_object(core_, parts);
    committed_ = true;
    if (told_) told_(why, parts);
    return why == NotStored::none;
}

}   // namespace garner::store::disk
