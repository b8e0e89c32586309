// Answers from the store: whole, by range, as 304, complete or still growing.
#include <algorithm>
#include <random>
#include <utility>

#include "http/range.hpp"
#include "proxy/transaction.hpp"
#include "store/body_source.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;

namespace {

// What one write takes at most: enough to reach one copy to the kernel, little enough to stay fair.
constexpr Bytes write_bytes = MiB;
// To a client that is slower than that: it holds so much of an object that is taken back.
constexpr Bytes write_bytes_when_full = 256 * KiB;

http::Multipart::Random random_bits() {
    std::random_device device;
    auto word = [&] { return std::uint64_t{device()} << 32 | device(); };
    return {word(), word()};
}

bool is_plain(http::RequestHead const& request) {
    return !request.fields.has(Name::range) && !request.fields.has(Name::if_none_match) &&
           !request.fields.has(Name::if_modified_since);
}

}  // namespace

/// A plain hit costs no allocation: a small patch is written, and head, patch and body go out in one gather write.
net::awaitable<void> Transaction::deliver(store::ObjectPtr object, cache::Follower* follower) {
    if (client_.nobody()) co_return;
    if (beside_) beside_.drop();   // others may have the object now, and a client that reads slowly keeps no place
    note_use(object);
    SendPace::Sending const sending(send_pace_, *object);
    if (!follower) led_ = nullptr;   // it may hold the object that was validated
    auto const& request = client_.head();
    Patch patch;
    patch.status = status_;
    auto age = http::current_age(object->terms(), now_);
    // A response straight from the origin has no age, unless another cache gave it one (RFC 9111 5.1).
    if (status_.hit || age > 0) patch.age = age;
    auto head = object->head();
    if (services_.log) content_type_ = http::field_in(head, "Content-Type");
    Slice slice{0, object->length(), false};
    sent_status_ = object->status();
    if (!is_plain(request) && answer_conditions(*object, slice, patch, head)) {
        // A 304 or 416: no body.
    } else {
        if (object->status() != 204) patch.content_length = slice.count;   // RFC 9110 8.6
        if (!slice.count) slice.chunked = patch.chunked = starts_closing(patch) == false;
        if (request.method == Method::head) slice = {0, 0, false};
    }
    auto tail = patch_of(patch);
    Parts parts;
    std::size_t used = 0;
    auto add = [&](std::string_view bytes) {
        if (!bytes.empty()) parts[used++] = {const_cast<char*>(bytes.data()), bytes.size()};
    };
    add(head);
    add(tail);
    head_sent_ = true;
    if (slice.several) co_return co_await send_ranges(std::move(object), parts, used);
    if (object->body()) {
        co_await send_body(std::move(object), slice, parts, used, follower);
        co_return;
    }
    auto body = object->bytes().substr(slice.first, slice.count.value_or(0));
    add(body);
    std::span<iovec> gathered(parts.data(), used);
    if (!interim_rest_.empty() || client_.try_send(gathered).error)
        co_await send(gathered, body.size());
    else
        body_sent_ += body.size();
}

/// Evaluates preconditions and ranges; true when the answer has no body. May replace the head.
bool Transaction::answer_conditions(store::Object const& object, Slice& slice, Patch& patch, std::string_view& head) {
    auto const& request = client_.head();
    read_head_of(object);

    if (http::answer_conditional(request, stored_head_, object.terms(), now_) == http::Conditional::not_modified) {
        head_text_.clear();
        append_status_line(304, reason_phrase(304), head_text_);
        for (auto const& field : stored_head_.fields)
            if (http::field_stays_in_304(field))
                head_text_.append(field.name).append(": ").append(field.value).append("\r\n");
        head = head_text_;
        sent_status_ = 304;
        if (status_.hit)
            tag_ = request.fields.has(Name::if_none_match) ? ResultTag::tcp_inm_hit : ResultTag::tcp_ims_hit;
        slice = {0, 0, false};
        return true;
    }
    return slice.count && answer_ranges(object, slice, patch, head);
}

/// RFC 9110 14: the ranges of a stored 200 that the request asks for, read already into stored_head_. True: 416.
bool Transaction::answer_ranges(store::Object const& object, Slice& slice, Patch& patch, std::string_view& head) {
    auto length = *slice.count;
    auto ranges = http::answer_range(client_.head(), stored_head_, length, now_);
    if (ranges.kind == http::RangeKind::whole) return false;
    bool several = ranges.parts.size() > 1;
    // Out of order they would have to wait for what a growing body may forget before it is asked for again.
    if (several && object.body() && object.body()->state() != store::Body::State::complete) return false;
    bool partial = ranges.kind == http::RangeKind::partial;
    sent_status_ = partial ? 206 : 416;
    head_text_.clear();
    append_status_line(sent_status_, reason_phrase(sent_status_), head_text_);
    for (auto const& field : stored_head_.fields) {
        bool of_the_body = field.id == Name::content_type || (!partial && field.id == Name::content_encoding);
        if (!of_the_body || (partial && !several))
            head_text_.append(field.name).append(": ").append(field.value).append("\r\n");
    }
    if (several) {
        multipart_.emplace(std::move(ranges.parts), length, stored_head_.fields.first(Name::content_type), random_bits());
        head_text_.append("Content-Type: ").append(multipart_->content_type()).append("\r\n");
        slice = {0, multipart_->size(), false, true};
    } else {
        http::ContentRange where;
        where.length = length;
        if (partial) where.range = ranges.parts.front();
        head_text_.append("Content-Range: ").append(http::format_content_range(where)).append("\r\n");
        slice = partial ? Slice{where.range->first, where.range->size()} : Slice{0, 0};
        if (!partial) patch.content_length = 0;
    }
    head = head_text_;
    return !partial;
}

/// Sends several ranges, each behind its own head; `parts` holds the answer's head already.
net::awaitable<void> Transaction::send_ranges(store::ObjectPtr object, Parts& parts, std::size_t used) {
    auto add = [&](std::string_view bytes) { parts[used++] = {const_cast<char*>(bytes.data()), bytes.size()}; };
    Bytes gathered = 0;   // of the body, in `parts`
    for (std::size_t i = 0; i < multipart_->ranges().size(); ++i) {
        auto const& range = multipart_->ranges()[i];
        add(multipart_->head(i));
        bool sent = true;
        if (object->body()) {
            Slice slice{range.first, range.size()};
            sent = co_await send_body(object, slice, parts, used, nullptr);
            used = 0;
        } else {
            add(object->bytes().substr(range.first, range.size()));
            gathered += range.size();
            if (used + 3 > parts.size()) {
                sent = co_await send(std::span(parts.data(), used), std::exchange(gathered, 0));
                used = 0;
            }
        }
        if (!sent) co_return;
    }
    add(multipart_->end());
    co_await send(std::span(parts.data(), used), gathered);
}

/// Sends from a shared body, waiting for more while it grows. `parts` holds the head already. False: not all was sent.
net::awaitable<bool> Transaction::send_body(store::ObjectPtr object, Slice slice, Parts& parts, std::size_t used,
                                            cache::Follower* follower) {
    store::BodyReader reader(object->body(), slice.first);
    if (follower) follower->read_up_to(slice.first);
    auto left = slice.count.value_or(UINT64_MAX);
    std::array<std::string_view, write_pieces> pieces;
    char chunk_header[18];
    bool may_let_go = !follower && !multipart_;
    for (;;) {
        auto seen = follower ? follower->view().version : 0;
        // The state before the bytes: a body seen complete has nothing more behind what is read now.
        auto state = object->body()->state();
        auto const most = send_pace_.was_full() ? write_bytes_when_full : write_bytes;
        auto count = left > 0 ? reader.next(pieces, std::min(left, most)) : 0;
        if (reader.needs_load()) {
            auto const here = services_.worker.io.get_executor();
            if (co_await store::load(reader, here)) continue;
        }
        Bytes bytes = 0;
        for (std::size_t i = 0; i < count; ++i) bytes += pieces[i].size();
        if (bytes > 0 && slice.chunked)
            parts[used++] = {chunk_header, http::write_chunk_header(bytes, chunk_header)};
        for (std::size_t i = 0; i < count; ++i)
            parts[used++] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
        if (bytes > 0 && slice.chunked) parts[used++] = {const_cast<char*>("\r\n"), 2};
        bool over = left == 0 || (bytes == 0 && state == store::Body::State::complete && !reader.lost());
        if (over && slice.chunked) parts[used++] = {const_cast<char*>("0\r\n\r\n"), 5};
        if (used > 0) {
            bool sent = co_await send(std::span(parts.data(), used), bytes);
            used = 0;
            if (!sent) co_return false;
        }
        if (over) co_return true;
        reader.advance(bytes);
        left -= slice.count ? bytes : 0;
        if (follower) follower->read_up_to(reader.offset());
        bool const lets_go = may_let_go && reader.offset() < object->body()->size() && services_.cache.wants_back(*object);
        if (bytes > 0 && !lets_go) continue;
        bool dropped = reader.lost() || (follower && follower->dropped());
        if (dropped || lets_go) {
            auto const rest = co_await send_rest(object, reader, slice);
            if (rest) co_return *rest;
        }
        may_let_go = false;
        if (bytes > 0) continue;
        if (state == store::Body::State::failed || dropped || !follower) {
            // What the client has is not whole, and it must not take it for that.
            bool const on_disk = reader.lost() && object->body()->source();
            reason_ = on_disk   ? "the disk does not give the rest"
                      : dropped ? "the reader was too slow"
                                : "the origin's answer broke off";
            show_truncation();
            co_return false;
        }
        if (!co_await wait_for_growth(*follower, seen, options_->deadlines.fill)) co_return false;
    }
}

/// Fetches what follows the reader's offset and sends it. Lets the object go then, so that its memory is free. Nothing when the
/// rest cannot be had; else whether all was sent. By itself, so that the frame of send_body() stays small: see allocation_test.
net::awaitable<std::optional<bool>> Transaction::send_rest(store::ObjectPtr& object, store::BodyReader& reader, Slice const& slice) {
    http::BrokenBody broken{.first = 0, .done = reader.offset(), .announced = {}, .length = object->length()};
    if (slice.count) broken.announced = slice.first + *slice.count;
    bool const is_there = !reader.lost() && (!reader.needs_load());
    if (!co_await fetch_lost(*object, broken, is_there)) co_return std::nullopt;
    std::string const head(object->head());
    send_pace_.sends_nothing_stored();
    reader.leave();
    object.reset();
    co_return co_await pass_on(head, broken, slice.chunked);
}

/// False when there is nothing more to wait for: the client is gone, or the fill said nothing for deadlines.fill. True
/// after a `limit` below that, too.
net::awaitable<bool> Transaction::wait_for_growth(cache::Follower& follower, std::uint64_t seen, milliseconds limit) {
    net::Waiter waiter(services_.worker.io.get_executor());
    waiting_ = waiter.handle();
    follower.wake_on_change(seen, waiter.handle());
    client_.watch([handle = waiter.handle()] { handle.wake(net::Wake::client_gone); });
    auto wake = co_await waiter.wait(limit);
    client_.unwatch();
    waiting_ = {};
    bool const runs_out_early = wake == net::Wake::deadline && limit < options_->deadlines.fill;
    if (wake == net::Wake::ready || runs_out_early) co_return true;
    if (wake == net::Wake::deadline && !head_sent_) {
        co_await waited_too_long();
        co_return false;
    }
    client_gone_ = wake == net::Wake::client_gone;
    close_ = true;
    show_truncation();
    co_return false;
}

net::awaitable<void> Transaction::waited_too_long() {
    close_ = true;
    co_await error(504, "The origin is taking too long.", "deadlines.fill");
}

/// Into stored_head_, until the next one is read.
void Transaction::read_head_of(store::Object const& object) {
    parse_text_.assign(object.head()).append("\r\n");
    http::read_stored_head(parse_text_, stored_head_);
}

}  // namespace garner::proxy
