#include "client/exchange.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cstring>

#include "http/head_repair.hpp"
#include "http/hop_by_hop.hpp"

namespace garner::client {

namespace asio = net::asio;

namespace {

milliseconds announced_idle_max(http::Fields const& fields) {
    auto const timeout = http::keep_alive_timeout(fields);
    return timeout ? seconds{*timeout - std::min(*timeout, 1u)} : milliseconds::max();
}

}   // namespace

Trouble Exchange::trouble_of(net::Error const& error) const {
    if (cancelled_) return Trouble::cancelled;
    if (error == asio::error::timed_out) return Trouble::timed_out;
    return error == asio::error::eof ? Trouble::closed : Trouble::reset;
}

std::optional<Trouble> Exchange::try_send(std::span<iovec>& parts) {
    if (cancelled_) return Trouble::cancelled;
    auto const tried = transport_->try_write(parts);
    if (!tried.error) return Trouble::none;
    if (tried.error == asio::error::would_block) return std::nullopt;
    return trouble_of(tried.error);
}

net::awaitable<Trouble> Exchange::send(std::span<iovec> parts, milliseconds limit) {
    if (auto const sent = try_send(parts)) co_return *sent;
    auto const written = co_await transport_->write(parts, limit);
    co_return written.error ? trouble_of(written.error) : Trouble::none;
}

Trouble Exchange::make_room() {
    if (cancelled_) return Trouble::cancelled;
    if (begin_ == end_) begin_ = end_ = scanned_ = 0;
    if (end_ < net::BufferPool::size) return Trouble::none;
    if (begin_ == 0) {
        fault_ = "head larger than the buffer";
        return Trouble::malformed;
    }
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    return Trouble::none;
}

net::awaitable<net::IoResult> Exchange::receive(milliseconds limit) {
    std::span<char> free(buffer_.get() + end_, std::min<Bytes>(net::BufferPool::size - end_, read_max_));
    return answered_ ? transport_->read_some(free, limit) : transport_->read_first(free, limit);
}

Trouble Exchange::note_received(net::IoResult const& read) {
    if (read.error) return trouble_of(read.error);
    end_ += read.bytes;
    answered_ = true;
    return Trouble::none;
}

net::awaitable<Trouble> Exchange::read_head(http::Method request, milliseconds limit) {
    scanned_ = 0;
    auto const until = steady_now() + limit;   // for the whole head: a slowly sent head times out, too
    if (begin_ != end_)
        if (auto const ended = take_head(request)) co_return *ended;
    for (auto left = limit; left > milliseconds{0}; left = std::chrono::ceil<milliseconds>(until - steady_now())) {
        auto trouble = make_room();
        if (trouble != Trouble::none) co_return trouble;
        auto const read = co_await receive(left);
        trouble = note_received(read);
        if (trouble != Trouble::none) co_return trouble;
        if (auto const ended = take_head(request)) co_return *ended;
    }
    co_return Trouble::timed_out;
}

/// Nothing: the head is incomplete.
std::optional<Trouble> Exchange::take_head(http::Method request) {
    auto const parsed = http::parse_response_head({buffer_.get() + begin_, end_ - begin_}, limits_, scanned_, head_);
    if (parsed.kind == http::HeadParse::Kind::incomplete) return std::nullopt;
    auto const* refusal = parsed.refusal;
    if (!refusal) {
        begin_ += parsed.bytes;
        decoder_.begin(http::response_framing(head_, request));
        keeps_alive_ = http::keeps_alive(head_);
        if (head_.fields.has(http::Name::keep_alive)) idle_max_ = announced_idle_max(head_.fields);
        refusal = framing().refusal;
    }
    return refusal ? repair_head(parsed, request) : Trouble::none;
}

/// For a head that was refused, or whose framing was: what RFC 9112 lets a recipient repair is written anew. Nothing: the head is
/// incomplete.
std::optional<Trouble> Exchange::repair_head(http::HeadParse const& parsed, http::Method request) {
    fault_ = parsed.refusal ? parsed.refusal : framing().refusal;
    if (parsed.refusal) {
        auto repair = http::repair_response_head(leftover(), limits_, scanned_);
        if (repair.kind == http::HeadParse::Kind::incomplete) return std::nullopt;
        if (repair.kind == http::HeadParse::Kind::refused) return Trouble::malformed;
        repaired_ = std::make_unique<std::string>(std::move(repair.text));
        auto limits = limits_;
        limits.bytes = repaired_->size() + 1;   // it may be longer than the received one
        scanned_ = 0;
        auto const again = http::parse_response_head(*repaired_, limits, scanned_, head_);
        if (again.refusal) fault_ = again.refusal;
        if (again.kind != http::HeadParse::Kind::complete) return Trouble::malformed;
        begin_ += repair.bytes;
        decoder_.note_repair(repair.repair);
        decoder_.begin(http::response_framing(head_, request));
    }
    if (framing().refusal) {
        decoder_.note_repair(http::Repair::doubtful);
        decoder_.begin(http::settled_response_framing(head_, request));
        if (framing().refusal) fault_ = framing().refusal;
    }
    return framing().refusal ? Trouble::malformed : Trouble::none;
}

Exchange::Piece Exchange::step() {
    needs_input_ = false;
    for (;;) {
        auto step = decoder_.step({buffer_.get() + begin_, end_ - begin_});
        begin_ += step.consumed;
        switch (step.kind) {
        case http::BodyDecoder::Step::Kind::data:
            if (auto const skipped = std::min<Bytes>(to_skip_, step.data.size())) {
                to_skip_ -= skipped;
                step.data.remove_prefix(skipped);
            }
            if (step.data.empty()) continue;
            if (left_ && step.data.size() > *left_) {
                fault_ = "the body is longer than the missing part";
                return {Trouble::malformed, {}};
            }
            if (left_) *left_ -= step.data.size();
            return {Trouble::none, step.data};
        case http::BodyDecoder::Step::Kind::done: return at_end();
        case http::BodyDecoder::Step::Kind::refused: fault_ = decoder_.refusal(); return {Trouble::malformed, {}};
        case http::BodyDecoder::Step::Kind::need_more: needs_input_ = true; return {};
        }
    }
}

Exchange::Piece Exchange::at_end() {
    if (to_skip_ == 0 && left_.value_or(0) == 0) return {};
    fault_ = "the body is shorter than the part already received";
    return {Trouble::malformed, {}};
}

Exchange::Piece Exchange::body_at_hand() {
    if (decoder_.done()) return at_end();
    return step();
}

net::awaitable<Exchange::Piece> Exchange::read_body(milliseconds limit, std::span<char> into) {
    if (!into.empty() && reads_straight()) co_return co_await read_straight(limit, into);
    for (;;) {
        if (decoder_.done()) co_return at_end();
        auto piece = step();
        if (!needs_input_) co_return piece;
        auto trouble = make_room();
        if (trouble == Trouble::none) {
            auto const read = co_await receive(limit);
            trouble = note_received(read);
        }
        if (trouble == Trouble::closed && decoder_.closed()) co_return at_end();
        if (trouble != Trouble::none) {
            Piece failed{trouble, {}};
            co_return failed;
        }
    }
}

/// Reads a body without transfer coding past the buffer, which is empty.
net::awaitable<Exchange::Piece> Exchange::read_straight(milliseconds limit, std::span<char> into) {
    Piece piece{Trouble::cancelled, {}};
    if (cancelled_) co_return piece;
    auto const wanted = into.first(std::min<Bytes>({into.size(), decoder_.remaining(), read_max_}));
    auto const read = co_await transport_->read_some(wanted, limit);
    piece.trouble = read.error ? trouble_of(read.error) : Trouble::none;
    if (!read.error) piece.data = decoder_.step({into.data(), read.bytes}).data;
    co_return piece;
}

Exchange::Traffic Exchange::take_traffic() {
    Traffic traffic{transport_->received() - received_before_, transport_->sent() - sent_before_};
    received_before_ = transport_->received();
    sent_before_ = transport_->sent();
    return traffic;
}

bool Exchange::reusable() const {
    return transport_ && head_.status >= 200 && decoder_.done() && begin_ == end_ && !cancelled_ &&
           framing().kind != http::Framing::Kind::until_close && keeps_alive_ && decoder_.repair() == http::Repair::none;
}

}   // namespace garner::client
