#include "proxy/upload.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>

#include "util/gather.hpp"

namespace garner::proxy {

void Upload::start(client::Exchange& exchange, std::function<void(Fault)> faulty, std::function<void()> moved) {
    request_.uploading = started_ = true;
    moved_ = std::move(moved);
    exchange_ = &exchange;
    auto running = run(std::move(faulty));
    net::asio::co_spawn(request_.executor(), std::move(running), net::asio::detached);
}

/// Reads no faster than the next server accepts: one piece is buffered at a time.
net::awaitable<void> Upload::run(std::function<void(Fault)> faulty) {
    for (;;) {
        auto const received = request_.client.received();
        auto const asked = steady_now();
        auto piece = co_await request_.client.read_body(request_.options->deadlines.body);
        if (joining_) break;
        if (auto fault = fault_of(piece, received, asked)) {
            if (fault->status == 0) request_.client_gone = true;
            request_.close = true;
            faulty(std::move(*fault));
            exchange_->cancel();
            break;
        }
        bool const sent = co_await pass_on(piece.data);
        moved_();
        if (request_.account && request_.account->is_over() && !piece.data.empty() && !joining_) {
            request_.close = true;
            faulty({429, {}});
            exchange_->cancel();
            break;
        }
        if (request_.account && request_.account->owes(share::Direction::up)) {
            auto& account = *request_.account;
            co_await account.settle(share::Direction::up);
        }
        // A server that stops reading may have answered already: its response decides, rather than this failure.
        if (!sent || joining_) break;
        if (piece.data.empty()) {
            whole_ = true;
            break;
        }
    }
    request_.uploading = false;
    joined_.wake(net::Wake::ready);
}

/// A client may wait for the origin's 100 before it sends anything: the time to its first byte is not counted.
std::optional<Upload::Fault> Upload::fault_of(ClientStream::Piece const& piece, Bytes received, SteadyTime asked) {
    if (piece.refusal) return Fault{400, std::string("The body of the request is invalid: ") + piece.refusal};
    if (piece.error == net::asio::error::timed_out) return Fault{408, "The body of the request did not arrive in time."};
    if (piece.error) return Fault{};
    bool const first = pace_.moved == 0;
    pace_.add(request_.client.received() - received, first ? SteadyTime::duration{} : steady_now() - asked);
    bool const too_slow = !request_.client.body_done() && pace_.is_below(request_.options->limits.min_rate);
    if (!too_slow) return std::nullopt;
    return Fault{408, "The body of the request arrived too slowly: its average rate is below limits.rate_min."};
}

/// An empty piece is the end of the body.
net::awaitable<bool> Upload::pass_on(std::string_view piece) {
    auto const& client = request_.client;
    bool const chunked = client.body_framing().kind == http::Framing::Kind::chunked;
    Gather<3> pieces;
    char header[18];
    std::string end;
    if (!piece.empty()) {
        if (chunked) pieces.add({header, http::write_chunk_header(piece.size(), header)});
        pieces.add(piece);
        if (chunked) pieces.add("\r\n");
    } else if (chunked) {
        end.append("0\r\n").append(http::announced_trailers(client.trailers(), client.head().fields)).append("\r\n");
        pieces.add(end);
    }
    if (pieces.empty()) co_return true;
    // The client is not read meanwhile, but a stream of HTTP/2 shows its reset all the same.
    request_.client.watch_reset([this] { give_up(); });
    auto const trouble = co_await exchange_->send(pieces.take(), request_.options->deadlines.body);
    request_.client.watch_reset(nullptr);
    co_return trouble == client::Trouble::none;
}

void Upload::give_up() {
    request_.client_gone = request_.close = true;
    if (!request_.others_wait()) exchange_->cancel();
}

net::awaitable<void> Upload::join() {
    if (!running()) co_return;
    request_.close = joining_ = true;
    request_.client.cancel();
    exchange_->cancel();
    if (request_.account) request_.account->abort(share::Direction::up);
    while (running()) {
        net::Waiter waiter(request_.executor());
        joined_ = waiter.handle();
        co_await waiter.wait(net::recheck_interval);
    }
}

}   // namespace garner::proxy
