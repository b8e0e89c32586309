#include "proxy/final_head.hpp"

namespace garner::proxy {

using client::Trouble;
using http::Method;

namespace {

constexpr std::uint32_t interim_responses_max = 16;

}  // namespace

net::awaitable<Trouble> FinalHead::read(client::Exchange& exchange, Terms terms) {
    bool const opens_tunnel = sources_.is_tunnelled() && terms.method == Method::connect;   // the parent speaks, not the origin
    auto const limit = std::min(request_.options->deadlines.first_byte, terms.first_byte_max);
    for (std::uint32_t interim = 0;;) {
        auto reading = read_one(exchange, terms.method, limit);
        auto const trouble = co_await std::move(reading);
        request_.client.unwatch();
        // The head may have come in the very moment: the exchange is cancelled all the same.
        if (client_gave_up()) co_return Trouble::cancelled;
        if (trouble != Trouble::none) co_return trouble;
        auto const status = exchange.head().status;
        if (status >= 200 || status == 101) {
            if (!opens_tunnel) request_.record.cache_status.fwd_status = status;
            co_return Trouble::none;
        }
        if (interim++ == interim_responses_max) {
            exchange.refuse("interim responses without end");
            co_return Trouble::malformed;
        }
        if (opens_tunnel || terms.of_rest) continue;
        if (!writer_.pass_interim(exchange.head()) && !request_.others_wait()) co_return Trouble::cancelled;
    }
}

/// One head, interim or final.
net::awaitable<Trouble> FinalHead::read_one(client::Exchange& exchange, Method method, milliseconds limit) {
    bool const doubts = sources_.peer() && !sources_.is_tunnelled() && sources_.has_next();
    if (doubts || upload_.running()) return read_patiently(exchange, method, limit, doubts);
    watch_client(exchange);
    return exchange.read_head(method, limit);
}

/// While the request's body is on its way, or from a peer in doubt: it may be frozen while its kernel still acknowledges. One that
/// is silent for so long is asked for a sign of life.
net::awaitable<Trouble> FinalHead::read_patiently(client::Exchange& exchange, Method method, milliseconds limit, bool doubts) {
    constexpr milliseconds doubtful{1'000};
    auto const pause = doubts ? std::min(limit, doubtful) : limit;
    for (auto give_up = steady_now() + limit;;) {
        bool const uploading = upload_.running();   // which reads from the client, and so notices that it is gone
        if (!uploading) watch_client(exchange);
        auto const trouble = co_await exchange.read_head(method, pause);
        if (!uploading) request_.client.unwatch();
        // While the body was still on its way the origin had nothing to answer; the body's own deadline watched that.
        if (uploading) give_up = steady_now() + limit;
        if (trouble != Trouble::timed_out || client_gave_up()) co_return trouble;
        if (uploading) continue;
        if (!doubts || steady_now() >= give_up) co_return trouble;
        auto const peer = sources_.current().peer;
        bool const lives = co_await request_.services.agent->is_there(peer, request_.target.url, &request_.waiting);
        if (!lives) co_return trouble;
    }
}

/// The handler holds two pointers: a larger one would allocate for each head that is waited for.
void FinalHead::watch_client(client::Exchange& exchange) {
    request_.watch_client([&exchange] { exchange.cancel(); });
}

}  // namespace garner::proxy
