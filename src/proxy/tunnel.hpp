// CONNECT (RFC 9110 9.3.6) and switched protocols (RFC 9110 7.8): bytes relayed in both directions without inspection.
#pragma once
#include <functional>
#include <string_view>

#include "proxy/bumped_tunnel.hpp"
#include "proxy/moving_tunnel.hpp"
#include "proxy/relay.hpp"
#include "proxy/request.hpp"
#include "proxy/response_writer.hpp"
#include "proxy/upstream.hpp"

namespace garner::proxy {

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

    /// A tunnel that another process has begun.
    net::awaitable<void> go_on(MovingTunnel tunnel);

    void abort();
    /// Another process goes on with it, if it can. Soon.
    void leave();
    /// After that: another process goes on with it.
    bool has_left() const { return moved_ != nullptr; }
    std::unique_ptr<MovingTunnel> take_moved() { return std::move(moved_); }

private:
    void begin();
    net::awaitable<bool> establish();
    void count(bump::Action action);
    net::awaitable<bool> run_by_rules();
    void note_refused(bump::Decision const& decision);
    net::awaitable<void> turn_away();
    net::awaitable<bool> splice();
    OwnEnds::Held hold_end(net::Transport& origin);
    struct OtherEnd {
        net::Transport& transport;
        bool of_peer;
        bool on_line = true;   // its bytes are charged to the line
    };
    struct Beginning {
        std::string_view from_client = {}, from_origin = {};   // bytes that were read already
        RelayedWay up = {}, down = {};
        milliseconds age{0};
    };
    net::awaitable<void> relay(OtherEnd const& end, Beginning begins);
    std::function<void()> counting(OtherEnd const& end);
    bool moves() const;
    void pack(OtherEnd const& end, Relay& relay);
    void unpack(takeover::HandedTunnel const& state);

    Request& request_;
    ResponseWriter& writer_;
    Upstream& upstream_;
    BumpedTunnel bumped_;
    Relay* relay_ = nullptr;
    net::Transport* other_end_ = nullptr;   // with relay_
    std::unique_ptr<MovingTunnel> moved_;   // null: it has not left
};

}   // namespace garner::proxy
