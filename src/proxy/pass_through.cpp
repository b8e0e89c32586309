#include "proxy/pass_through.hpp"

#include <algorithm>
#include <array>

#include "proxy/line_account.hpp"
#include "util/gather.hpp"
#include "util/text.hpp"

namespace garner::proxy {

using client::Trouble;
using http::Name;

net::awaitable<void> PassThrough::stream(std::string_view why_not_stored) {
    if (request_.client.is_absent()) co_return;   // the exchange is dropped
    auto& record = request_.record;
    record.texts.reason = why_not_stored;
    record.cache_status.detail = why_not_stored;
    auto const& response = upstream_.head();
    auto const& framing = upstream_.exchange().framing();
    record.texts.content_type = response.fields.first(Name::content_type);
    record.sent_status = response.status;
    auto& text = request_.scratch.head_text;
    text.clear();
    append_response_head(response, nullptr, unix_seconds(wall_now()), text);
    if (response.fields.has(Name::age)) text.append("Age: ").append(response.fields.first(Name::age)).append("\r\n");
    Patch patch;
    record.cache_status.ttl.reset();   // the stored object, if any, is not sent
    patch.status = record.cache_status;
    using Kind = http::Framing::Kind;
    if (framing.kind == Kind::length) {
        patch.content_length = framing.length;
    } else if (framing.kind == Kind::none) {
        // HEAD and 304 announce the length of the body; a 204 never has a body.
        auto length = parse_decimal(response.fields.first(Name::content_length));
        if (length && response.status != 204) patch.content_length = length;
    } else {
        writer_.begin_without_length(patch);
    }
    auto tail = writer_.patch_of(patch);
    request_.head_sent = true;
    std::array<std::string_view, 2> const head{text, tail};
    http::BrokenBody body;
    if (framing.kind == Kind::length) body.announced = framing.length;
    co_await pass_on(text, body, head);
    if (upstream_.upload().running()) co_await upstream_.upload().join();
}

/// Sends `before`, at most two parts, then the rest of the exchange's body. False: the send was incomplete.
net::awaitable<bool> PassThrough::pass_on(std::string_view head, http::BrokenBody body, std::span<std::string_view const> before) {
    auto const& limits = request_.options->limits;
    Gather<6> pieces;
    for (auto const piece : before) pieces.add(piece);
    for (Pace pace;;) {
        auto piece = upstream_.exchange().body_at_hand();
        if (piece.data.empty() && piece.trouble == Trouble::none && !upstream_.exchange().body_done()) {
            // No data at hand: sends the gathered bytes to the client, then waits.
            if (!pieces.empty() && !co_await writer_.send(pieces.take())) co_return false;
            auto const asked = steady_now();
            piece = co_await upstream_.exchange().read_body(request_.options->deadlines.body);
            bool const may_be_stream = piece.trouble == Trouble::timed_out && !body.announced && !can_go_on(head, body);
            if (may_be_stream) piece = co_await wait_for_event();
            pace.add(piece.data.size(), steady_now() - asked);
        }
        // A body without a length may be a stream of events. An origin may also wait for the rest of the request.
        bool const owes =
            body.announced && !upstream_.upload().running() && piece.trouble == Trouble::none && !upstream_.exchange().body_done();
        if (owes && pace.is_below(limits.min_rate)) piece.trouble = Trouble::timed_out;
        if (piece.trouble != Trouble::none && request_.account && request_.account->is_over()) {   // the upload was ended
            co_await end_by_quota();
            co_return false;
        }
        if (request_.client_gone && piece.trouble == Trouble::cancelled) {
            request_.record.texts.reason = "the client closed the connection";
            request_.close = true;
            co_return false;
        }
        if (piece.trouble != Trouble::none) {
            if (co_await go_on(piece.trouble, head, body)) {
                pace = {};
                continue;
            }
            if (!pieces.empty()) co_await writer_.send(pieces.take());
            co_await break_off(piece.trouble);
            co_return false;
        }
        if (piece.data.empty()) break;
        body.done += piece.data.size();
        pieces.add(request_.client.before_piece(piece.data.size()));
        pieces.add(piece.data);
        pieces.add(request_.client.behind_piece());
        auto gathered = pieces.take();
        bool sent = writer_.try_send(gathered, piece.data.size());   // usually all of it, without a coroutine frame
        if (sent) request_.record.count_traffic(request_);
        if (!sent) sent = co_await writer_.send(gathered, piece.data.size());
        if (!sent) co_return false;
        upstream_.count_traffic();
        if (request_.account) {
            bool const goes_on = co_await pay();
            if (!goes_on) co_return false;
        }
    }
    pieces.add(request_.client.behind_body(upstream_.exchange().trailers()));
    bool sent = true;
    if (!pieces.empty()) sent = co_await writer_.send(pieces.take());
    upstream_.finish_exchange();
    co_return sent;
}

bool PassThrough::can_go_on(std::string_view head, http::BrokenBody const& body) const {
    return rest_.may_go_on() && http::Remainder(head, body).is_obtainable(wall_now());
}

/// After deadlines.body: the body may be a stream of events. A client that leaves would not be noticed by a write.
net::awaitable<client::Exchange::Piece> PassThrough::wait_for_event() {
    auto const& deadlines = request_.options->deadlines;
    auto& exchange = upstream_.exchange();
    client::Exchange::Piece piece{Trouble::timed_out, {}};
    if (deadlines.stream <= deadlines.body || upstream_.upload().running()) co_return piece;
    request_.watch_client([&exchange] { exchange.cancel(); });
    piece = co_await exchange.read_body(deadlines.stream - deadlines.body);
    request_.client.unwatch();
    co_return piece;
}

/// Continues the body from another source, after the bytes that were sent.
net::awaitable<bool> PassThrough::go_on(Trouble trouble, std::string_view head, http::BrokenBody body) {
    if (!rest_.may_go_on()) co_return false;
    http::Remainder missing(head, body);
    co_return co_await rest_.go_on_elsewhere(missing, trouble);
}

/// False: the client has disconnected, or its quota is used up before the end of the body.
net::awaitable<bool> PassThrough::pay() {
    auto& account = *request_.account;
    auto& exchange = upstream_.exchange();
    bool is_there = true;
    if (account.owes(share::Direction::down) && !account.is_over()) is_there = co_await pay_for_piece(request_);
    if (!is_there) co_return false;
    exchange.read_at_most(account.piece(share::Direction::down));   // the slow lane may have begun
    if (!account.is_over() || exchange.body_done()) co_return true;
    co_await end_by_quota();
    co_return false;
}

net::awaitable<void> PassThrough::end_by_quota() {
    request_.record.texts.reason = request_.account->over_reason();
    request_.close = true;
    co_await upstream_.upload().join();
    writer_.show_truncation();
}

/// The origin's body is truncated, and the client must see that.
net::awaitable<void> PassThrough::break_off(Trouble trouble) {
    request_.record.texts.reason =
        trouble == Trouble::timed_out ? "the origin stopped sending the body" : "the response of the origin was truncated";
    request_.services.counters.origin_failures.add();
    request_.close = true;
    co_await upstream_.upload().join();
    writer_.show_truncation();
}

}   // namespace garner::proxy
