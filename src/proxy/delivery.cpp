#include "proxy/delivery.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "http/range.hpp"
#include "proxy/line_account.hpp"
#include "store/body_source.hpp"
#include "util/random_bits.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;

namespace {

// The most bytes of one write: enough for an efficient copy to the kernel, small enough to be fair to other connections.
constexpr Bytes write_bytes = MiB;
// The limit for a client that is slower than the proxy: it pins this much of an evicted object.
constexpr Bytes write_bytes_when_full = 256 * KiB;

bool is_plain(http::RequestHead const& request) {
    return !request.fields.has(Name::range) && !request.fields.has(Name::if_none_match) &&
           !request.fields.has(Name::if_modified_since);
}

/// The reason that a body ends too early.
std::string why_truncated(store::Object const& object, bool is_lost, bool is_dropped, cache::Follower const* follower) {
    if (is_lost && object.body()->source()) return "the disk did not deliver the rest of the body";
    if (is_dropped) return "the client read too slowly";
    auto const failure = follower ? follower->view().failure : cache::FetchFailure();
    return failure.kind == cache::FailureKind::quota ? failure.reason : "the response of the origin was truncated";
}

}   // namespace

/// A plain hit allocates nothing: a small patch is written, and head, patch and body go out in one gather write.
net::awaitable<void> Delivery::deliver(store::ObjectPtr object, cache::Follower* follower) {
    if (request_.client.is_absent()) co_return;
    bool const tried = begun_;
    if (!begun_) begin(object, follower != nullptr);
    SlowClientGuard::Sending const sending(writer_.pace(), *object);
    if (!slice_.several && !object->body()) {
        if (tried || !try_send_small(*object)) co_await writer_.send(unsent_, slice_.count.value_or(0));
        co_return;
    }
    Pieces pieces;
    pieces.add(head_);
    pieces.add(tail_);
    if (slice_.several) co_return co_await send_ranges(std::move(object), pieces);
    co_await send_body(std::move(object), slice_, pieces, follower);
}

bool Delivery::deliver_at_once(store::ObjectPtr const& object) {
    begin(object, false);
    return !slice_.several && !object->body() && try_send_small(*object);
}

bool Delivery::try_send_small(store::Object const& object) {
    auto const body = object.bytes().substr(slice_.first, slice_.count.value_or(0));
    small_.add(head_);
    small_.add(tail_);
    small_.add(body);
    unsent_ = small_.take();
    return writer_.try_send(unsent_, body.size());
}

/// Decides what is sent, and writes the head.
void Delivery::begin(store::ObjectPtr const& object, bool grows) {
    begun_ = true;
    request_.record.note_use(request_, object);
    if (!grows) request_.led = nullptr;   // it may hold the object that was validated
    auto const& request = request_.head();
    Patch patch;
    patch.status = request_.record.cache_status;
    auto age = http::current_age(object->terms(), request_.now);
    // A response straight from the origin has no age, unless another cache gave it one (RFC 9111 5.1).
    if (request_.record.cache_status.hit || age > 0) patch.age = age;
    head_ = object->head();
    if (request_.services.logs()) request_.record.texts.content_type = http::field_in(head_, "Content-Type");
    slice_ = {0, object->length()};
    request_.record.sent_status = object->status();
    if (!is_plain(request) && answer_conditions(*object, slice_, patch, head_)) {
        // A 304 or 416 has no body.
    } else {
        if (object->status() != 204) patch.content_length = slice_.count;   // RFC 9110 8.6
        if (!slice_.count) writer_.begin_without_length(patch);
        if (request.method == Method::head) slice_ = {0, 0};
    }
    tail_ = writer_.patch_of(patch);
    request_.head_sent = true;
}

/// Evaluates preconditions and ranges; true when the answer has no body. May replace the head.
bool Delivery::answer_conditions(store::Object const& object, Slice& slice, Patch& patch, std::string_view& head) {
    auto const& request = request_.head();
    request_.scratch.read_head_of(object);

    if (http::answer_conditional(request, request_.scratch.stored_head, object.terms(), request_.now) ==
        http::Conditional::not_modified) {
        request_.scratch.head_text.clear();
        append_status_line(304, reason_phrase(304), request_.scratch.head_text);
        for (auto const& field : request_.scratch.stored_head.fields)
            if (http::field_stays_in_304(field))
                request_.scratch.head_text.append(field.name).append(": ").append(field.value).append("\r\n");
        head = request_.scratch.head_text;
        request_.record.sent_status = 304;
        if (request_.record.cache_status.hit)
            request_.record.tag = request.fields.has(Name::if_none_match) ? ResultTag::tcp_inm_hit : ResultTag::tcp_ims_hit;
        slice = {0, 0};
        return true;
    }
    return slice.count && answer_ranges(object, slice, patch, head);
}

/// RFC 9110 14: the requested ranges of a stored 200 whose head is in request_.scratch.stored_head. True: 416.
bool Delivery::answer_ranges(store::Object const& object, Slice& slice, Patch& patch, std::string_view& head) {
    auto length = *slice.count;
    auto ranges = http::answer_range(request_.head(), request_.scratch.stored_head, length, request_.now);
    if (ranges.kind == http::RangeKind::whole) return false;
    bool several = ranges.parts.size() > 1;
    // Ranges out of order could need bytes that a growing body has already dropped.
    if (several && object.body() && object.body()->state() != store::Body::State::complete) return false;
    bool partial = ranges.kind == http::RangeKind::partial;
    request_.record.sent_status = partial ? 206 : 416;
    request_.scratch.head_text.clear();
    append_status_line(request_.record.sent_status, reason_phrase(request_.record.sent_status), request_.scratch.head_text);
    for (auto const& field : request_.scratch.stored_head.fields) {
        bool of_the_body = field.id == Name::content_type || (!partial && field.id == Name::content_encoding);
        if (!of_the_body || (partial && !several))
            request_.scratch.head_text.append(field.name).append(": ").append(field.value).append("\r\n");
    }
    if (several) {
        multipart_.emplace(std::move(ranges.parts), length, request_.scratch.stored_head.fields.first(Name::content_type),
                           http::Multipart::Random{random_bits(), random_bits()});
        request_.scratch.head_text.append("Content-Type: ").append(multipart_->content_type()).append("\r\n");
        slice = {0, multipart_->size(), true};
    } else {
        http::ContentRange where;
        where.length = length;
        if (partial) where.range = ranges.parts.front();
        request_.scratch.head_text.append("Content-Range: ").append(http::format_content_range(where)).append("\r\n");
        slice = partial ? Slice{where.range->first, where.range->size()} : Slice{0, 0};
        if (!partial) patch.content_length = 0;
    }
    head = request_.scratch.head_text;
    return !partial;
}

/// Sends several ranges, each after its own part head; `pieces` already holds the response head.
net::awaitable<void> Delivery::send_ranges(store::ObjectPtr object, Pieces& pieces) {
    Bytes gathered = 0;   // body bytes in `pieces`
    for (std::size_t i = 0; i < multipart_->ranges().size(); ++i) {
        auto const& range = multipart_->ranges()[i];
        pieces.add(multipart_->head(i));
        bool sent = true;
        if (object->body()) {
            Slice slice{range.first, range.size()};
            sent = co_await send_body(object, slice, pieces, nullptr);
        } else {
            pieces.add(object->bytes().substr(range.first, range.size()));
            gathered += range.size();
            if (!pieces.has_room_for(3)) sent = co_await writer_.send(pieces.take(), std::exchange(gathered, 0));
        }
        if (!sent) co_return;
    }
    pieces.add(multipart_->end());
    co_await writer_.send(pieces.take(), gathered);
}

/// Adds one piece of the body, in the framing of the client's protocol. Returns its bytes.
Bytes Delivery::add_piece(std::span<std::string_view const> read, Pieces& pieces) {
    Bytes bytes = 0;
    for (auto const part : read) bytes += part.size();
    if (bytes == 0) return 0;
    pieces.add(request_.client.before_piece(bytes));
    for (auto const part : read) pieces.add(part);
    pieces.add(request_.client.behind_piece());
    return bytes;
}

/// Sends from a shared body, waiting while it grows. `pieces` already holds the head. False: the send was incomplete.
net::awaitable<bool> Delivery::send_body(store::ObjectPtr object, Slice slice, Pieces& pieces, cache::Follower* follower) {
    store::BodyReader reader(object->body(), slice.first);
    if (follower) follower->read_up_to(slice.first);
    auto left = slice.count.value_or(UINT64_MAX);
    std::array<std::string_view, write_pieces> read;
    bool may_let_go = !follower && !multipart_;
    for (;;) {
        auto seen = follower ? follower->view().version : 0;
        // The state is read before the bytes: a body that is complete here gets no more bytes after this read.
        auto state = object->body()->state();
        auto most = writer_.pace().was_full() ? write_bytes_when_full : write_bytes;
        bool const is_capped = follower && request_.account && request_.account->own_cap();
        if (is_capped) most = std::min(most, request_.account->piece(share::Direction::down));
        auto count = left > 0 ? reader.next(read, std::min(left, most)) : 0;
        if (reader.needs_load()) {
            auto const here = request_.executor();
            if (co_await store::load(reader, here)) continue;
        }
        // A head of that size would be lent, too, and its memory is used again.
        bool const lends = request_.client.lender() && !pieces.has_piece_of(net::PageLender::part_min) && reader.lend(count);
        auto const bytes = add_piece({read.data(), count}, pieces);
        bool over = left == 0 || (bytes == 0 && state == store::Body::State::complete && !reader.lost());
        if (over) pieces.add(request_.client.behind_body({}));
        auto const pages = lends ? ResponseWriter::Pages::lent : ResponseWriter::Pages::copied;
        if (!pieces.empty() && !co_await writer_.send(pieces.take(), bytes, pages)) co_return false;
        if (over) co_return true;
        reader.advance(bytes);
        left -= slice.count ? bytes : 0;
        if (follower) follower->read_up_to(reader.offset());
        if (is_capped) {
            bool const stays = co_await keep_to_cap(*follower, bytes);
            if (!stays) co_return false;
        }
        bool const lets_go =
            may_let_go && reader.offset() < object->body()->size() && request_.services.cache.memory().wants_back(*object);
        if (bytes > 0 && !lets_go) continue;
        bool dropped = reader.lost() || (follower && follower->dropped());
        if (dropped || lets_go) {
            auto const rest = co_await send_rest(object, reader, slice);
            if (rest) co_return *rest;
        }
        may_let_go = false;
        if (bytes > 0) continue;
        if (state == store::Body::State::failed || dropped || !follower) {
            request_.record.texts.reason = why_truncated(*object, reader.lost(), dropped, follower);
            writer_.show_truncation();   // the client must see it
            co_return false;
        }
        if (!co_await wait_for_growth(*follower, seen, request_.options->deadlines.fill)) co_return false;
    }
}

/// Another client with a higher cap may pay for the fetch. False: the client has disconnected.
net::awaitable<bool> Delivery::keep_to_cap(cache::Follower& follower, Bytes bytes) {
    auto& account = *request_.account;
    account.charge_own_cap(follower.not_charged(bytes));
    if (!account.owes(share::Direction::down)) co_return true;
    co_return co_await pay_for_piece(request_);
}

/// Fetches the bytes after the reader's offset and sends them; releases the object, so that its memory is freed. Nothing
/// when the rest is unavailable, else whether all was sent. Separate, so that the frame of send_body() stays small
/// (allocation_test).
net::awaitable<std::optional<bool>> Delivery::send_rest(store::ObjectPtr& object, store::BodyReader& reader, Slice const& slice) {
    http::BrokenBody broken{.first = 0, .done = reader.offset(), .announced = {}, .length = object->length()};
    if (slice.count) broken.announced = slice.first + *slice.count;
    bool const is_there = !reader.lost() && !reader.needs_load();
    if (!co_await rest_.fetch(*object, broken, is_there)) co_return std::nullopt;
    std::string const head(object->head());
    writer_.pace().sends_nothing_stored();
    reader.leave();
    object.reset();
    co_return co_await pass_through_.pass_on(head, broken);
}

/// False when waiting is over: the client is gone, or the fill was silent for deadlines.fill. Also true after a shorter `limit`,
/// and if the fill has waited for the line.
net::awaitable<bool> Delivery::wait_for_growth(cache::Follower& follower, std::uint64_t seen, milliseconds limit) {
    auto const begun = steady_now();
    net::Waiter waiter(request_.executor());
    request_.waiting = waiter.handle();
    follower.wake_on_change(seen, waiter.handle());
    request_.client.watch([this] { request_.waiting.wake(net::Wake::client_gone); });
    auto wake = co_await waiter.wait(limit);
    request_.client.unwatch();
    request_.waiting = {};
    bool const runs_out_early = wake == net::Wake::deadline && limit < request_.options->deadlines.fill;
    if (wake == net::Wake::ready || runs_out_early) co_return true;
    if (wake == net::Wake::deadline && follower.fill().last_in_line(steady_now()) > begun) co_return true;
    if (wake == net::Wake::deadline && !request_.head_sent) {
        co_await waited_too_long();
        co_return false;
    }
    request_.client_gone = wake == net::Wake::client_gone;
    request_.close = true;
    writer_.show_truncation();
    co_return false;
}

net::awaitable<void> Delivery::waited_too_long() {
    request_.close = true;
    constexpr auto what = "The fetch that this request joined made no progress in time.";
    co_await writer_.error(504, what, "deadlines.fill", cache::FailureKind::timeout);
}

}   // namespace garner::proxy
