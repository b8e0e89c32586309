// One HTTP/1.1 exchange with an origin or a peer, on one connection.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/framing.hpp"
#include "http/message.hpp"
#include "net/buffers.hpp"
#include "net/transport.hpp"
#include "util/recycled_memory.hpp"

namespace garner::client {

/// The result of a step of an exchange.
enum class Trouble : std::uint8_t {
    none,
    closed,   // orderly, before the message was complete
    reset,    // or ended by another connection error
    timed_out,
    malformed,   // see Exchange::fault()
    cancelled
};

/// Sends one request and reads its response. Belongs to one worker; one coroutine may write while another reads.
class Exchange : public Recycled {
public:
    Exchange(std::unique_ptr<net::Transport> transport, net::Buffer buffer, bool reused, http::HeadLimits const& limits)
        : transport_(std::move(transport)), buffer_(std::move(buffer)), limits_(limits), reused_(reused),
          received_before_(transport_->received()), sent_before_(transport_->sent()) {
        head_.fields.reserve(24);   // most responses: one allocation instead of five
        decoder_.tolerate();
    }

    /// Sends without waiting. std::nullopt when the socket is full; `parts` then holds the bytes that send() must send.
    std::optional<Trouble> try_send(std::span<iovec>& parts);
    /// Sends bytes of the request. `parts` is consumed.
    net::awaitable<Trouble> send(std::span<iovec> parts, milliseconds limit);

    /// Reads the next head, interim or final, into head(). Its views live until the next read. `limit` covers the whole
    /// head.
    net::awaitable<Trouble> read_head(http::Method request, milliseconds limit);
    http::ResponseHead const& head() const { return head_; }
    http::Framing const& framing() const { return decoder_.framing(); }
    /// The response has errors that were repaired, and other recipients may find another end of it, or of its head or a chunk: it
    /// must not be stored. May become true while the body is read.
    bool is_doubtful() const { return decoder_.repair() == http::Repair::doubtful; }

    /// The next piece of the body: a view that lives until the next call; empty with Trouble::none at the end. The piece
    /// may be at the beginning of `into`, which spares the caller a copy.
    struct Piece {
        Trouble trouble = Trouble::none;
        std::string_view data;
    };
    net::awaitable<Piece> read_body(milliseconds limit, std::span<char> into = {});
    /// The next `skipped` bytes of the body are dropped. `left` bytes follow them, if known: a body with fewer or more
    /// bytes is malformed.
    void go_on_behind(Bytes skipped, std::optional<Bytes> left) {
        to_skip_ = skipped;
        left_ = left;
    }
    /// The body bytes that are available without waiting.
    Piece body_at_hand();
    bool body_done() const { return decoder_.done(); }
    std::string const& trailers() const { return decoder_.trailers(); }

    /// After a 101: the bytes after the head belong to the new protocol.
    std::string_view leftover() const { return {buffer_.get() + begin_, end_ - begin_}; }

    /// The final response was complete and needed no repair, no bytes are left over, and both sides keep the connection.
    bool reusable() const;
    /// How long the connection may be idle before its next request, as the server has announced; less a second, in which the server
    /// may close it while a request is on its way.
    milliseconds idle_max() const { return idle_max_; }
    bool reused() const { return reused_; }
    /// The next read_body() reads directly into the given buffer: the body has no transfer coding, and is not complete.
    bool reads_straight() const {
        return framing().kind == http::Framing::Kind::length && begin_ == end_ && to_skip_ == 0 && !left_ && !decoder_.done();
    }
    /// True once any byte of a response was received.
    bool answered() const { return answered_; }
    char const* fault() const { return fault_; }
    /// For a caller that finds an error in the response. `fault`: a literal.
    void refuse(char const* fault) { fault_ = fault; }

    net::Transport& transport() { return *transport_; }
    bool connected() const { return transport_ != nullptr; }
    /// The most that one read receives.
    void read_at_most(Bytes bytes) { read_max_ = bytes; }
    /// The bytes of this exchange on the wire since the last call.
    struct Traffic {
        Bytes received = 0;
        Bytes sent = 0;
    };
    Traffic take_traffic();
    std::unique_ptr<net::Transport> release() { return std::move(transport_); }
    void cancel() {
        cancelled_ = true;
        if (transport_) transport_->cancel();
    }

private:
    std::optional<Trouble> take_head(http::Method request);
    std::optional<Trouble> repair_head(http::HeadParse const& parsed, http::Method request);
    // A read into the buffer, in three parts: one coroutine less for each response.
    Trouble make_room();
    net::awaitable<net::IoResult> receive(milliseconds limit);
    Trouble note_received(net::IoResult const& read);
    net::awaitable<Piece> read_straight(milliseconds limit, std::span<char> into);
    Trouble trouble_of(net::Error const& error) const;
    Piece step();
    Piece at_end();

    std::unique_ptr<net::Transport> transport_;
    net::Buffer buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t scanned_ = 0;
    http::HeadLimits limits_;
    http::ResponseHead head_;
    http::BodyDecoder decoder_;
    std::unique_ptr<std::string> repaired_;   // head_ is in it instead of the buffer
    char const* fault_ = "";
    bool reused_;
    bool answered_ = false;
    bool cancelled_ = false;
    bool needs_input_ = false;
    Bytes read_max_ = net::BufferPool::size;
    Bytes to_skip_ = 0;
    std::optional<Bytes> left_;   // bytes after the skipped ones; the framing does not separate them
    Bytes received_before_;
    Bytes sent_before_;
    milliseconds idle_max_ = milliseconds::max();
    bool keeps_alive_ = false;   // a copy: head_'s views are invalid once the body has been read
};

}   // namespace garner::client
