// One end of a takeover: sends messages, and waits for those of the other process.
#pragma once
#include <atomic>
#include <span>
#include <string_view>
#include <vector>

#include "control/channel.hpp"
#include "net/handed_sockets.hpp"
#include "takeover/takeover_message.hpp"

namespace garner::takeover {

/// Used on one thread, unless stated otherwise.
class Conversation {
public:
    explicit Conversation(control::Channel channel) : channel_(std::move(channel)) {}

    bool send(Json const& message, std::span<int const> descriptors = {}) { return channel_.send(message, descriptors); }
    /// See Channel.
    control::Sent try_send(Json const& message, std::span<int const> descriptors = {}) {
        return channel_.try_send(message, descriptors);
    }
    /// Waits some seconds for a slow receiver.
    control::Sent deliver(Json const& message);
    /// Like deliver(), for the last message. False if it is lost.
    bool send_surely(Json const& message) { return deliver(message) == control::Sent::done; }
    /// In messages of a hundred.
    bool send(std::span<net::NamedSocket const> sockets);

    /// The next message, which must be one of these. The fault: none came within `patience`, the other process refuses, or it has
    /// sent another one. lost(): that process has ended.
    Result<control::Message> expect(std::vector<std::string_view> const& wanted, milliseconds patience);
    bool lost() const { return lost_; }
    /// Receives all `sockets` messages.
    Result<void> receive(net::HandedSockets& into, milliseconds patience);

    /// Ends all waits soon. From any thread.
    void cancel() { cancelled_ = true; }
    bool cancelled() const { return cancelled_; }

    control::Channel& channel() { return channel_; }

private:
    Result<control::Message> next(milliseconds patience);

    control::Channel channel_;
    std::atomic<bool> cancelled_{false};
    bool lost_ = false;
};

}   // namespace garner::takeover
