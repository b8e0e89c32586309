// A connection over the control socket: one message a datagram (SOCK_SEQPACKET), each a CBOR map.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "control/descriptors.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/result.hpp"

namespace garner::control {

using Json = nlohmann::json;

/// The suggested fix if no proxy listens.
inline constexpr char const* start_or_name_it = "start the proxy, or name its control.path by --set control.path=PATH";

inline constexpr Bytes message_max = 64 * KiB;
inline constexpr std::size_t descriptors_max = 253;   // of one message (SCM_RIGHTS)

/// A process at its limit of open files receives only the first descriptors.
struct Message {
    Json json;
    Descriptors descriptors;
};

enum class Sent : std::uint8_t {
    done,
    slow,       // the receiver does not read; nothing was sent
    too_long,   // for one message; nothing was sent
    ended       // the other end is gone
};

/// Owns the descriptor. Used on one thread.
class Channel {
public:
    explicit Channel(int descriptor) : descriptor_(descriptor) {}
    Channel(Channel&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Channel& operator=(Channel&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~Channel();

    /// Connects to the process that listens at `path`. The fault names the path.
    static Result<Channel> connect(std::string const& path);

    /// Waits at most a second for a slow receiver. The receiver gets duplicates of the descriptors.
    Sent try_send(Json const& message, std::span<int const> descriptors = {});
    bool send(Json const& message, std::span<int const> descriptors = {}) { return try_send(message, descriptors) == Sent::done; }
    /// Waits at most `patience` for the next message.
    Result<Json> receive(milliseconds patience);

    /// Never waits. Nothing if no message is there yet. A fault: the other end is gone, or has sent what is no message.
    /// `descriptors`: the message has the first ones at most.
    Result<std::optional<Message>> poll(std::size_t descriptors = descriptors_max);

    int descriptor() const { return descriptor_; }
    /// True if a message or the end has arrived before `patience` is over.
    bool waits(milliseconds patience) const;
    /// The process at the other end when the connection was made; 0: unknown.
    int process() const;

private:
    int descriptor_;
};

}   // namespace garner::control
