// A client connection that a former process hands over, between two requests or as a tunnel: its state without its descriptors.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"
#include "util/units.hpp"

namespace garner::takeover {

/// One direction of a tunnel.
struct HandedWay {
    Bytes in_pipe = 0;    // bytes that were read and not sent; above 0: a pipe that has them is handed over, too
    bool ended = false;   // the sender has ended it, and the receiver knows
};

/// A CONNECT, or a connection that has switched protocols. Texts of the log are those that it prints.
struct HandedTunnel {
    std::string head = {};   // the request's, without credentials
    std::string user = {};   // empty: the client has not logged in
    std::vector<std::string> groups = {};
    milliseconds age{0};   // since the request
    Bytes sent = 0;        // to the client, response and tunnel
    std::uint16_t status = 0;
    std::string tag = {};         // Squid's result code
    std::string hierarchy = {};   // Squid's hierarchy code
    std::string peer = {};        // name or address of the other end
    std::string reach = {};       // the way to a peer
    std::string reason = {};
    bool of_peer = false;   // the other end is a peer
    bool on_line = true;    // its bytes are charged to the line
    HandedWay up = {}, down = {};
};

struct HandedClient {
    IpEndpoint listener = {};                               // the listening address that accepted it
    IpEndpoint client = {};                                 // from a PROXY header if it began with one
    bool is_accelerated = false;                            // the listening address had an origin
    bool is_new = true;                                     // it has had no request
    std::string unread = {};                                // bytes of requests that have not begun
    std::optional<IpEndpoint> destination = std::nullopt;   // the destination of an intercepted connection
    std::string authority = {}, unique_id = {};             // from a PROXY header
    std::optional<HandedTunnel> tunnel = std::nullopt;

    /// The descriptors in the message: the client's, and for a tunnel the other end's, and the two ends of each pipe (`up` first).
    std::size_t descriptors() const {
        if (!tunnel) return 1;
        return 2 + (tunnel->up.in_pipe > 0 ? 2 : 0) + (tunnel->down.in_pipe > 0 ? 2 : 0);
    }
    /// The most that it takes in a message.
    Bytes bytes() const {
        constexpr Bytes others = 512;
        auto all = others + unread.size() + authority.size() + unique_id.size();
        if (!tunnel) return all;
        for (auto const& group : tunnel->groups) all += group.size() + 8;
        return all + tunnel->head.size() + tunnel->user.size() + tunnel->reason.size() + tunnel->peer.size();
    }
    /// A larger one stays where it is.
    static constexpr Bytes bytes_max = 32 * KiB;
};

}   // namespace garner::takeover
