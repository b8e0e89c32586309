// A client as a request knows it: what it asks, how it is answered, and whether it is still there. An HTTP/1.1 connection
// (http1_stream) or nobody (nobody).
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "http/framing.hpp"
#include "http/message.hpp"
#include "net/transport.hpp"
#include "proxy/head_writer.hpp"
#include "util/ip.hpp"

namespace garner::proxy {

/// Belongs to one worker. One coroutine may read the body while another writes the answer.
class ClientStream {
public:
    /// `listener`: the port that `peer` connected to.
    ClientStream(IpEndpoint peer, std::uint16_t listener) : peer_(peer), listener_(listener) {}
    ClientStream(ClientStream const&) = delete;
    virtual ~ClientStream() = default;

    IpEndpoint const& peer() const { return peer_; }
    /// Its address, written once for all requests of the connection.
    std::string const& peer_text() const { return peer_text_; }
    std::uint16_t listener() const { return listener_; }
    /// Where it has reached this proxy.
    virtual IpAddress own_address() const = 0;
    /// The request was asked in the name of `peer`, and what is sent goes nowhere.
    virtual bool nobody() const { return false; }

    // ---- the request ----

    http::RequestHead const& head() const { return head_; }
    /// Decides how the body is delimited; refusal in the result.
    http::Framing const& begin_body() {
        framing_ = http::request_framing(head_);
        begin_request();
        return framing_;
    }
    http::Framing const& body_framing() const { return framing_; }
    virtual bool body_done() const = 0;
    struct Piece {
        net::Error error;
        char const* refusal = nullptr;
        std::string_view data;             // empty without an error: the end
    };
    /// Its view lives until the next call; the head's views stay valid as long as the request runs.
    virtual net::awaitable<Piece> read_body(milliseconds limit) = 0;
    virtual std::string const& trailers() const = 0;
    /// Bytes behind the head that belong to a tunnel or another protocol.
    virtual std::string_view leftover() const = 0;

    // ---- the response ----

    virtual bool takes_interim() const = 0;
    /// The response's body has no known length: says in `patch` how its end will be told. True: by the end of the connection.
    virtual bool begin_without_length(Patch& patch) = 0;
    /// The framing of a body without a known length: what goes before a piece of so many bytes, behind it, and behind the last one.
    /// Empty where it needs nothing. The views live until the next call.
    virtual std::string_view before_piece(Bytes bytes) = 0;
    virtual std::string_view behind_piece() = 0;
    virtual std::string_view behind_body(std::string_view trailers) = 0;
    /// The body ends here, and the client must not take it for the whole.
    virtual void show_truncation() = 0;

    /// Sends all; an error means the client is gone or stalled. Allocates nothing when the socket takes it at once.
    virtual net::IoResult try_send(std::span<iovec>& parts) = 0;
    virtual net::awaitable<net::IoResult> send(std::span<iovec> parts, milliseconds limit) = 0;

    // ---- the connection ----

    /// Ends whatever waits for the client.
    virtual void cancel() = 0;
    /// Calls `gone` once when the client hangs up, until unwatch(). Not while a body is read. Looks only after 100 ms:
    /// most waits are shorter, and looking costs system calls.
    virtual void watch(std::function<void()> gone) = 0;
    virtual void unwatch() = 0;
    /// The bytes on the wire since the last call.
    struct Traffic {
        Bytes received = 0;
        Bytes sent = 0;
    };
    virtual Traffic take_traffic() = 0;
    /// Of the request, on the wire.
    virtual Bytes received() const = 0;
    /// What the client's system has acknowledged of what was sent.
    virtual Bytes acknowledged() const = 0;
    /// The client's end of a tunnel.
    virtual net::Transport& transport() = 0;

protected:
    /// head() and body_framing() are there.
    virtual void begin_request() {}

    http::RequestHead head_;
    http::Framing framing_;

private:
    IpEndpoint peer_;
    std::string peer_text_ = peer_.address.text();
    std::uint16_t listener_;
};

}  // namespace garner::proxy
