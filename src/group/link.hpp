// One TCP connection between a member and a voter: messages in, messages out, both bounded.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "group/signed_frames.hpp"
#include "net/asio.hpp"
#include "util/bytes.hpp"
#include "util/ip.hpp"

namespace garner::group {

/// From the system.
Nonce random_nonce();

/// Used on the thread of the group only. Its coroutines hold it. After drop() it makes no more calls.
class Link : public std::enable_shared_from_this<Link> {
public:
    /// Further bytes for an end that does not read them: the link is closed.
    static constexpr Bytes waiting_max = 1 * MiB;

    enum class End : std::uint8_t { closed, bad_frame, slow_reader };
    struct Events {
        /// False: the message is a violation. The link sends the messages that next() has, and is closed.
        std::function<bool(Message const&)> received;
        /// The next message, while the link can take more.
        std::function<std::optional<Message>()> next;
        /// The last call. `why`: in words. Never called from within send() or close().
        std::function<void(End, std::string const& why)> ended;
    };

    Link(net::TcpSocket socket, Channel::Side side, std::string secret, IpEndpoint other);
    void start(Events events);

    void send(Message const&);
    /// next() may have something.
    void wake();
    /// Ends it with this reason.
    void close(End how, std::string why);
    /// Closes it without a call of `ended`.
    void drop();
    IpEndpoint const& other() const { return other_; }

private:
    static net::awaitable<void> read(std::shared_ptr<Link> self);
    static net::awaitable<void> write(std::shared_ptr<Link> self);
    bool take(std::string_view bytes);
    void refuse_secret();
    void pull();
    void begin_to_write();
    void shut();

    net::TcpSocket socket_;
    Channel::Side const side_;
    Channel channel_;
    IpEndpoint const other_;
    Events events_;
    std::array<char, 16 * KiB> buffer_;
    std::string waiting_, writing_;
    bool is_writing_ = false;
    bool finishing_ = false;   // closed when all is written
    bool is_open_ = true;
    bool is_dropped_ = false;
    bool has_received_ = false;
    End end_ = End::closed;
    std::string why_;
};

}   // namespace garner::group
