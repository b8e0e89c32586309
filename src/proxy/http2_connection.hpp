// A client's HTTP/2 connection (RFC 9113): its streams, each an ordinary transaction.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "h2/session.hpp"
#include "net/buffers.hpp"
#include "net/waiter.hpp"
#include "proxy/connection.hpp"
#include "proxy/http2_stream.hpp"
#include "proxy/request_places.hpp"

namespace garner::proxy {

class Http2Connection : public Connection, private Http2Wire, private h2::Handler {
public:
    Http2Connection(Services& services, Accepted accepted);
    ~Http2Connection() override;

    void drain() override;
    void abort() override;
    void name_pending(std::vector<std::string>& lines) const override;

private:
    /// The place of one stream after another; its memory is reused.
    struct Slot : Link {
        std::shared_ptr<Options const> options;
        std::optional<Http2Stream> stream;
        RequestPlaces::Lease place;
    };

    net::awaitable<void> run() override;
    net::awaitable<bool> receive();
    net::awaitable<net::Error> wait_input(milliseconds limit, SteadyTime now);
    bool take_input();
    void shrink();
    bool is_idle() const;
    void note_idle();
    milliseconds patience(SteadyTime now) const;
    bool waits_for_request() const;
    void watch_head(SteadyTime now);
    net::awaitable<void> start_requests();
    void start_request(h2::Stream& stream);
    net::awaitable<void> serve(Slot& slot);
    void end_request(Slot& slot);
    void end_if_drained();
    void restart_wait();
    net::awaitable<void> end();

    void on_request(h2::Stream& stream) override;
    void on_body(h2::Stream& stream) override;
    void on_sent(h2::Stream& stream) override;
    void on_reset(h2::Stream& stream) override;

    h2::Session& session() override { return session_; }
    void flush(bool more) override;
    bool gather();
    void send_gathered(bool more);
    net::awaitable<void> write_rest();
    void lose();
    net::Executor executor() override { return services_.worker.io.get_executor(); }
    net::DeadlineWheel& wheel() override { return services_.worker.wheel; }
    IpAddress own_address() override;
    FetchTurns& fetch_turns() override { return fetch_turns_; }
    OriginSeats& origin_seats() override { return Connection::origin_seats(); }

    std::shared_ptr<Client const> const client_;
    std::shared_ptr<h2::ClientMemory> const memory_;
    h2::Session session_;
    FetchTurns fetch_turns_;
    std::vector<std::unique_ptr<Slot>> slots_;
    List<Slot> free_;
    std::vector<h2::Stream*> arrived_;       // requests that have no slot yet
    std::size_t running_ = 0;                // slots in use
    std::int32_t slow_head_ = 0;             // the stream with the incomplete head
    SteadyTime head_until_{};                // when it must be complete
    bool begun_ = false;                     // a request has arrived
    SteadyTime input_at_ = steady_now();     // the last input
    std::optional<SteadyTime> idle_since_;   // set once there are no streams
    net::WakeHandle all_ended_;
    net::Buffer gathered_;   // frames to be sent; held only while there are some
    std::size_t sent_ = 0;
    std::size_t end_ = 0;
    bool gathering_ = false;   // input is being processed: frames are sent when the buffer is full, or at the end
    bool writing_ = false;     // write_rest() runs
    bool lost_ = false;        // the connection has failed
    bool restarts_ = false;    // the wait for input is interrupted, and begins anew
};

}   // namespace garner::proxy
