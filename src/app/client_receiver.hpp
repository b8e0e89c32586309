// Takes over client connections of a former process.
#pragma once
#include <atomic>
#include <vector>

#include "control/channel.hpp"
#include "proxy/departures.hpp"
#include "proxy/server.hpp"
#include "takeover/client_message.hpp"
#include "takeover/conversation.hpp"

namespace garner::app {

/// Used on one thread, unless stated otherwise.
class ClientReceiver {
public:
    explicit ClientReceiver(proxy::Server& server) : server_(server) {}

    /// A `clients`: acknowledges it, and then serves what it has taken. False if it is invalid, or the other process does not read.
    bool take(takeover::Conversation& conversation, control::Message& message);
    /// The most descriptors that a message should bring: more would leave none for requests if the limit of open files is low.
    std::size_t wanted_descriptors() const;
    /// This process stops: takes no more. From any thread.
    void stop() { stops_ = true; }

private:
    using Taken = std::vector<proxy::MovingClient>;
    Taken choose(takeover::Clients clients, control::Descriptors descriptors, takeover::Taken& answer) const;
    bool has_room_for(std::size_t more) const;
    void serve(Taken taken);

    proxy::Server& server_;
    std::atomic<bool> stops_{false};
    std::size_t next_ = 0;   // worker
};

}   // namespace garner::app
