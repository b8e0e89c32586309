// CONNECT (RFC 9110 9.3.6) and switched protocols (RFC 9110 7.8): bytes relayed in both directions without inspection.
#pragma once
#include <string_view>

#include "proxy/bumped_tunnel.hpp"
#include "proxy/request.hpp"
#include "proxy/response_writer.hpp"
#include "proxy/upstream.hpp"

namespace garner::proxy {

class Relay;

/// Belongs to one request.
class Tunnel {
public:
    Tunnel(Request& request, ResponseWriter& writer, Upstream& upstream)
        : request_(request), writer_(writer), upstream_(upstream), bumped_(request, upstream) {}

    /// Handles CONNECT. False when no source reaches the destination: Upstream::failure() has the reason.
    net::awaitable<bool> run();
    /// For a CONNECT that is refused: shows `refusal` as a page inside the tunnel. False if the rules do not bump the tunnel;
    /// nothing is sent then.
    net::awaitable<bool> show_page(FixedOrigin::Refusal refusal);
    /// Called after a 101 to a request for an upgrade.
    net::awaitable<void> switch_protocols();

    void abort();

private:
    void begin();
    net::awaitable<bool> establish();
    void count(bump::Action action);
    net::awaitable<bool> run_by_rules();
    net::awaitable<bool> splice();
    OwnEnds::Held hold_end(net::Transport& origin);
    net::awaitable<void> relay(net::Transport& origin, std::string_view from_client, std::string_view from_origin);

    Request& request_;
    ResponseWriter& writer_;
    Upstream& upstream_;
    BumpedTunnel bumped_;
    Relay* relay_ = nullptr;
};

}   // namespace garner::proxy
