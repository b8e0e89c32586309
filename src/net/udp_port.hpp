// One UDP socket on a worker: datagrams are read and sent in batches, without waiting.
#pragma once
#include <sys/socket.h>

#include <boost/asio/basic_datagram_socket.hpp>
#include <boost/asio/ip/udp.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/asio.hpp"
#include "util/bytes.hpp"
#include "util/counted.hpp"
#include "util/counter.hpp"
#include "util/ip.hpp"
#include "util/result.hpp"

namespace garner::net {

/// Not thread-safe: used on the thread of its io_context, except that it may be opened, and destroyed unused, by another one.
class UdpPort : public Counted<UdpPort> {
public:
    static constexpr Bytes datagram_max = 16 * KiB;   // longer ones are dropped, in both directions
    static constexpr std::size_t batch = 32;          // read in one turn, so that a busy socket does not starve other work
    static constexpr Bytes memory_max = 2 * batch * (datagram_max + 256);

    /// A bound socket; the fault names the address. "::" accepts IPv4, too; port 0 is any port. `shared`: each worker of this
    /// process opens the port; the kernel distributes the datagrams by their source.
    static Result<std::unique_ptr<UdpPort>> open(asio::io_context& io, IpEndpoint const& at, bool shared);

    /// A bound socket of another process; owns it.
    static Result<std::unique_ptr<UdpPort>> adopt(asio::io_context& io, int descriptor);

    /// An unshared port for IPv6 and IPv4, or for IPv4 only if the kernel has no IPv6.
    static Result<std::unique_ptr<UdpPort>> open_any(asio::io_context& io);

    /// A fault if another process has the port: SO_REUSEPORT alone would let a second process of the same user take a part of
    /// the datagrams unnoticed. Called before the first worker opens it.
    static Result<void> is_free(IpEndpoint const& at);

    ~UdpPort();

    /// `datagram` is valid during the call. The handler may send(), and may stop().
    using Handler = void (*)(void* owner, std::span<char const> datagram, IpEndpoint const& from);

    /// Starts reading.
    void start(Handler handler, void* owner);
    /// Closes the socket; the handler is not called any more.
    void stop();
    /// Like stop(), after the handler got the datagrams that have arrived.
    void finish();

    /// Queues a copy, which is sent at the end of the handler's turn; outside of a handler, at flush(). A datagram that the
    /// kernel does not accept at once, or never accepts, is dropped and counted.
    void send(std::string_view datagram, IpEndpoint const& to);
    void flush();

    IpEndpoint local() const;
    int descriptor() const { return kept_ >= 0 ? kept_ : const_cast<Socket&>(socket_).native_handle(); }

    // Between start() and stop(): another process reads from the same socket meanwhile.
    void pause();
    void resume();

    Counter dropped;     // outgoing datagrams
    Counter oversized;   // received, and longer than datagram_max

private:
    using Socket = asio::basic_datagram_socket<asio::ip::udp, Executor>;
    struct Batch;
    UdpPort(asio::io_context& io, bool v4);
    void await_datagrams();
    int read_batch();

    Socket socket_;
    bool const v4_;
    int kept_ = -1;   // the socket between pause() and resume()
    Handler handler_ = nullptr;
    void* owner_ = nullptr;
    std::unique_ptr<Batch> inbox_;
    std::unique_ptr<Batch> outbox_;
    std::shared_ptr<bool> const is_there_ = std::make_shared<bool>(true);   // known to a wait that ends after its destruction
};

}   // namespace garner::net
