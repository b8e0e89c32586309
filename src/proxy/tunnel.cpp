#include "proxy/tunnel.hpp"

#include "http/hop_by_hop.hpp"
#include "net/handed_sockets.hpp"
#include "proxy/head_writer.hpp"
#include "proxy/relay.hpp"
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
    std::string_view read = bumped_.bytes();
    if (read.empty()) read = request_.client.leftover();
    co_await relay(*transport, read, early);
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
    std::optional<FixedOrigin::Refusal> none;
    if (decision.action == bump::Action::bump)
        co_await bumped_.run(std::move(none));
    else
        request_.client.transport().close_with_reset();
    co_return true;
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
        request_.client.transport().close_with_reset();
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
    co_await relay(exchange.transport(), request_.client.leftover(), exchange.leftover());
}

net::awaitable<void> Tunnel::relay(net::Transport& origin, std::string_view from_client, std::string_view from_origin) {
    auto const& deadlines = request_.options->deadlines;
    RelayLimits limits{.idle = deadlines.tunnel_idle, .total = deadlines.tunnel_total};
    bool const switched = upstream_.has_connection();
    auto* const account = request_.account.get();
    auto const count = [&, received = Bytes{0}, sent = Bytes{0}]() mutable {
        request_.record.count_traffic(request_);
        if (switched) return upstream_.count_traffic();
        auto const more_received = origin.received() - std::exchange(received, origin.received());
        auto const more_sent = origin.sent() - std::exchange(sent, origin.sent());
        if (!upstream_.sources().peer()) request_.services.counters.add_origin_traffic(more_received, more_sent);
        if (account) account->charge_both(more_received, more_sent);
    };
    Relay relay(request_.services.worker, request_.client.transport(), origin, limits, request_.services.shared.pipes, count,
                account);
    relay_ = &relay;
    // After a half-close, and while the origin takes nothing, the relay does not read from the client.
    request_.client.watch_reset([&relay] { relay.abort(); });
    co_await relay.run(from_client, from_origin);
    request_.client.watch_reset(nullptr);
    relay_ = nullptr;
    request_.record.body_sent += relay.to_client();
    if (relay.out_of_time()) request_.record.texts.reason = "tunnel timeout (deadlines.tunnel_idle or deadlines.tunnel_total)";
}

void Tunnel::abort() {
    bumped_.abort();
    if (relay_) relay_->abort();
}

}   // namespace garner::proxy
