// CONNECT (RFC 9110 9.3.6) and switched protocols (RFC 9110 7.8).
#include "http/hop_by_hop.hpp"
#include "proxy/relay.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

net::awaitable<void> Transaction::tunnel() {
    counted_ = Answer::tunnelled;
    tag_ = ResultTag::tcp_tunnel;
    hierarchy_ = Hierarchy::direct;
    close_ = true;
    auto transport = co_await connect();
    if (!transport) {
        cache::FillLease nothing;
        store::ObjectPtr none;
        co_return co_await answer_failure(std::move(nothing), std::move(none));
    }
    services_.counters.origin_connections.add();
    // RFC 9110 9.3.6: a 2xx to CONNECT has neither Content-Length nor Transfer-Encoding.
    std::string_view established = "HTTP/1.1 200 Connection established\r\n\r\n";
    iovec part{const_cast<char*>(established.data()), established.size()};
    if (!co_await send(std::span<iovec>(&part, 1))) co_return;
    sent_status_ = 200;
    head_sent_ = true;
    std::string_view nothing_yet;
    co_await relay(*transport, client_.leftover(), nothing_yet);
    services_.counters.origin_received.add(transport->received());
    services_.counters.origin_sent.add(transport->sent());
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
    Relay relay(services_.worker, client_.transport(), origin, limits, services_.shared.pipes);
    relay_ = &relay;
    co_await relay.run(from_client, from_origin);
    relay_ = nullptr;
    body_sent_ += relay.to_client();
    if (relay.out_of_time()) reason_ = "a tunnel's time was over";
}

}  // namespace garner::proxy
