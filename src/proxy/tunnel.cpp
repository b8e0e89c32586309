#include "proxy/tunnel.hpp"

#include <algorithm>
#include <utility>

#include "http/hop_by_hop.hpp"
#include "net/client_hello.hpp"
#include "net/handed_sockets.hpp"
#include "proxy/head_writer.hpp"
#include "proxy/moved_client.hpp"
#include "proxy/via.hpp"

namespace garner::proxy {

void Tunnel::begin() {
    request_.record.answer = Answer::tunnelled;
    request_.record.tag = ResultTag::tcp_tunnel;
    request_.close = true;
}

net::awaitable<bool> Tunnel::run() {
    begin();
    if (bumped_.is_concerned()) return run_by_rules();
    return splice();
}

/// False when the client has disconnected.
net::awaitable<bool> Tunnel::establish() {
    if (request_.head_sent) co_return true;
    // RFC 9110 9.3.6: a 2xx to CONNECT has neither Content-Length nor Transfer-Encoding.
    std::string_view established = "HTTP/1.1 200 Connection established\r\n\r\n";
    iovec part{const_cast<char*>(established.data()), established.size()};
    if (!co_await writer_.send(std::span<iovec>(&part, 1))) co_return false;
    request_.record.sent_status = 200;
    request_.head_sent = true;
    co_return true;
}

net::awaitable<bool> Tunnel::splice() {
    std::string early;   // bytes that followed the peer's response
    auto transport = co_await upstream_.open_tunnel(early);
    if (!transport) co_return false;
    if (!co_await establish()) co_return true;
    auto const end = hold_end(*transport);
    Beginning begins{.from_client = bumped_.bytes(), .from_origin = early, .up = {}, .down = {}, .age = {}};
    if (begins.from_client.empty()) begins.from_client = request_.client.leftover();
    OtherEnd const other{.transport = *transport, .of_peer = upstream_.sources().peer() != nullptr, .on_line = true};
    co_await relay(other, std::move(begins));
    co_return true;
}

/// Before the first byte is sent: a loop is recognised by its ClientHello.
OwnEnds::Held Tunnel::hold_end(net::Transport& origin) {
    if (!request_.intercepted_origin) return {};
    auto const end = net::bound_endpoint(origin.descriptor());
    if (!end) return {};
    return {request_.services.shared.own_ends, *end};
}

void Tunnel::count(bump::Action action) {
    auto& intercepted = request_.services.counters.intercepted;
    switch (action) {
    case bump::Action::splice: return intercepted.add(Intercepted::spliced);
    case bump::Action::bump: return intercepted.add(Intercepted::bumped);
    case bump::Action::terminate: return intercepted.add(Intercepted::terminated);
    case bump::Action::refuse: return intercepted.add(Intercepted::refused);
    }
}

net::awaitable<bool> Tunnel::run_by_rules() {
    auto decision = bumped_.decide();
    if (decision.needs_hello()) {
        if (!co_await establish()) co_return true;
        decision = co_await bumped_.peek(std::move(decision));
    }
    request_.record.texts.reason = decision.text();
    count(decision.action);
    if (decision.action == bump::Action::splice) co_return co_await splice();
    if (decision.action == bump::Action::refuse) {
        note_refused(decision);
        co_await turn_away();
        co_return true;
    }
    std::optional<FixedOrigin::Refusal> none;
    if (decision.action == bump::Action::bump)
        co_await bumped_.run(std::move(none));
    else
        request_.client.transport().close_with_reset();
    co_return true;
}

/// A client that has closed the tunnel itself was not refused anything.
void Tunnel::note_refused(bump::Decision const& decision) {
    request_.client_gone = decision.cause == bump::Decision::Cause::left;
    if (request_.client_gone) return;
    auto& record = request_.record;
    record.answer = Answer::refused;
    record.tag = ResultTag::tcp_denied;
    record.texts.rule = decision.verdict.rule;
    record.texts.because = decision.reason();
    writer_.note_refused_tunnel();
}

/// A client that has begun a handshake sees an alert, another one the end of the tunnel.
net::awaitable<void> Tunnel::turn_away() {
    constexpr milliseconds limit{1'000};
    auto& transport = request_.client.transport();
    bool const speaks_tls = bumped_.bytes().starts_with(net::tls_handshake);
    if (speaks_tls) co_await transport.write(net::access_denied_alert, limit);
    transport.shutdown_send();
}

net::awaitable<bool> Tunnel::show_page(FixedOrigin::Refusal refusal) {
    if (!bumped_.is_concerned()) co_return false;
    auto decision = bumped_.decide();
    if (!decision.needs_hello()) co_return false;
    request_.record.answer = Answer::tunnelled;
    request_.close = true;
    if (!co_await establish()) co_return true;
    request_.services.counters.intercepted.add(Intercepted::page);
    decision = co_await bumped_.peek(std::move(decision));
    request_.record.texts.reason = request_.record.texts.logged_rule;
    std::optional<FixedOrigin::Refusal> told(std::move(refusal));
    if (decision.action == bump::Action::bump)
        co_await bumped_.run(std::move(told));
    else
        co_await turn_away();
    co_return true;
}

net::awaitable<void> Tunnel::switch_protocols() {
    auto const& response = upstream_.head();
    request_.record.answer = Answer::tunnelled;
    request_.close = true;
    request_.record.sent_status = 101;
    auto& text = request_.scratch.head_text;
    text.clear();
    append_status_line(101, "Switching Protocols", text);
    http::HopByHop hop_by_hop(response.fields);
    for (auto const& field : response.fields)
        if ((!hop_by_hop.dropped(field) && field.id != http::Name::content_length) || field.id == http::Name::upgrade)
            text.append(field.name).append(": ").append(field.value).append("\r\n");
    append_via(text, request_.options->via_name);
    text.append("Connection: Upgrade\r\n\r\n");
    iovec part{text.data(), text.size()};
    if (!co_await writer_.send(std::span<iovec>(&part, 1))) co_return;
    request_.head_sent = true;
    auto& exchange = upstream_.exchange();
    auto const& sources = upstream_.sources();
    OtherEnd const end{.transport = exchange.transport(), .of_peer = sources.peer() != nullptr, .on_line = sources.is_on_line()};
    Beginning begins{
        .from_client = request_.client.leftover(), .from_origin = exchange.leftover(), .up = {}, .down = {}, .age = {}};
    co_await relay(end, std::move(begins));
}

net::awaitable<void> Tunnel::relay(OtherEnd const& end, Beginning begins) {
    auto const& deadlines = request_.options->deadlines;
    auto const left = std::max(deadlines.tunnel_total - begins.age, milliseconds{1});
    RelayLimits limits{.idle = deadlines.tunnel_idle, .total = left};
    Relay relay(request_.services.worker, request_.client.transport(), end.transport, limits, request_.services.shared.pipes,
                counting(end), request_.account.get());
    relay.go_on(std::move(begins.up), std::move(begins.down));
    relay_ = &relay;
    other_end_ = &end.transport;
    leave();   // a takeover may have begun before the tunnel
    // After a half-close, and while the origin takes nothing, the relay does not read from the client.
    request_.client.watch_reset([&relay] { relay.abort(); });
    co_await relay.run(begins.from_client, begins.from_origin);
    request_.client.watch_reset(nullptr);
    relay_ = nullptr;
    request_.record.body_sent += relay.to_client();
    if (relay.has_left()) co_return pack(end, relay);
    auto const* const account = request_.account.get();
    if (account && account->is_over()) request_.record.texts.reason = account->over_reason();
    if (relay.out_of_time()) request_.record.texts.reason = "tunnel timeout (deadlines.tunnel_idle or deadlines.tunnel_total)";
}

/// An exchange with a source has bytes of its own before those of the tunnel.
std::function<void()> Tunnel::counting(OtherEnd const& end) {
    bool const switched = upstream_.has_connection();
    return [this, end, switched, received = Bytes{0}, sent = Bytes{0}]() mutable {
        request_.record.count_traffic(request_);
        if (switched) return upstream_.count_traffic();
        auto const& origin = end.transport;
        auto const more_received = origin.received() - std::exchange(received, origin.received());
        auto const more_sent = origin.sent() - std::exchange(sent, origin.sent());
        if (!end.of_peer) request_.services.counters.add_origin_traffic(more_received, more_sent);
        if (request_.account && end.on_line) request_.account->charge_both(more_received, more_sent);
    };
}

void Tunnel::abort() {
    bumped_.abort();
    if (relay_) relay_->abort();
}

// ---- between two processes ----

namespace {

/// Without credentials, which were checked.
std::string head_text(http::RequestHead const& head) {
    std::string text(head.method_text);
    text.append(" ").append(head.target).append(head.version == http::Version::http_1_0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
    for (auto const& field : head.fields)
        if (field.id != http::Name::authorization && field.id != http::Name::proxy_authorization)
            text.append(field.name).append(": ").append(field.value).append("\r\n");
    return text.append("\r\n");
}

/// The first value if none has this name.
template <class Value>
Value value_named(std::string_view name) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(Value::count_); ++i)
        if (name_of(static_cast<Value>(i)) == name) return static_cast<Value>(i);
    return Value{};
}

/// A pipe without bytes stays here.
takeover::HandedWay pack_way(RelayedWay way, control::Descriptors& descriptors) {
    takeover::HandedWay const state{.in_pipe = way.in_pipe, .ended = way.ended};
    if (way.in_pipe == 0) return state;
    descriptors.add(way.pipe.release_out());
    descriptors.add(way.pipe.release_in());
    return state;
}

/// `next`: the index of its first descriptor.
RelayedWay unpack_way(takeover::HandedWay const& state, std::size_t& next, MovingTunnel& tunnel, Shared& shared) {
    RelayedWay way{.pipe = {}, .in_pipe = state.in_pipe, .ended = state.ended};
    if (state.in_pipe == 0) return way;
    int const out = tunnel.descriptors.release(next++);
    int const in = tunnel.descriptors.release(next++);
    way.pipe = Pipe(shared.pipes, out, in);
    return way;
}

}   // namespace

bool Tunnel::moves() const {
    return request_.services.drain.departures && request_.client.may_move() && other_end_->can_splice() &&
           head_text(request_.head()).size() <= takeover::HandedClient::bytes_max / 2;
}

void Tunnel::leave() {
    if (relay_ && moves()) relay_->leave();
}

void Tunnel::pack(OtherEnd const& end, Relay& relay) {
    auto const& record = request_.record;
    moved_ = std::make_unique<MovingTunnel>();
    auto& [state, descriptors] = *moved_;
    state.head = head_text(request_.head());
    if (request_.identity) state.user = request_.identity->user, state.groups = request_.identity->groups;
    state.age = std::chrono::duration_cast<milliseconds>(steady_now() - request_.started);
    state.sent = record.sent();
    state.status = record.sent_status;
    state.tag = name_of(record.tag);
    state.hierarchy = name_of(record.hierarchy);
    state.peer = record.peer.empty() ? upstream_.peer_text() : record.peer;
    state.reach = record.peer_reach;
    state.reason = record.texts.reason;
    state.of_peer = end.of_peer;
    state.on_line = end.on_line;
    descriptors.add(end.transport.release());
    state.up = pack_way(relay.take_up(), descriptors);
    state.down = pack_way(relay.take_down(), descriptors);
}

void Tunnel::unpack(takeover::HandedTunnel const& state) {
    auto& record = request_.record;
    begin();
    if (!state.user.empty())
        request_.identity = std::make_shared<http::Identity const>(http::Identity{.user = state.user, .groups = state.groups});
    request_.started -= state.age;
    request_.head_sent = true;
    record.go_on_from(state.sent);
    record.sent_status = state.status;
    record.tag = value_named<ResultTag>(state.tag);
    record.hierarchy = value_named<Hierarchy>(state.hierarchy);
    record.peer = state.peer;
    record.texts.reach = state.reach;
    record.peer_reach = record.texts.reach;
    record.texts.reason = state.reason;
}

net::awaitable<void> Tunnel::go_on(MovingTunnel tunnel) {
    unpack(tunnel.state);
    (void)request_.line_account();
    auto const transport = transport_of(request_.services, tunnel.descriptors.release(0));
    if (!transport) co_return;
    auto const held = hold_end(*transport);
    SourceUse use;
    if (auto* const mesh = request_.services.mesh; mesh && tunnel.state.of_peer)
        use.go_on(mesh->peer_table()->named(tunnel.state.peer));
    auto& shared = request_.services.shared;
    std::size_t next = 1;
    Beginning begins{.from_client = {}, .from_origin = {}, .up = {}, .down = {}, .age = tunnel.state.age};
    begins.up = unpack_way(tunnel.state.up, next, tunnel, shared);
    begins.down = unpack_way(tunnel.state.down, next, tunnel, shared);
    OtherEnd const end{.transport = *transport, .of_peer = tunnel.state.of_peer, .on_line = tunnel.state.on_line};
    co_await relay(end, std::move(begins));
}

}   // namespace garner::proxy
