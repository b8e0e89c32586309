// A request's side towards origins and peers: one exchange at a time; the sources are asked in turn.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "client/exchange.hpp"
#include "proxy/failure.hpp"
#include "proxy/final_head.hpp"
#include "proxy/origin_seats.hpp"
#include "proxy/request.hpp"
#include "proxy/response_writer.hpp"
#include "proxy/silent_peers.hpp"
#include "proxy/source_use.hpp"
#include "proxy/sources.hpp"
#include "proxy/upload.hpp"
#include "proxy/upstream_head.hpp"

namespace garner::proxy {

/// An exchange that continues a truncated body, with its measurement and pool key.
struct Rest {
    std::unique_ptr<client::Exchange> exchange;   // null: no source continues it
    SourceUse use;
    RecycledString pool_key;
    OriginSeat seat;
};

/// Belongs to one request.
class Upstream {
public:
    Upstream(Request& request, ResponseWriter& writer) : request_(request), writer_(writer), sources_(request), upload_(request) {}

    Sources& sources() { return sources_; }
    Upload& upload() { return upload_; }

    /// Asks the sources in turn. True when a final head (or a 101) has arrived; otherwise failure() has the reason.
    net::awaitable<bool> ask(RequestChanges const& changes);
    /// Asks the current source only; retries once if its idle connection had died.
    net::awaitable<bool> ask_current(RequestChanges const& changes);
    /// Another source may be asked. A request that may have had an effect is not repeated (RFC 9110 9.2.2).
    bool may_try_next() const;

    /// Opens a CONNECT tunnel through the first source that reaches the destination; nullptr when none does: failure() has
    /// the reason. `early`: the bytes that the peer sent after its 2xx.
    net::awaitable<std::unique_ptr<net::Transport>> open_tunnel(std::string& early);

    /// Makes a TLS connection with `where` through a tunnel.
    net::awaitable<net::Connected> secure(std::unique_ptr<net::Transport> transport, net::ConnectTarget const& where);

    client::Exchange& exchange() { return *exchange_; }
    http::ResponseHead const& head() const { return exchange_->head(); }
    /// See Exchange::is_doubtful().
    bool is_doubtful() const { return exchange_ && exchange_->is_doubtful(); }
    /// A connection is open.
    bool has_connection() const { return exchange_ && exchange_->connected(); }
    /// Moves the exchange out, to a new owner.
    Rest hand_over() { return {std::move(exchange_), std::move(use_), RecycledString(pool_key_), std::move(seat_)}; }
    /// The response was read to its end, or will not be: the connection returns to the pool if it can be reused.
    void finish_exchange();
    /// Closes the connection, unless it was returned to the pool, and frees its seat.
    void drop_exchange();
    void count_traffic();

    Failure const& failure() const { return failure_; }
    void fail(std::uint16_t status, std::string reason, cache::FailureKind kind, FailureCause cause = FailureCause::none) {
        failure_ = {{status, std::move(reason), kind}, cause};
    }

    WallTime asked_at() const { return asked_at_; }
    /// See http::Terms.
    std::uint32_t passed() const { return passed_; }
    /// True when an origin may have seen the request.
    bool went_out() const { return went_out_; }
    /// The address connected to; unspecified before.
    IpAddress const& address() const { return address_; }
    /// The address that the response came from, for rules: the origin's own, never a peer's.
    IpAddress source_address() const { return sources_.current().peer ? sources_.destination() : address_; }

    /// The peer's name, else the address connected to; empty without a connection.
    std::string peer_text() const;

    void abort();

private:
    bool should_try_next_source() const;
    bool enter_source();
    net::awaitable<void> wait_for_turn();
    bool has_seat();
    net::awaitable<bool> wait_for_seat(milliseconds limit);
    void close_exchange();
    void begin_exchange(std::unique_ptr<net::Transport> transport, bool reused);
    void note_failure(client::Trouble trouble);
    bool may_repeat(client::Trouble trouble);
    std::unique_ptr<net::Transport> take_pooled();
    net::awaitable<std::unique_ptr<net::Transport>> connect();
    net::awaitable<net::Connected> connect_to(net::ConnectTarget& where, net::AddressFilter const& filter);
    void note_connected(net::Transport& transport);
    net::awaitable<std::unique_ptr<net::Transport>> connect_through_peer(std::unique_ptr<net::Transport> transport,
                                                                         std::string& early);
    net::awaitable<std::unique_ptr<net::Transport>> secure_through_peer(std::unique_ptr<net::Transport> transport);
    net::awaitable<bool> ask_in_turn(RequestChanges const& changes);
    net::awaitable<bool> ask_until_answered(RequestChanges const& changes);
    net::awaitable<bool> wait_for_silent_peers();
    void keep_if_silent(RequestChanges const& changes);
    void note_given_up();
    void use_silent_response(bool interrupts);
    SilentPeers& silent_peers();
    bool is_wanted() const { return !request_.aborted && (!request_.client_gone || request_.others_wait()); }
    void interrupt();
    std::optional<client::Trouble> try_send_request(std::span<iovec>& parts);
    net::awaitable<client::Trouble> read_answer(RequestChanges const& changes);
    void note_answer();

    Request& request_;
    ResponseWriter& writer_;
    Sources sources_;
    Upload upload_;
    FinalHead final_head_{request_, writer_, sources_, upload_};
    SourceUse use_;
    FetchTurns::Turn turn_;
    OriginSeat seat_;
    net::WakeHandle seat_awaited_;
    std::unique_ptr<client::Exchange> exchange_;
    WallTime asked_at_{};
    SteadyTime sent_at_{};      // asked_at_ by the steady clock
    SteadyTime idle_since_{};   // of a reused connection
    SteadyTime entered_at_{};
    bool is_silent_ = false;   // the current source did not respond in time
    std::unique_ptr<SilentPeers> silent_;
    std::uint32_t passed_ = 0;
    bool went_out_ = false;
    net::ConnectStop* connecting_ = nullptr;
    IpAddress address_;
    Failure failure_;
    std::string& pool_key_{request_.scratch.pool_key};
    std::string& text_{request_.scratch.upstream_text};   // the request's head
    Bytes fetched_ = 0;                                   // received from the current source for the current request
};

}   // namespace garner::proxy
