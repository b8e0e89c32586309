// CONNECT (RFC 9110 9.3.6) and switched protocols (RFC 9110 7.8): bytes relayed in both directions without inspection.
#pragma once
#include <string_view>

#include "proxy/request.hpp"
#include "proxy/response_writer.hpp"
#include "proxy/upstream.hpp"

namespace garner::proxy {

class Relay;

/// Belongs to one request.
class Tunnel {
public:
    Tunnel(Request& request, ResponseWriter& writer, Upstream& upstream)
        : request_(request), writer_(writer), upstream_(upstream) {}

    /// Handles CONNECT. False when no source reaches the destination: Upstream::failure() has the reason.
    net::awaitable<bool> run();
    /// Called after a 101 to a request for an upgrade.
    net::awaitable<void> switch_protocols();

    void abort();

private:
    net::awaitable<void> relay(net::Transport& origin, std::string_view from_client, std::string_view from_origin);

    Request& request_;
    ResponseWriter& writer_;
    Upstream& upstream_;
    Relay* relay_ = nullptr;
};

}   // namespace garner::proxy
