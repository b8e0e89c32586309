// The bytes of a client's HTTP/1.1 connection: reads heads and bodies, and frames the responses.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "net/head_buffer.hpp"
#include "net/worker.hpp"
#include "proxy/client_stream.hpp"
#include "proxy/head_budget.hpp"

namespace garner::proxy {

class Http1Stream : public ClientStream {
public:
    /// `transport` and `seats` must outlive it.
    Http1Stream(net::Transport& transport, std::shared_ptr<Client const> client, net::Worker& worker, OriginSeats& seats)
        : ClientStream(std::move(client)), transport_(transport), seats_(seats), buffer_(worker.head_buffers),
          buffers_(worker.buffers), watch_after_(
                                        worker.wheel, [](void* self) { static_cast<Http1Stream*>(self)->begin_watching(); }, this) {
        lender_ = &transport;
    }

    /// The result of waiting for a request's head.
    enum class Arrival : std::uint8_t {
        request,    // head() is complete
        refused,    // answer with refusal() and close
        closed,     // closed between requests: no response is due
        timed_out   // begun() tells whether a 408 is due
    };
    struct HeadWaits {
        milliseconds idle;   // for the first byte
        milliseconds head;   // from the first byte to the last
    };
    /// Waits for the first bytes of a request, unless begun(). No coroutine: an idle connection keeps one frame less.
    net::awaitable<net::IoResult> read_first(milliseconds limit);
    /// Judges what has arrived, after a read that may have brought nothing. Nothing: the head is incomplete, and read_rest() follows.
    std::optional<Arrival> take(net::IoResult const& read, http::HeadLimits const& limits);
    /// A head larger than 4 KiB counts against `budget` until it is complete; over the budget it is refused with 431.
    net::awaitable<Arrival> read_rest(http::HeadLimits const& limits, HeadWaits waits, HeadBudget& budget);
    http::HeadParse const& refusal() const { return parse_; }
    /// The refused input begins as TLS or SOCKS does.
    bool speaks_other_protocol() const;
    bool speaks_tls() const;
    /// Clears head(): the request has no valid head.
    void forget_head() { head_ = {}; }
    /// A request, or part of one, has been received already.
    bool begun() const { return begin_ != end_; }
    /// The request is finished; the bytes after it belong to the next.
    void finish_request();
    /// Bytes that another process has read. Before the first head.
    void begin_with(std::string_view bytes);
    /// The head of a request that another process has read. False if it is none.
    bool begin_with_head(std::string_view head);
    /// The connection stays in this process.
    void stay() { stays_ = true; }

    IpAddress own_address() const override;
    bool body_done() const override { return decoder_.done(); }
    net::awaitable<Piece> read_body(milliseconds limit) override;
    std::string const& trailers() const override { return decoder_.trailers(); }
    std::string_view leftover() const override { return {buffer_.data() + begin_, end_ - begin_}; }

    bool takes_interim() const override { return head_.version == http::Version::http_1_1; }
    bool begin_without_length(Patch& patch) override;
    std::string_view before_piece(Bytes bytes) override;
    std::string_view behind_piece() override { return chunked_ ? "\r\n" : ""; }
    std::string_view behind_body(std::string_view trailers) override;
    void show_truncation() override;
    net::IoResult try_send(std::span<iovec>& parts) override { return transport_.try_write(parts); }
    net::awaitable<net::IoResult> send(std::span<iovec> parts, milliseconds limit) override {
        return transport_.write(parts, limit);
    }

    bool more_received() override;
    bool may_move() const override;
    void cancel() override { transport_.cancel(); }
    void watch(std::function<void()> gone) override;
    void unwatch() override;
    Traffic take_traffic() override;
    Bytes received() const override { return transport_.received(); }
    Bytes acknowledged() const override { return transport_.acknowledged(); }
    OriginSeats* origin_seats() override { return &seats_; }
    net::Transport& transport() override { return transport_; }

private:
    void begin_request() override;
    void make_room();
    void rest();
    Arrival refuse_large_head();
    void begin_watching();
    void look_for_end();

    net::Transport& transport_;
    OriginSeats& seats_;
    Traffic taken_;
    net::HeadBuffer buffer_;   // without memory while the connection is idle
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t scanned_ = 0;
    http::HeadParse parse_;
    http::BodyDecoder decoder_;
    net::BufferPool& buffers_;
    net::Buffer body_buffer_;   // separate from buffer_, whose head must not move
    std::size_t body_begin_ = 0;
    std::size_t body_end_ = 0;
    bool chunked_ = false;   // the response is chunked
    bool stays_ = false;     // see stay()
    char chunk_header_[18];
    std::string last_chunk_;
    struct Watch {
        std::function<void()> gone;
    };
    net::Deadline watch_after_;
    bool watching_ = false;
    std::shared_ptr<Watch> watch_ = std::make_shared<Watch>();   // shared, because a queued handler may outlive this object
};

}   // namespace garner::proxy
