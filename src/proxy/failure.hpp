// Why a server sent no response: statuses and texts. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/fill.hpp"
#include "client/exchange.hpp"
#include "net/connector.hpp"
#include "share/quota.hpp"

namespace garner::proxy {

/// The cause of a failure. Only a failure that other requests would meet, too, is remembered.
enum class FailureCause : std::uint8_t {
    none,         // limits and rules of this proxy, the client, a shutdown
    name,         // the name could not be resolved; net/name_cache remembers that
    connection,   // the connection to the server failed
    answer        // no usable response came; the request may be the cause
};

/// The cause for Cache-Status and the error page; empty for this proxy itself.
std::string_view decided_by(FailureCause);

struct Failure {
    cache::FetchFailure told;   // for the client and followers
    FailureCause cause = FailureCause::none;
    std::string fields = {};   // lines for the client: Proxy-Authenticate of a parent (407), Retry-After (429)
    /// The key of the limit that left no seat for a connection to an origin; empty: it was not the cause.
    std::string_view limit = {};
    /// The client has no right to the response, or has not shown it yet: no other source is asked, and nothing stale is sent.
    bool is_refusal() const { return told.status == 403 || told.status == 407; }
    /// Nothing more goes over the line for this client. Stored responses may be sent.
    bool is_over_quota() const { return told.kind == cache::FailureKind::quota; }
    /// This client may have no further connection now: another client's request may have one.
    bool is_over_limit() const { return !limit.empty(); }
};

/// `server`: "The origin", "The parent campus". `what_is_wrong`: the error in a malformed message.
Failure failure_of(client::Trouble, std::string const& server, char const* what_is_wrong);
/// `is_peer`: the unresolved name is the peer's, not the origin's.
Failure failure_of(net::Connected const&, std::string const& server, bool is_peer);
/// 429: the quota is used up until the end of its window.
Failure over_quota(share::QuotaStanding const& standing);
/// No seat became free in this time. `limit`: the key of the limit of the client (429), or of all clients (503).
Failure no_seat(std::string_view limit, bool is_of_client, milliseconds waited);
/// Marks the failure as a peer's: the error page must not blame the origin.
Failure at_peer(Failure failure);

}   // namespace garner::proxy
