#include "proxy/http1_connection.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "proxy/moved_client.hpp"

namespace garner::proxy {

using Arrival = Http1Stream::Arrival;

namespace {
constexpr std::uint32_t pipelined_per_turn = 16;
}

Http1Connection::Http1Connection(Services& services, Accepted accepted, char const* refusal)
    : Connection(services, std::move(accepted)), stream_(transport(), describe_client(), services.worker, origin_seats()),
      refusal_(refusal) {
    if (point().origin && point().origin->kind == FixedOrigin::Kind::bumped) stream_.take_traffic();   // the tunnel's
    services.counters.connections_begun.add(Protocol::http1);
}

Http1Connection::Http1Connection(Services& services, Accepted accepted, MovingClient client, Departures::Next next)
    : Http1Connection(services, std::move(accepted)) {
    services.counters.connections_continued.add(Protocol::http1);
    is_new_ = client.state.is_new;
    stream_.begin_with(client.state.unread);
    if (client.state.tunnel) tunnel_ = std::make_unique<MovingTunnel>(MovingTunnel{*client.state.tunnel, {}});
    for (std::size_t i = 1; tunnel_ && i < client.descriptors.size(); ++i) tunnel_->descriptors.add(client.descriptors.release(i));
    if (next == Departures::Next::stays) stream_.stay();
}

Http1Connection::~Http1Connection() { services_.counters.connections_ended.add(Protocol::http1); }

/// No coroutine: an idle connection keeps one frame less.
net::awaitable<void> Http1Connection::run() {
    if (tunnel_) return go_on_with_tunnel();
    return refusal_ ? refuse_and_linger() : serve();
}

net::awaitable<void> Http1Connection::refuse_and_linger() {
    co_await refuse_protocol(refusal_);
    co_await linger();
}

net::awaitable<void> Http1Connection::serve() {
    std::uint32_t in_turn = 0;
    for (;; is_new_ = false) {
        auto options = services_.options;
        Arrival arrival;
        do {
            if (moves()) co_return leave();
            auto const waits = begin_waiting(*options);
            net::IoResult read;
            if (!stream_.begun()) read = co_await stream_.read_first(waits.idle);
            if (auto const arrived = stream_.take(read, options->limits.head))
                arrival = *arrived;
            else
                arrival = co_await stream_.read_rest(options->limits.head, waits, services_.heads);
        } while (waits_again(arrival));
        if (arrival != Arrival::request) co_return co_await refuse(arrival);
        if (options != services_.options) options = services_.options;   // a reload came during the wait
        auto& transaction = begin_request(options);
        if (!transaction.run_at_once()) co_await transaction.run();
        bool const keeps = transaction.keeps_connection();
        auto moved = transaction.take_moved();
        place_.reset();
        if (moved) co_return leave(std::move(moved));
        if (!keeps) break;
        stream_.finish_request();
        // Many pipelined requests must not delay other connections.
        in_turn = stream_.begun() ? in_turn + 1 : 0;
        if (in_turn >= pipelined_per_turn) {
            in_turn = 0;
            co_await net::asio::post(services_.worker.io.get_executor(), net::as_values);
        }
    }
    co_await linger();
}

net::awaitable<void> Http1Connection::go_on_with_tunnel() {
    auto const options = services_.options;
    auto tunnel = std::move(tunnel_);
    if (!stream_.begin_with_head(tunnel->state.head)) co_return;
    auto& transaction = begin_request(options);
    co_await transaction.go_on(std::move(*tunnel));
    auto moved = transaction.take_moved();
    place_.reset();
    if (moved) co_return leave(std::move(moved));
    co_await linger();
}

/// A client that connects and sends nothing gets no keep-alive time.
Http1Stream::HeadWaits Http1Connection::begin_waiting(Options const& options) {
    auto const& deadlines = options.deadlines;
    reads_head_ = true;
    begin_to_wait();
    if (services_.drain.begun) return {deadlines.drain_idle, deadlines.head};
    return {is_new_ ? deadlines.head : deadlines.keep_alive, deadlines.head};
}

bool Http1Connection::waits_again(Arrival arrival) {
    reads_head_ = false;
    end_wait();
    bool const restarts = std::exchange(restarts_, false) && arrival == Arrival::closed;
    // The end of the connection would cross a request that arrived in the same moment.
    bool const too_early = arrival == Arrival::timed_out && services_.drain.begun && stream_.more_received();
    return restarts || too_early;
}

net::awaitable<void> Http1Connection::refuse(Arrival arrival) {
    if (arrival == Arrival::refused && stream_.speaks_other_protocol())
        co_await refuse_protocol(stream_.refusal().refusal);
    else if (arrival == Arrival::refused)
        co_await refuse_head(stream_.refusal().status, stream_.refusal().refusal);
    else if (arrival == Arrival::timed_out && stream_.begun())
        co_await refuse_head(408, "The head of the request did not arrive in time.");
    else
        co_return transport().end_sending();
    co_await linger();
}

/// The log names the listener, which is the wrong one for this client.
net::awaitable<void> Http1Connection::refuse_protocol(std::string_view why) {
    auto const listener = own_endpoint();
    if (stream_.speaks_tls()) services_.shared.handshake_failures.note(client(), listener, why);
    auto const logged = std::string(why) + " (listener " + listener.text() + ")";
    co_await refuse_head(400, why, logged);
}

net::awaitable<void> Http1Connection::refuse_head(std::uint16_t status, std::string_view why, std::string_view logged) {
    auto const options = services_.options;
    stream_.forget_head();
    auto& transaction = begin_request(options);
    co_await transaction.refuse_head(status, why, logged);
    place_.reset();
}

Transaction& Http1Connection::begin_request(std::shared_ptr<Options const> const& options) {
    place_ = services_.places.take();
    return place_->transaction.emplace(services_, stream_, point().origin.get(), place_->scratch, options);
}

/// The connection is handed over, or the wait for a request begins anew with a shorter limit.
void Http1Connection::drain() {
    if (place_ && services_.drain.departures) place_->transaction->leave();
    if (!reads_head_ || (stream_.begun() && !moves())) return;
    restarts_ = true;
    transport().cancel();
}

/// A login that is bound to the connection, here or at an origin, cannot be passed on.
bool Http1Connection::moves() const {
    auto const& client = *stream_.client();
    bool const is_bound = client.identity || client.own_connections != 0;
    return services_.drain.departures && !refusal_ && stream_.may_move() && !is_bound &&
           stream_.leftover().size() <= takeover::HandedClient::bytes_max / 2;
}

/// Another process goes on with it, unless the takeover has ended while the tunnel had bytes to send first. `tunnel`: the bytes that
/// the stream has read are sent.
void Http1Connection::leave(std::unique_ptr<MovingTunnel> tunnel) {
    MovingClient client{.state = state(), .descriptors = {}, .point = shared_point()};
    client.descriptors.add(transport().release());
    if (tunnel) {
        client.state.unread.clear();
        client.state.tunnel = std::move(tunnel->state);
        for (std::size_t i = 0; i < tunnel->descriptors.size(); ++i) client.descriptors.add(tunnel->descriptors.release(i));
    }
    if (auto const& departures = services_.drain.departures)
        departures->add(services_, std::move(client));
    else
        serve_moved(services_, std::move(client), Departures::Next::may_leave);
}

takeover::HandedClient Http1Connection::state() const {
    using Kind = FixedOrigin::Kind;
    takeover::HandedClient state;
    state.listener = point().endpoint;
    state.client = peer();
    state.is_new = is_new_;
    state.unread = stream_.leftover();
    if (auto const* origin = point().origin.get()) {
        state.is_accelerated = origin->kind == Kind::accelerated;
        if (origin->kind == Kind::intercepted) state.destination = origin->destination;
    }
    if (header()) state.authority = header()->authority, state.unique_id = header()->unique_id;
    return state;
}

void Http1Connection::abort() {
    restarts_ = false;
    if (place_)
        place_->transaction->abort();
    else
        transport().cancel();
}

void Http1Connection::name_pending(std::vector<std::string>& lines) const {
    if (place_) lines.push_back(place_->transaction->text());
}

}   // namespace garner::proxy
