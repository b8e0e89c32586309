#include "proxy/admission.hpp"

#include <algorithm>

#include "proxy/access_log.hpp"
#include "proxy/connection.hpp"
#include "proxy/http1_connection.hpp"
#include "proxy/intercepted_connection.hpp"
#include "proxy/tls_handshake.hpp"

namespace garner::proxy {
namespace {

std::uint32_t quarter_of_connections(Services const& services) { return std::max(services.shared.connections.max() / 4, 1u); }

/// A share of all connections, unless the operator sets a number. Loopback has no limit: a program on this machine that
/// forwards requests, such as a TLS terminator, speaks for many clients.
std::uint32_t connections_allowed(Services const& services, IpAddress const& client) {
    auto const given = services.options->limits.connections_per_client;
    if (given != 0) return given;
    return client.is_loopback() ? 0 : quarter_of_connections(services);
}

bool enter(Services& services, IpAddress const& address, std::uint32_t most) {
    if (services.shared.clients.enter(counted_client(services, address), most)) return true;
    services.counters.connections_refused.add();
    return false;
}

}   // namespace

IpAddress counted_client(Services const& services, IpAddress const& address) {
    auto const& limits = services.options->limits;
    return first_bits(address, limits.client_prefix4, limits.client_prefix6);
}

bool enter_client(Services& services, IpAddress const& address) {
    return enter(services, address, connections_allowed(services, address));
}

bool enter_balancer(Services& services, IpAddress const& address) {
    return enter(services, address, quarter_of_connections(services));
}

/// Idle connections make room, as for a client that connects.
std::string_view enter_extra(Services& services, IpAddress const& address) {
    auto& all = services.shared.connections;
    if (!all.may_enter_extra()) {
        if (all.is_full() && all.needs_room()) make_room(services);
        return limit_of_all;
    }
    if (!services.shared.clients.enter(counted_client(services, address), connections_allowed(services, address)))
        return limit_of_client;
    all.enter_extra();
    if (all.needs_room()) make_room(services);
    return {};
}

bool admit_named(Services& services, Accepted& accepted) {
    auto const& address = accepted.peer.address;
    if (!enter_client(services, address)) {
        log_refused_client(services, address, 0, limit_of_client);
        return false;
    }
    accepted.seat.move_to(counted_client(services, address));
    return true;
}

void start_protocol(Services& services, Accepted accepted) {
    if (accepted.point->intercept != net::Intercept::off)
        Connection::start(std::make_unique<InterceptedConnection>(services, std::move(accepted)));
    else if (accepted.point->tls)
        Connection::start(std::make_unique<TlsHandshake>(services, std::move(accepted)));
    else
        Connection::start(std::make_unique<Http1Connection>(services, std::move(accepted)));
}

void log_refused_client(Services& services, IpAddress const& client, Bytes sent, std::string_view limit) {
    if (!services.logs()) return;
    auto const text = client.text();
    LogEntry entry;
    entry.end = wall_now();
    entry.client = text;
    entry.tag = ResultTag::tcp_denied;
    entry.status = 429;
    entry.bytes = sent;
    entry.reason = limit;
    services.log->write(services.worker.number, entry);
}

}   // namespace garner::proxy
