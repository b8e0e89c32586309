#include "app/client_sender.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "takeover/client_message.hpp"

namespace garner::app {

using proxy::Departures;

void ClientSender::take() {
    if (some_.empty()) some_ = departures_->take();
}

void ClientSender::send(takeover::Conversation& conversation) {
    if (some_.empty() || sent_) return;
    takeover::Clients message{.number = ++number_, .clients = {}};
    std::vector<int> descriptors;
    for (auto const& [client, from] : some_) {
        message.clients.push_back(client.state);
        std::ranges::copy(client.descriptors.all(), std::back_inserter(descriptors));
    }
    auto const sent = conversation.try_send(takeover::json_of(message), descriptors);
    sent_ = sent == control::Sent::done;
    if (sent == control::Sent::too_long) resume(std::exchange(some_, {}), Departures::Next::stays);   // a login with many groups
}

Result<void> ClientSender::answered(takeover::Json const& message) {
    auto const taken = takeover::taken_of(message);
    if (!taken) return taken.fault();
    if (!sent_ || taken->number != number_) return Fault{"unexpected message \"taken\""};
    for (std::size_t i = 0; i < some_.size(); ++i) {
        bool const returned = std::ranges::find(taken->returned, i) != taken->returned.end();
        taken_ += !returned;
        if (returned)
            Departures::resume(std::move(some_[i]), Departures::Next::stays);
        else
            Departures::close(std::move(some_[i]));
    }
    some_.clear();
    sent_ = false;
    return {};
}

void ClientSender::resume(Departures::Next next) {
    departures_->end(next);
    if (!sent_) resume(std::exchange(some_, {}), next);
    for (auto some = departures_->take(); !some.empty(); some = departures_->take()) resume(std::move(some), next);
}

void ClientSender::resume(std::vector<proxy::Departure> some, Departures::Next next) {
    for (auto& one : some) Departures::resume(std::move(one), next);
}

void ClientSender::give_up_answer(bool has_ended) {
    if (!std::exchange(sent_, false) || has_ended) return;
    for (auto& one : std::exchange(some_, {})) {
        for (int const descriptor : one.client.descriptors.all()) ::shutdown(descriptor, SHUT_RDWR);
        Departures::close(std::move(one));
    }
}

}   // namespace garner::app
