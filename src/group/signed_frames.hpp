// The bytes of one connection between a member and a voter: frames with a signature. Without I/O.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "group/group_message.hpp"

namespace garner::group {

inline constexpr std::size_t frame_bytes_max = 1 << 20;         // after its length
inline constexpr std::size_t first_frame_bytes_max = 4 << 10;   // the first one of each direction

/// Signs the messages of one side and checks those of the other. The key depends on the nonces of both sides, and each signature on
/// the direction and the number of the frame: a recorded frame is valid nowhere else.
class Channel {
public:
    enum class Side : std::uint8_t { member, voter };
    Channel(Side side, std::string secret) : side_(side), secret_(std::move(secret)) {}

    /// The frame of the next message to the other side. The member begins with Hello, and the voter with its answer.
    std::string seal(Message const&);

    enum class Trouble : std::uint8_t { none, too_long, bad_signature, malformed, unexpected };
    void receive(std::string_view bytes) { received_ += bytes; }
    /// The next complete message; nothing: more bytes are needed, or trouble() says why the connection must be closed.
    std::optional<Message> next();
    Trouble trouble() const { return trouble_; }
    /// Bytes received and not read yet.
    std::size_t waiting() const { return received_.size() - read_; }

private:
    std::optional<Message> open(std::string_view frame);
    std::optional<Message> fail(Trouble trouble);
    void learn_keys(Message const&);
    std::string signature(Side from, std::uint64_t number, std::string_view type_and_body) const;

    Side const side_;
    std::string const secret_;
    std::string key_;
    Nonce hello_nonce_{};
    std::string received_;
    std::size_t read_ = 0;   // of received_
    std::uint64_t sent_frames_ = 0, received_frames_ = 0;
    Trouble trouble_ = Trouble::none;
};

/// "the signature is wrong: the secret differs"
char const* text(Channel::Trouble);

}   // namespace garner::group
