// One request of a client's HTTP/2 connection.
#pragma once
#include <memory>
#include <optional>

#include "h2/session.hpp"
#include "net/carrier.hpp"
#include "net/waiter.hpp"
#include "proxy/client_stream.hpp"

namespace garner::proxy {

/// The state that the streams of a connection share.
class Http2Wire {
public:
    virtual ~Http2Wire() = default;
    virtual h2::Session& session() = 0;
    /// Frames and sends what the session has, as far as that is possible without waiting. `more`: another call follows soon, and
    /// frames may be kept until then.
    virtual void flush(bool more = false) = 0;
    virtual net::Executor executor() = 0;
    virtual net::DeadlineWheel& wheel() = 0;
    virtual IpAddress own_address() = 0;
    virtual FetchTurns& fetch_turns() = 0;
    virtual OriginSeats& origin_seats() = 0;
};

/// Belongs to one worker. It is also the carrier of a tunnel.
class Http2Stream : public ClientStream, private net::Carrier {
public:
    Http2Stream(Http2Wire& wire, h2::Stream& stream, std::shared_ptr<Client const> client);
    ~Http2Stream() override;

    IpAddress own_address() const override { return wire_.own_address(); }
    /// The bytes of a tunnel are no body.
    bool body_done() const override { return framing_.kind == http::Framing::Kind::none || (stream_.body_done() && unread_ == 0); }
    net::awaitable<Piece> read_body(milliseconds limit) override;
    std::string const& trailers() const override { return stream_.trailers(); }
    std::string_view leftover() const override { return {}; }

    bool takes_interim() const override { return true; }
    bool begin_without_length(Patch&) override { return false; }
    std::string_view before_piece(Bytes) override { return {}; }
    std::string_view behind_piece() override { return {}; }
    std::string_view behind_body(std::string_view trailers) override;
    void show_truncation() override;
    net::IoResult try_send(std::span<iovec>& parts) override { return tunnel_ ? try_send(parts, false) : try_frame(parts, false); }
    net::awaitable<net::IoResult> send(std::span<iovec> parts, milliseconds limit) override;

    void cancel() override;
    void watch(std::function<void()> gone) override { gone_ = std::move(gone); }
    void unwatch() override { gone_ = nullptr; }
    void watch_reset(std::function<void()> gone) override { gone_ = std::move(gone); }
    Traffic take_traffic() override;
    Bytes received() const override { return stream_.received(); }
    Bytes acknowledged() const override { return stream_.sent(); }
    FetchTurns* fetch_turns() override { return &wire_.fetch_turns(); }
    OriginSeats* origin_seats() override { return &wire_.origin_seats(); }
    net::Transport& transport() override;

    // ---- for the connection ----

    h2::Stream& stream() { return stream_; }
    /// Bytes of the body have arrived, or its end.
    void on_body() {
        readable_.wake(net::Wake::ready);
        tell_arrival();
    }
    /// All that was passed on is framed.
    void on_sent() { writable_.wake(net::Wake::ready); }
    /// The client has reset the stream.
    void on_gone();
    /// The connection has ended.
    void on_lost() {
        lost_ = true;
        on_gone();
    }

private:
    bool is_gone() const { return lost_ || stream_.is_gone(); }
    void consume_read();
    net::awaitable<net::Wake> wait_for(net::WakeHandle& handle, milliseconds limit);
    net::IoResult try_frame(std::span<iovec>& parts, bool more);
    net::IoResult try_send(std::span<iovec>& parts, bool more) override;
    net::IoResult try_receive(std::span<char> into) override;
    net::awaitable<net::Error> ready(Direction direction) override;
    void on_arrival(std::function<void()> changed) override;
    void on_reset(std::function<void()> reset) override { gone_ = std::move(reset); }
    bool may_receive() const { return is_gone() || !stream_.body().empty() || stream_.body_done(); }
    void tell_arrival() {
        if (arrived_) std::exchange(arrived_, nullptr)();
    }
    void shutdown_send() override;
    void close_with_reset() override;

    Http2Wire& wire_;
    h2::Stream& stream_;
    std::size_t unread_ = 0;   // bytes of the last piece that read_body() returned
    bool lost_ = false;        // the connection has ended
    bool tunnel_ = false;
    bool ended_ = false;   // our side
    std::uint64_t cancels_ = 0;
    net::WakeHandle readable_;
    net::WakeHandle writable_;
    std::function<void()> gone_;
    std::function<void()> arrived_;
    Traffic taken_;
    std::optional<net::Transport> transport_;   // of a tunnel
    std::string held_;                          // a tunnel's bytes that wait for the client's window
    iovec held_part_{};
};

}   // namespace garner::proxy
