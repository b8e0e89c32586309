#include "takeover/conversation.hpp"

#include <algorithm>

#include "util/units.hpp"

namespace garner::takeover {
namespace {

constexpr std::size_t sockets_a_message = 100;
constexpr milliseconds look_every{50};   // for cancel()
constexpr milliseconds slow_patience{10'000};

}   // namespace

control::Sent Conversation::deliver(Json const& message) {
    auto sent = control::Sent::slow;
    for (auto const until = steady_now() + slow_patience; sent == control::Sent::slow && steady_now() < until;)
        sent = channel_.try_send(message);
    return sent;
}

bool Conversation::send(std::span<net::NamedSocket const> sockets) {
    do {
        auto const some = sockets.first(std::min(sockets.size(), sockets_a_message));
        sockets = sockets.subspan(some.size());
        Sockets names{.names = {}, .last = sockets.empty()};
        std::vector<int> descriptors;
        for (auto const& socket : some) names.names.push_back(socket.name), descriptors.push_back(socket.descriptor);
        if (!send(json_of(names), descriptors)) return false;
    } while (!sockets.empty());
    return true;
}

Result<control::Message> Conversation::next(milliseconds patience) {
    auto const until = steady_now() + patience;
    while (!cancelled_ && steady_now() < until) {
        if (!channel_.waits(look_every)) continue;
        auto received = channel_.poll();
        if (!received) {
            lost_ = true;
            return received.fault();
        }
        if (*received) return std::move(**received);
    }
    return Fault{cancelled_ ? "the takeover was cancelled" : "no message within " + time_text(patience)};
}

Result<control::Message> Conversation::expect(std::vector<std::string_view> const& wanted, milliseconds patience) {
    auto message = next(patience);
    if (!message) return message.fault();
    auto const what = what_of(message->json);
    if (std::ranges::find(wanted, what) != wanted.end()) return message;
    if (auto const reason = refusal_of(message->json)) return Fault{*reason};
    auto const lines = message->json.find("lines");   // the answer of a program without takeovers
    if (lines != message->json.end() && lines->is_array() && !lines->empty() && lines->front().is_string())
        return Fault{lines->front().get<std::string>()};
    return Fault{"unexpected message \"" + what + "\""};
}

Result<void> Conversation::receive(net::HandedSockets& into, milliseconds patience) {
    while (true) {
        auto message = expect({"sockets"}, patience);
        if (!message) return message.fault();
        auto const sockets = sockets_of(message->json);
        if (!sockets) return sockets.fault();
        if (sockets->names.size() != message->descriptors.size())
            return Fault{"a message lost descriptors", "raise the limit of open files"};
        for (std::size_t i = 0; i < sockets->names.size(); ++i) into.add({sockets->names[i], message->descriptors.release(i)});
        if (sockets->last) return {};
    }
}

}   // namespace garner::takeover
