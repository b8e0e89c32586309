#include "proxy/moved_client.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "proxy/admission.hpp"
#include "proxy/http1_connection.hpp"
#include "proxy/listening.hpp"

namespace garner::proxy {

namespace {

net::asio::ip::tcp protocol_of(int descriptor) {
    int family = AF_INET;
    socklen_t size = sizeof family;
    ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &size);
    return family == AF_INET6 ? net::asio::ip::tcp::v6() : net::asio::ip::tcp::v4();
}

std::shared_ptr<net::ProxyHeader const> header_of(takeover::HandedClient const& state) {
    if (state.authority.empty() && state.unique_id.empty()) return nullptr;
    return std::make_shared<net::ProxyHeader const>(
        net::ProxyHeader{.source = state.client, .authority = state.authority, .unique_id = state.unique_id});
}

/// The requests of an intercepted connection have one origin.
std::shared_ptr<ListenPoint const> with_destination(std::shared_ptr<ListenPoint const> point, takeover::HandedClient const& state) {
    if (!state.destination) return point;
    auto own = *point;
    own.origin = intercepted_origin(http::Scheme::http, *state.destination);
    return std::make_shared<ListenPoint const>(std::move(own));
}

/// No limit applies: the connection was admitted before.
Seat take_seat(Services& services, IpAddress const& address) {
    constexpr std::uint32_t no_limit = 0;
    auto const client = counted_client(services, address);
    services.shared.clients.enter(client, no_limit);
    return {services, client};
}

}   // namespace

std::shared_ptr<ListenPoint const> point_for(Listening const& listening, takeover::HandedClient const& client) {
    auto point = listening.point_at(client.listener);
    if (!point || point->tls || (point->origin != nullptr) != client.is_accelerated) return nullptr;
    bool const intercepts = point->intercept != net::Intercept::off;
    return intercepts == client.destination.has_value() ? point : nullptr;
}

std::unique_ptr<net::Transport> transport_of(Services& services, int descriptor) {
    net::TcpSocket socket(services.worker.io);
    net::Error error;
    socket.assign(protocol_of(descriptor), descriptor, error);
    if (error) ::close(descriptor);
    if (error) return nullptr;
    return std::make_unique<net::Transport>(std::move(socket), services.worker.wheel);
}

void serve_moved(Services& services, MovingClient client, Departures::Next next) {
    auto const& state = client.state;
    auto transport = transport_of(services, client.descriptors.release(0));
    if (!transport) return;
    Accepted accepted{.transport = std::move(transport),
                      .peer = state.client,
                      .seat = take_seat(services, state.client.address),
                      .point = with_destination(client.point, state),
                      .outside = nullptr,
                      .header = header_of(state)};
    Connection::start(std::make_unique<Http1Connection>(services, std::move(accepted), std::move(client), next));
}

}   // namespace garner::proxy
