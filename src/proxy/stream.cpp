// Passing on what is not kept: as it comes, at the client's pace.
#include <algorithm>

#include "proxy/transaction.hpp"

namespace garner::proxy {

using client::Trouble;
using http::Name;

/// Sends the response as it comes, re-framed, at the client's pace.
net::awaitable<void> Transaction::stream_through(std::string_view why_not_stored) {
    if (client_.nobody()) co_return;   // Refresh drops the exchange
    beside_.drop();
    reason_ = why_not_stored;
    status_.detail = why_not_stored;
    auto const& response = exchange_->head();
    auto const& framing = exchange_->framing();
    content_type_ = response.fields.first(Name::content_type);
    sent_status_ = response.status;
    head_text_.clear();
    append_response_head(response, nullptr, unix_seconds(wall_now()), head_text_);
    if (response.fields.has(Name::age))
        head_text_.append("Age: ").append(response.fields.first(Name::age)).append("\r\n");
    Patch patch;
    status_.ttl.reset();   // what is stored, if anything, is not what is sent
    patch.status = status_;
    using Kind = http::Framing::Kind;
    bool chunked = false;
    if (framing.kind == Kind::length)
        patch.content_length = framing.length;
    else if (framing.kind == Kind::none) {
        // HEAD and 304 say how long the body would be; a 204 has none to speak of.
        auto length = parse_decimal(response.fields.first(Name::content_length));
        if (length && response.status != 204) patch.content_length = length;
    } else {
        chunked = patch.chunked = !starts_closing(patch);
    }
    auto tail = patch_of(patch);
    head_sent_ = true;
    std::array<iovec, 2> head{{{head_text_.data(), head_text_.size()}, {const_cast<char*>(tail.data()), tail.size()}}};
    http::BrokenBody body;
    if (framing.kind == Kind::length) body.announced = framing.length;
    co_await pass_on(head_text_, body, chunked, head);
    co_await join_upload();
}

/// Sends `before`, at most two parts, and behind it what is to come of the exchange's body. False: not all was sent.
net::awaitable<bool> Transaction::pass_on(std::string_view head, http::BrokenBody body, bool chunked,
                                          std::span<iovec const> before) {
    std::array<iovec, 6> parts;
    auto used = static_cast<std::size_t>(std::ranges::copy(before, parts.begin()).out - parts.begin());
    char chunk_header[18];
    for (Pace pace;;) {
        auto piece = exchange_->body_at_hand();
        if (piece.data.empty() && piece.trouble == Trouble::none && !exchange_->body_done()) {
            // Nothing here: let the client have what there is, then wait.
            if (used > 0 && !co_await send(std::span(parts.data(), used))) co_return false;
            used = 0;
            auto const asked = steady_now();
            piece = co_await exchange_->read_body(options_->deadlines.body);
            pace.add(piece.data.size(), steady_now() - asked);
        }
        // A body without a length may be a stream of events. An origin may also wait for the rest of the request.
        bool const owes = body.announced && !upload_.running && piece.trouble == Trouble::none && !exchange_->body_done();
        if (owes && pace.is_below(options_->limits.min_rate)) piece.trouble = Trouble::timed_out;
        if (piece.trouble != Trouble::none) {
            if (co_await stream_on(piece.trouble, head, body)) {
                pace = {};
                continue;
            }
            if (used > 0) co_await send(std::span(parts.data(), used));
            co_await break_off(piece.trouble);
            co_return false;
        }
        if (piece.data.empty()) break;
        body.done += piece.data.size();
        if (chunked) parts[used++] = {chunk_header, http::write_chunk_header(piece.data.size(), chunk_header)};
        parts[used++] = {const_cast<char*>(piece.data.data()), piece.data.size()};
        if (chunked) parts[used++] = {const_cast<char*>("\r\n"), 2};
        if (!co_await send(std::span(parts.data(), used), piece.data.size())) co_return false;
        used = 0;
        count_source_traffic();
    }
    std::string end;
    if (chunked) end.append("0\r\n").append(exchange_->trailers()).append("\r\n");
    if (!end.empty()) parts[used++] = {end.data(), end.size()};
    bool sent = true;
    if (used > 0) sent = co_await send(std::span(parts.data(), used));
    finish_exchange();
    co_return sent;
}

/// The body goes on from another source, behind what is done of it.
net::awaitable<bool> Transaction::stream_on(Trouble trouble, std::string_view head, http::BrokenBody body) {
    if (!may_go_on()) co_return false;
    http::Remainder missing(head, body);
    co_return co_await go_on_elsewhere(missing, trouble);
}

/// The origin's body broke off: the client must not take what it has for the whole.
net::awaitable<void> Transaction::break_off(Trouble trouble) {
    reason_ = trouble == Trouble::timed_out ? "the origin stalled in the body" : "the origin's answer broke off";
    services_.counters.origin_failures.add();
    close_ = true;
    co_await join_upload();
    show_truncation();
}

}  // namespace garner::proxy
