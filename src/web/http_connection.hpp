// One connection of a client to one of the program's own HTTP services, and its requests one after the other.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "net/asio.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/intrusive_list.hpp"
#include "web/http_message.hpp"

namespace garner::web {

/// Takes the next piece of a body. Returns false if it does not want the rest.
using TakePiece = std::function<bool(std::string_view piece)>;
/// Replaces the piece by the next one. Returns false and an empty piece if there are no more.
using NextPiece = std::function<bool(std::string& piece)>;

/// Refuses requests whose host or body the client and this server could read differently. Sends no CORS fields.
class HttpConnection : public Link {
public:
    struct Limits {
        std::uint32_t head_bytes = 8 * KiB;
        Bytes body_bytes = 16 * KiB;
        milliseconds idle{15'000};       // from the end of a reply to the end of the next head
        milliseconds progress{15'000};   // until the next byte of a body comes, or a piece of a reply is taken
        bool draining = false;           // each connection is closed after its next reply, and waits for no request
        bool closing = false;            // each connection is closed after its next reply
    };

    /// `limits` outlives the connection.
    HttpConnection(Limits const& limits, net::TcpSocket, IpEndpoint own, IpAddress client);

    /// Waits for a request, and refuses it if it cannot be read. Returns false if there will be no more.
    net::awaitable<bool> receive();
    Request const& request() const { return request_; }
    /// The status with which receive() refused a request; 0 if it did not.
    unsigned refused_with() const { return refused_with_; }

    /// Gives the body to `take`, piece by piece. Returns a reply if it cannot be read, or is too long or too slow.
    net::awaitable<std::optional<Reply>> read_body(TakePiece const& take);

    /// Closes the connection after the reply if the body was not read to its end.
    net::awaitable<void> send(Reply const&);
    /// Sends a body of `length` bytes that `next` gives piece by piece.
    net::awaitable<void> send(Reply const& head, std::uint64_t length, NextPiece const& next);

    /// Begins a reply without a known length, which ends with the connection. Returns false if the client has left.
    net::awaitable<bool> begin_stream(Reply const& head);
    /// Returns false if the stream must end: the client has left or reads nothing, or the service closes its connections.
    net::awaitable<bool> send_piece(std::string_view piece);

    /// Whether it waits for a request, and since when.
    bool idle() const { return idle_; }
    SteadyTime since() const { return since_; }
    /// Whether the client has not sent its whole body: nothing of the request was done.
    bool reads_body() const { return reads_body_; }
    /// Whether it sends a stream, by begin_stream().
    bool streams() const { return streams_; }
    /// Cancels sending and receiving.
    void close() { stream_.close(); }

private:
    void show_request();
    std::optional<Reply> ambiguity() const;
    net::awaitable<std::optional<Reply>> read_pieces(TakePiece const& take);
    std::string begin_reply(Reply const&, std::optional<std::uint64_t> length);
    net::awaitable<bool> write(std::string_view head, std::string_view body = {});
    bool is_taken();
    net::awaitable<void> end_reply(bool written);

    Limits const& limits_;
    boost::beast::basic_stream<net::asio::ip::tcp, net::Executor> stream_;
    boost::beast::flat_buffer buffer_;
    std::optional<boost::beast::http::request_parser<boost::beast::http::buffer_body>> parser_;
    Request request_;
    std::string piece_;   // the current piece of the body, later of the reply
    SteadyTime since_ = steady_now();
    bool idle_ = true;
    bool reads_body_ = false;
    bool streams_ = false;
    bool last_ = false;            // no request follows
    Bytes sent_ = 0, taken_ = 0;   // of a stream: given to the kernel, and received by the client's kernel
    SteadyTime taken_at_{};        // when taken_ last grew, or there was nothing to take
    unsigned refused_with_ = 0;
};

}   // namespace garner::web
