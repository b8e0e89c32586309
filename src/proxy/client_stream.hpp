// The client of a request: its head and body, the response to it, and its connection state. Implementations:
// Http1Stream, Http2Stream and NoClient (background requests).
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "http/framing.hpp"
#include "http/message.hpp"
#include "net/transport.hpp"
#include "proxy/client.hpp"
#include "proxy/fetch_turns.hpp"
#include "proxy/head_writer.hpp"

namespace garner::proxy {

class OriginSeats;

/// Belongs to one worker. One coroutine may read the body while another writes the response.
class ClientStream {
public:
    explicit ClientStream(std::shared_ptr<Client const> client) : client_(std::move(client)) {}
    ClientStream(ClientStream const&) = delete;
    virtual ~ClientStream() = default;

    std::shared_ptr<Client const> const& client() const { return client_; }
    /// For later requests of the connection.
    void set_client(std::shared_ptr<Client const> client) { client_ = std::move(client); }
    IpEndpoint const& peer() const { return client_->peer; }
    /// The local address that the client connected to.
    virtual IpAddress own_address() const = 0;
    /// True for a request without a connected client: it runs in the name of `peer`, and its response is discarded.
    virtual bool is_absent() const { return false; }

    // ---- the request ----

    http::RequestHead const& head() const { return head_; }
    /// Determines the framing of the body; an error is in the result's refusal.
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
        std::string_view data;   // empty without an error: end of body
    };
    /// The view lives until the next call. The head's views stay valid as long as the request runs.
    virtual net::awaitable<Piece> read_body(milliseconds limit) = 0;
    virtual std::string const& trailers() const = 0;
    /// Bytes after the head that belong to a tunnel or another protocol.
    virtual std::string_view leftover() const = 0;

    // ---- the response ----

    virtual bool takes_interim() const = 0;
    /// The response body's length is unknown: sets its framing in `patch`. True: the body ends with the connection.
    virtual bool begin_without_length(Patch& patch) = 0;
    /// Framing of a body of unknown length: the bytes before a piece of the given size, after it, and after the last piece.
    /// Empty where no bytes are needed. The views live until the next call.
    virtual std::string_view before_piece(Bytes bytes) = 0;
    virtual std::string_view behind_piece() = 0;
    virtual std::string_view behind_body(std::string_view trailers) = 0;
    /// Makes a truncated body visible to the client.
    virtual void show_truncation() = 0;

    /// Sends all; an error means that the client disconnected or stalled. Allocates nothing when the socket accepts all at
    /// once.
    virtual net::IoResult try_send(std::span<iovec>& parts) = 0;
    virtual net::awaitable<net::IoResult> send(std::span<iovec> parts, milliseconds limit) = 0;
    /// The connection that sends the same, and may lend pages to the kernel (net::PageLender); nullptr: all is copied.
    net::Transport* lender() const { return lender_ && lender_->can_splice() ? lender_ : nullptr; }

    // ---- the connection ----

    /// Bytes after this request, which is complete, have been received. During a drain only, because it costs a system call.
    virtual bool more_received() { return false; }
    /// Another process could go on with the connection between two requests, or in a tunnel.
    virtual bool may_move() const { return false; }
    /// Cancels all operations that wait for the client.
    virtual void cancel() = 0;
    /// Calls `gone` once if the client disconnects before unwatch(). Must not be active while a body is read. Checks only after
    /// 100 ms: most waits are shorter, and a check costs system calls.
    virtual void watch(std::function<void()> gone) = 0;
    virtual void unwatch() = 0;
    /// While the client is not read, in a tunnel or an upload: calls `gone` if the client resets its stream; null: no longer. A
    /// connection of its own shows its end to the relay, and to an upload only when that reads on.
    virtual void watch_reset(std::function<void()>) {}
    /// Bytes sent and received on the wire since the last call.
    struct Traffic {
        Bytes received = 0;
        Bytes sent = 0;
    };
    virtual Traffic take_traffic() = 0;
    /// The request's bytes on the wire.
    virtual Bytes received() const = 0;
    /// Sent bytes that the client's TCP stack has acknowledged.
    virtual Bytes acknowledged() const = 0;
    /// The limit on fetches of the client's connection; nullptr: its requests come one after another.
    virtual FetchTurns* fetch_turns() { return nullptr; }
    /// For connections to origins, on the client's account; nullptr: they are limited otherwise.
    virtual OriginSeats* origin_seats() { return nullptr; }
    /// The client's connection, for a tunnel.
    virtual net::Transport& transport() = 0;

protected:
    /// Called when head() and body_framing() are set.
    virtual void begin_request() {}

    http::RequestHead head_;
    http::Framing framing_;
    net::Transport* lender_ = nullptr;   // try_send() and send() are those of this connection

private:
    std::shared_ptr<Client const> client_;
};

}   // namespace garner::proxy
