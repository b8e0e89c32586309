// Hands client connections over to the process that takes over.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "proxy/departures.hpp"
#include "takeover/conversation.hpp"
#include "util/event.hpp"

namespace garner::app {

/// Used on one thread, unless stated otherwise. Some connections at a time: the next ones wait until these are acknowledged.
class ClientSender {
public:
    /// `wake`: set when a connection comes.
    explicit ClientSender(std::shared_ptr<Event const> wake)
        : departures_(std::make_shared<proxy::Departures>([wake = std::move(wake)] { wake->set(); })) {}

    /// For the workers.
    std::shared_ptr<proxy::Departures> const& departures() const { return departures_; }

    /// Takes the next ones from the workers. The removals that their clients know are sent before send().
    void take();
    /// Sends them, unless they are sent already. A slow receiver gets them by a later call.
    void send(takeover::Conversation& conversation);
    /// A `taken`: those that were not taken stay. The fault: it is no answer to the last message.
    Result<void> answered(takeover::Json const& message);

    /// How many the other process has taken.
    std::size_t taken() const { return taken_; }

    /// The workers serve all again that are not sent.
    void resume(proxy::Departures::Next next);
    /// No answer comes any more. If the other process has ended, resume() has those that it has not acknowledged. Otherwise it may
    /// serve them: they are closed in both.
    void give_up_answer(bool has_ended);

private:
    static void resume(std::vector<proxy::Departure> some, proxy::Departures::Next next);

    std::shared_ptr<proxy::Departures> const departures_;
    std::vector<proxy::Departure> some_;   // not acknowledged
    bool sent_ = false;
    std::uint64_t number_ = 0;   // of the message
    std::size_t taken_ = 0;
};

}   // namespace garner::app
