// The request's body on its way to the origin, beside the wait for the answer.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>

#include "net/waiter.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

void Transaction::start_upload() {
    upload_.running = upload_.started = true;
    auto running = upload();
    net::asio::co_spawn(services_.worker.io.get_executor(), std::move(running), net::asio::detached);
}

/// Never slower than the client, never faster than the origin takes it: one piece is in hand at a time.
net::awaitable<void> Transaction::upload() {
    bool chunked = client_.body_framing().kind == http::Framing::Kind::chunked;
    for (Pace pace;;) {
        auto const received = client_.transport().received();
        auto const asked = steady_now();
        auto piece = co_await client_.read_body(options_->deadlines.body);
        if (upload_.joining) break;
        if (!piece.error && !piece.refusal && comes_too_slowly(pace, received, asked)) {
            failed(408, "The request's body came too slowly: on average below limits.min_rate.");
            close_ = true;
            exchange_->cancel();
            break;
        }
        if (piece.error || piece.refusal) {
            if (piece.refusal) failed(400, std::string("The request's body is malformed: ") + piece.refusal);
            else if (piece.error == net::asio::error::timed_out) failed(408, "The request's body did not come in time.");
            else client_gone_ = true;
            close_ = true;
            exchange_->cancel();
            break;
        }
        std::array<iovec, 3> parts;
        std::size_t used = 0;
        char header[18];
        std::string end;
        if (!piece.data.empty()) {
            if (chunked) parts[used++] = {header, http::write_chunk_header(piece.data.size(), header)};
            parts[used++] = {const_cast<char*>(piece.data.data()), piece.data.size()};
            if (chunked) parts[used++] = {const_cast<char*>("\r\n"), 2};
        } else if (chunked) {
            end.append("0\r\n").append(http::announced_trailers(client_.trailers(), client_.head().fields)).append("\r\n");
            parts[used++] = {end.data(), end.size()};
        }
        std::span<iovec> gathered(parts.data(), used);
        auto trouble = used > 0 ? co_await exchange_->send(gathered, options_->deadlines.body) : client::Trouble::none;
        // An origin that takes no more may have answered already: its answer decides, not this.
        if (trouble != client::Trouble::none || upload_.joining) break;
        if (piece.data.empty()) {
            upload_.whole = true;
            break;
        }
    }
    upload_.running = false;
    upload_.joined.wake(net::Wake::ready);
}

/// A client may wait for the origin's 100 before it sends anything: the time to its first byte does not count.
bool Transaction::comes_too_slowly(Pace& pace, Bytes received, SteadyTime asked) {
    bool const first = pace.moved == 0;
    pace.add(client_.transport().received() - received, first ? SteadyTime::duration{} : steady_now() - asked);
    return !client_.body_done() && pace.is_below(options_->limits.min_rate);
}

/// The answer is there: what of the body is still to come is of no use, and the connection ends with it.
net::awaitable<void> Transaction::join_upload() {
    if (!upload_.running) co_return;
    close_ = upload_.joining = true;
    client_.transport().cancel();
    if (exchange_) exchange_->cancel();
    while (upload_.running) {
        net::Waiter waiter(services_.worker.io.get_executor());
        upload_.joined = waiter.handle();
        co_await waiter.wait(net::recheck_interval);
    }
}

/// Nothing of the request is kept from the origin any more.
bool Transaction::sent_whole() const { return !upload_.started || upload_.whole; }

}  // namespace garner::proxy
