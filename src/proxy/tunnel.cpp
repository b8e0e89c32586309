// CONNECT (RFC 9110 9.3.6) and switched protocols (RFC 9110 7.8).
#include "http/hop_by_hop.hpp"
#include "proxy/relay.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

net::awaitable<void> Transaction::tunnel() {
    counted_ = Answer::tunnelled;
    tag_ = ResultTag::tcp_tunnel;
    close_ = true;
    std::string from_peer;   // what came behind its answer
    auto transport = co_await open_tunnel(from_peer);
    if (!transport) {
        cache::FillLease nothing;
        store::ObjectPtr none;
        co_return co_await answer_failure(std::move(nothing), std::move(none));
    }
    // RFC 9110 9.3.6: a 2xx to CONNECT has neither Content-Length nor Transfer-Encoding.
    std::string_view established = "HTTP/1.1 200 Connection established\r\n\r\n";
    iovec part{const_cast<char*>(established.data()), established.size()};
    if (!co_await send(std::span<iovec>(&part, 1))) co_return;
    sent_status_ = 200;
    head_sent_ = true;
    co_await relay(*transport, client_.leftover(), from_peer);
}

/// By the first way that leads there; nullptr when none does: failure_ says why.
net::awaitable<std::unique_ptr<net::Transport>> Transaction::open_tunnel(std::string& from_peer) {
    co_await choose_sources();
    for (;;) {
        note_source();
        std::unique_ptr<net::Transport> transport;
        if (enter_way()) transport = co_await connect();
        if (transport) services_.counters.origin_connections.add();
        if (transport && source().peer) transport = co_await connect_through_peer(std::move(transport), from_peer);
        if (transport || !may_try_next()) co_return transport;
        ++at_source_;
    }
}

/// RFC 9110 9.3.6: CONNECT to the next proxy; the tunnel is there with its 2xx.
net::awaitable<std::unique_ptr<net::Transport>> Transaction::connect_through_peer(
    std::unique_ptr<net::Transport> transport, std::string& from_peer) {
    // A tunnel's ends may both be silent for as long as they like.
    transport->limit_unacknowledged(milliseconds{0});
    exchange_ = std::make_unique<client::Exchange>(std::move(transport), services_.worker.buffers.take(), false,
                                                   options_->limits.head);
    auto text = connect_request();
    iovec part{text.data(), text.size()};
    std::span<iovec> parts(&part, 1);
    auto trouble = co_await exchange_->send(parts, options_->deadlines.body);
    if (trouble == client::Trouble::none) trouble = co_await read_final_head(http::Method::connect);
    auto const status = trouble == client::Trouble::none ? exchange_->head().status : 0;
    bool const opened = status >= 200 && status < 300;
    if (opened) {
        from_peer = exchange_->leftover();
        auto tunnel = exchange_->release();
        exchange_.reset();
        co_return tunnel;
    }
    bool const cut = (trouble == client::Trouble::closed || trouble == client::Trouble::reset) && !exchange_->answered();
    if (status != 0)
        failed(502, source_name() + " does not open the tunnel: it answers " + std::to_string(status) + ".");
    else
        failed_by(trouble);
    if (cut && !client_gone_ && !aborted_) source().peer->connect_failed(failure_.reason, steady_now());
    exchange_.reset();   // no tunnel was opened: another way may be tried
    co_return nullptr;
}

/// With the client's own Via: without it a loop of proxies would not be seen.
std::string Transaction::connect_request() const {
    std::string authority = is_tunnelled() ? target_.host_field : target_.url;
    if (is_tunnelled() && target_.uri.authority.port == 443) authority += ":443";   // which Host leaves out
    std::string text = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n";
    for (auto const& field : client_.head().fields)
        if (field.id == http::Name::via || equals_ignoring_case(field.name, "User-Agent"))
            text.append(field.name).append(": ").append(field.value).append("\r\n");
    text.append("Via: 1.1 ").append(services_.shared.via_name).append("\r\n");
    text += forwarded_line(options_->forwarded, client_.peer_text());
    append_peer_login(source().peer->options.login, text);
    return text += "\r\n";
}

/// An https request through a parent: CONNECT, and TLS with the origin inside. The parent sees host and port alone.
bool Transaction::is_tunnelled() const {
    return source().peer && target_.uri.scheme == http::Scheme::https && client_.head().method != http::Method::connect;
}

net::awaitable<std::unique_ptr<net::Transport>> Transaction::secure_through_peer(std::unique_ptr<net::Transport> transport) {
    std::string early;
    transport = co_await connect_through_peer(std::move(transport), early);
    if (!transport) co_return nullptr;
    if (!early.empty()) {
        failed(502, source_name() + " sends into the tunnel before TLS has begun.", Fault::connection);
        co_return nullptr;
    }
    net::ConnectTarget where;
    where.host = std::string(target_.uri.authority.host);
    net::ConnectStop stop;
    connecting_ = &stop;
    client_.watch([this] {
        client_gone_ = true;
        if (connecting_ && !others_wait()) connecting_->request();
    });
    auto connected = co_await services_.worker.connector.secure(std::move(transport), where, &stop);
    client_.unwatch();
    connecting_ = nullptr;
    if (connected.transport) {
        connected.transport->expect_life(source().peer->options.connect_timeout);
        co_return std::move(connected.transport);
    }
    if (connected.failure == net::ConnectFailure::cancelled)
        failed(503, "The request was given up.");
    else
        failed(502, "The origin could not be reached through the " + peer_name() + ": " + connected.reason, Fault::connection);
    co_return nullptr;
}

/// After a 101: what follows belongs to the new protocol, in both directions.
net::awaitable<void> Transaction::switch_protocols() {
    auto const& response = exchange_->head();
    if (!wants_upgrade()) {
        failed(502, "The origin switches protocols, and nobody asked it to.");
        cache::FillLease nothing;
        store::ObjectPtr none;
        co_return co_await answer_failure(std::move(nothing), std::move(none));
    }
    counted_ = Answer::tunnelled;
    close_ = true;
    sent_status_ = 101;
    head_text_.clear();
    append_status_line(101, "Switching Protocols", head_text_);
    http::HopByHop hop_by_hop(response.fields);
    for (auto const& field : response.fields)
        if ((!hop_by_hop.dropped(field) && field.id != http::Name::content_length) || field.id == http::Name::upgrade)
            head_text_.append(field.name).append(": ").append(field.value).append("\r\n");
    head_text_.append("Connection: Upgrade\r\nVia: 1.1 ").append(services_.shared.via_name).append("\r\n\r\n");
    iovec part{head_text_.data(), head_text_.size()};
    if (!co_await send(std::span<iovec>(&part, 1))) co_return;
    head_sent_ = true;
    co_await relay(exchange_->transport(), client_.leftover(), exchange_->leftover());
}

net::awaitable<void> Transaction::relay(net::Transport& origin, std::string_view from_client,
                                        std::string_view from_origin) {
    RelayLimits limits{.idle = options_->deadlines.tunnel_idle, .total = options_->deadlines.tunnel_total};
    bool const switched = exchange_ && exchange_->connected();
    auto const count = [&, received = Bytes{0}, sent = Bytes{0}]() mutable {
        count_client_traffic();
        if (switched) return count_source_traffic();
        auto const more_received = origin.received() - std::exchange(received, origin.received());
        auto const more_sent = origin.sent() - std::exchange(sent, origin.sent());
        if (!source().peer) services_.counters.add_origin_traffic(more_received, more_sent);
    };
    Relay relay(services_.worker, client_.transport(), origin, limits, services_.shared.pipes, count);
    relay_ = &relay;
    co_await relay.run(from_client, from_origin);
    relay_ = nullptr;
    body_sent_ += relay.to_client();
    if (relay.out_of_time()) reason_ = "a tunnel's time was over";
}

}  // namespace garner::proxy
