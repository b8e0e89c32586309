#include "proxy/http2_connection.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "net/address.hpp"

namespace garner::proxy {

namespace asio = net::asio;

namespace {

constexpr std::size_t requests_per_turn = 64;   // hits take about 0.2 ms
constexpr milliseconds keeps_places{5'000};     // time until an idle connection returns them

h2::SessionLimits limits_of(Options const& options) {
    return {.streams = options.http2.streams,
            .window = options.http2.window,
            .glitches = options.http2.glitches,
            .head = options.limits.head};
}

milliseconds time_between(SteadyTime from, SteadyTime to) { return std::chrono::duration_cast<milliseconds>(to - from); }

/// Null for a request that has no slot yet.
Http2Stream* owner_of(h2::Stream const& stream) { return static_cast<Http2Stream*>(stream.owner()); }

}   // namespace

Http2Connection::Http2Connection(Services& services, Accepted accepted)
    : Connection(services, std::move(accepted)), client_(describe_client()), memory_(services.shared.http2_memory.of(client())),
      session_(*this, limits_of(*services.options), *memory_, services.counters) {
    services.counters.connections_begun.add(Protocol::http2);
}

Http2Connection::~Http2Connection() { services_.counters.connections_ended.add(Protocol::http2); }

net::awaitable<void> Http2Connection::run() {
    flush(false);
    for (bool open = true; open && !session_.finished();) {
        open = co_await receive();
        co_await start_requests();
    }
    flush(false);
    co_await end();
    if (lost_)
        transport().shutdown_send();
    else
        co_await linger();   // the client's WINDOW_UPDATE for the last response may still come
}

/// One read. False when the connection has ended. Frames that begin no request, such as PING, do not prolong the wait for one.
net::awaitable<bool> Http2Connection::receive() {
    if (waits_for_request() && !waits()) begin_to_wait();
    auto const now = idle_since_ ? steady_now() : input_at_;
    if (is_idle() && !idle_since_) idle_since_ = input_at_;
    auto const limit = patience(now);
    net::Error error = asio::error::timed_out;
    if (limit > milliseconds{0}) error = co_await wait_input(limit, now);
    if (std::exchange(restarts_, false) && error == asio::error::operation_aborted && !lost_) co_return true;
    if (error == asio::error::timed_out && services_.drain.begun && slow_head_ == 0) {
        // A request that arrived in the same moment is taken.
        if (transport().arrived() == net::Transport::Arrived::bytes) co_return !lost_ && take_input();
        session_.drain();
        if (idle_since_) idle_since_ = steady_now();
        co_return true;
    }
    // The last stream ended during the wait, or some run: they have deadlines of their own.
    if (error == asio::error::timed_out && slow_head_ == 0 && patience(steady_now()) > milliseconds{0}) co_return true;
    co_return !error && !lost_ && take_input();
}

/// False when the connection has ended.
bool Http2Connection::take_input() {
    auto const buffer = services_.worker.buffers.take();
    auto const read = transport().try_read({buffer.get(), net::BufferPool::size});
    if (read.error) return read.error == asio::error::would_block;   // part of a TLS record
    gathering_ = true;
    auto const now = input_at_ = steady_now();
    bool const open = session_.receive({buffer.get(), read.bytes}, now);
    watch_head(now);
    if (!waits_for_request()) end_wait();
    return open;
}

/// A connection that is idle for a while keeps no memory for streams to come.
net::awaitable<net::Error> Http2Connection::wait_input(milliseconds limit, SteadyTime now) {
    auto first = limit;
    if (idle_since_) first = std::min(limit, keeps_places - time_between(*idle_since_, now));
    if (first <= milliseconds{0}) first = limit, shrink();
    auto const error = co_await transport().wait_input(first);
    if (error != asio::error::timed_out || first == limit) co_return error;
    shrink();
    co_return co_await transport().wait_input(limit - first);
}

void Http2Connection::shrink() {
    if (!is_idle()) return;
    slots_.clear();
    session_.shrink();
}

bool Http2Connection::is_idle() const { return session_.streams() == 0 && running_ == 0 && !writing_; }

/// The last stream may have ended while the connection waits for input.
void Http2Connection::note_idle() {
    if (!is_idle() || idle_since_ || lost_) return;
    idle_since_ = steady_now();
    if (!waits()) begin_to_wait();
}

/// True without streams, and while the only one's head is incomplete.
bool Http2Connection::waits_for_request() const { return session_.streams() == (slow_head_ > 0 ? 1u : 0u); }

void Http2Connection::watch_head(SteadyTime now) {
    auto const before = std::exchange(slow_head_, session_.incomplete_head());
    if (slow_head_ != before) head_until_ = now + services_.options->deadlines.head;
}

/// While streams run, the time until the next look.
milliseconds Http2Connection::patience(SteadyTime now) const {
    auto const& deadlines = services_.options->deadlines;
    if (slow_head_ > 0) return time_between(steady_now(), head_until_);
    auto const limit = services_.drain.begun ? drain_patience() : begun_ ? deadlines.keep_alive : deadlines.head;
    return idle_since_ ? limit - time_between(*idle_since_, now) : limit;
}

/// Many requests at once must not delay other connections.
net::awaitable<void> Http2Connection::start_requests() {
    gathering_ = true;
    for (std::size_t begun = 0; begun < arrived_.size(); ++begun) {
        if (begun > 0 && begun % requests_per_turn == 0) {
            gathering_ = false;
            flush(false);
            co_await asio::post(executor(), net::as_values);
            gathering_ = true;
        }
        start_request(*arrived_[begun]);
    }
    arrived_.clear();
    gathering_ = false;
    flush(false);
}

void Http2Connection::start_request(h2::Stream& stream) {
    auto* slot = free_.pop_front();
    if (!slot) slot = slots_.emplace_back(std::make_unique<Slot>()).get();
    ++running_;
    slot->options = services_.options;
    auto& carried = slot->stream.emplace(static_cast<Http2Wire&>(*this), stream, client_);
    stream.set_owner(&carried);
    slot->place = services_.places.take();
    auto& transaction =
        slot->place->transaction.emplace(services_, carried, point().origin.get(), slot->place->scratch, slot->options);
    bool const complete = stream.parsed().kind == http::HeadParse::Kind::complete;
    if (complete && transaction.run_at_once()) return end_request(*slot);
    auto running = serve(*slot);
    asio::co_spawn(executor(), std::move(running), asio::detached);
}

net::awaitable<void> Http2Connection::serve(Slot& slot) {
    auto const parsed = slot.stream->stream().parsed();
    if (parsed.kind == http::HeadParse::Kind::complete)
        co_await slot.place->transaction->run();
    else
        co_await slot.place->transaction->refuse_head(parsed.status, parsed.refusal);
    end_request(slot);
    note_idle();
}

void Http2Connection::end_request(Slot& slot) {
    slot.place.reset();
    slot.stream.reset();
    slot.options.reset();
    flush(false);
    free_.push_front(slot);
    if (--running_ == 0) all_ended_.wake(net::Wake::ready);   // end() looks whether it may go on
    end_if_drained();
}

/// The client may leave it to the proxy to close the connection.
void Http2Connection::end_if_drained() {
    if (!services_.drain.begun || writing_) return;
    if (session_.finished()) return transport().cancel();
    if (session_.streams() == 0) restart_wait();
}

/// The streams of an ended connection are told so, and end soon.
net::awaitable<void> Http2Connection::end() {
    end_wait();
    lost_ = lost_ || !session_.finished();
    if (lost_) transport().cancel();   // a client that does not read
    for (auto& slot : slots_)
        if (slot->stream) slot->stream->on_lost();
    while (running_ > 0 || writing_) {
        net::Waiter waiter(executor());
        all_ended_ = waiter.handle();
        co_await waiter.wait(net::recheck_interval);
    }
}

// ---- events of streams ----

void Http2Connection::on_request(h2::Stream& stream) {
    begun_ = true;
    idle_since_.reset();
    arrived_.push_back(&stream);
}

void Http2Connection::on_body(h2::Stream& stream) {
    if (auto* owner = owner_of(stream)) owner->on_body();
}

void Http2Connection::on_sent(h2::Stream& stream) {
    if (auto* owner = owner_of(stream)) owner->on_sent();
}

void Http2Connection::on_reset(h2::Stream& stream) {
    if (auto* owner = owner_of(stream)) owner->on_gone();
}

// ---- output ----

/// Frames are gathered in the buffer. A full buffer goes to the TLS session, which keeps it until it has enough for a send.
void Http2Connection::flush(bool more) {
    more = more || gathering_;
    for (bool full = true; full && !lost_ && !writing_;) {
        full = gather();
        if (full || !more) send_gathered(full || more);
    }
}

/// True if the buffer is full, and there may be more frames.
bool Http2Connection::gather() {
    if (!gathered_) {
        if (!session_.has_output()) return false;
        gathered_ = services_.worker.buffers.take();
    }
    while (net::BufferPool::size - end_ >= h2::Session::least_room) {
        auto const count = session_.pull({gathered_.get() + end_, net::BufferPool::size - end_});
        end_ += count;
        if (count == 0 || !session_.has_output()) return false;
    }
    return true;
}

void Http2Connection::send_gathered(bool more) {
    iovec part{gathered_.get() + sent_, end_ - sent_};
    std::span<iovec> parts(&part, 1);
    auto const sent = transport().try_write(parts, more);
    sent_ += sent.bytes;
    if (sent.error == asio::error::would_block) {
        writing_ = true;
        auto running = write_rest();
        asio::co_spawn(executor(), std::move(running), asio::detached);
        return;
    }
    gathered_ = {};
    sent_ = end_ = 0;
    if (sent.error) lose();
}

void Http2Connection::lose() {
    lost_ = true;
    transport().cancel();
}

net::awaitable<void> Http2Connection::write_rest() {
    std::string_view const rest(gathered_.get() + sent_, end_ - sent_);
    auto const limit = services_.options->deadlines.body;
    auto const written = co_await transport().write(rest, limit);
    gathered_ = {};
    sent_ = end_ = 0;
    writing_ = false;
    all_ended_.wake(net::Wake::ready);
    if (written.error) lose();
    flush(false);
    note_idle();
    end_if_drained();
}

// ---- the end ----

/// An idle connection waits for the client's answer to the first GOAWAY: a request may be on its way.
void Http2Connection::drain() {
    if (session_.finished()) return;
    if (idle_since_) idle_since_ = steady_now();
    session_.drain();
    flush(false);
    if (!writing_ && waits()) restart_wait();
}

void Http2Connection::restart_wait() {
    restarts_ = true;
    transport().cancel();
}

void Http2Connection::abort() {
    restarts_ = false;
    for (auto& slot : slots_)
        if (slot->place) slot->place->transaction->abort();
    transport().cancel();
}

void Http2Connection::name_pending(std::vector<std::string>& lines) const {
    for (auto const& slot : slots_)
        if (slot->place) lines.push_back(slot->place->transaction->text());
}

IpAddress Http2Connection::own_address() {
    net::Error ignored;
    return net::to_ip(transport().socket().local_endpoint(ignored).address());
}

}   // namespace garner::proxy
