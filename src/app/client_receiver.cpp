#include "app/client_receiver.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "proxy/moved_client.hpp"

namespace garner::app {

/// The acknowledgement comes first: until then the former process would serve these connections if this one ended. If it has
/// ended itself, they are here alone.
bool ClientReceiver::take(takeover::Conversation& conversation, control::Message& message) {
    auto clients = takeover::clients_of(message.json);
    if (!clients) return false;
    takeover::Taken answer{.number = clients->number, .returned = {}};
    auto taken = choose(*std::move(clients), std::move(message.descriptors), answer);
    auto const sent = conversation.deliver(takeover::json_of(answer));
    if (sent == control::Sent::slow || sent == control::Sent::too_long) return false;
    serve(std::move(taken));
    return true;
}

/// A process at its limit of open files has received only the first descriptors.
ClientReceiver::Taken ClientReceiver::choose(takeover::Clients clients, control::Descriptors descriptors,
                                             takeover::Taken& answer) const {
    Taken taken;
    std::size_t next = 0, index = 0;
    for (auto& state : clients.clients) {
        proxy::MovingClient one;
        auto const wanted = next + state.descriptors();
        for (; next < wanted && next < descriptors.size(); ++next) one.descriptors.add(descriptors.release(next));
        bool const is_whole = next == wanted && one.descriptors.size() == state.descriptors();
        if (is_whole && !stops_ && has_room_for(taken.size())) one.point = proxy::point_for(server_.listening(), state);
        one.state = std::move(state);
        if (one.point)
            taken.push_back(std::move(one));
        else
            answer.returned.push_back(index);
        ++index;
        next = wanted;
    }
    return taken;
}

bool ClientReceiver::has_room_for(std::size_t more) const {
    auto const& connections = server_.shared().connections;
    return connections.seats() + more < connections.max();
}

/// Without the bytes in their pipes, tunnels have two.
std::size_t ClientReceiver::wanted_descriptors() const {
    auto const& connections = server_.shared().connections;
    return 2 * std::size_t{connections.max() - std::min(connections.seats(), connections.max())};
}

void ClientReceiver::serve(Taken taken) {
    auto const& workers = server_.shared().workers;
    for (auto& one : taken) {
        auto* const services = workers[next_++ % workers.size()];
        net::asio::post(services->worker.io, [services, one = std::move(one)]() mutable {
            proxy::serve_moved(*services, std::move(one), proxy::Departures::Next::may_leave);
        });
    }
}

}   // namespace garner::app
