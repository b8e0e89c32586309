// Serves a client connection that has come from another process, or back from the way there.
#pragma once
#include <memory>

#include "net/transport.hpp"
#include "proxy/departures.hpp"

namespace garner::proxy {

class Listening;

/// The listening address that such a connection belongs to here; null: this process cannot serve it.
std::shared_ptr<ListenPoint const> point_for(Listening const& listening, takeover::HandedClient const& client);

/// Owns the descriptor of a connected socket. Null if it is none.
std::unique_ptr<net::Transport> transport_of(Services& services, int descriptor);

/// On the worker.
void serve_moved(Services& services, MovingClient client, Departures::Next next);

}   // namespace garner::proxy
