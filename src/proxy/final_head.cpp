#include "proxy/final_head.hpp"

namespace garner::proxy {

using client::Trouble;
using http::Method;

namespace {

constexpr std::uint32_t interim_responses_max = 16;

}   // namespace

net::awaitable<Trouble> FinalHead::read(client::Exchange& exchange, Terms terms) {
    bool const opens_tunnel = sources_.is_tunnelled() && terms.method == Method::connect;   // the 2xx is the parent's
    auto const limit = std::min(request_.options->deadlines.first_byte, terms.first_byte_max);
    for (std::uint32_t interim = 0;;) {
        auto reading = read_one(exchange, terms, limit);
        auto const trouble = co_await std::move(reading);
        request_.client.unwatch();
        // The head may have arrived at the same moment: the exchange is cancelled all the same.
        if (client_gave_up()) co_return Trouble::cancelled;
        if (trouble != Trouble::none) co_return trouble;
        auto const status = exchange.head().status;
        if (status >= 200 || status == 101) {
            if (!opens_tunnel) request_.record.cache_status.fwd_status = status;
            co_return Trouble::none;
        }
        if (interim++ == interim_responses_max) {
            exchange.refuse("too many interim responses");
            co_return Trouble::malformed;
        }
        if (opens_tunnel || terms.of_rest) continue;
        if (!writer_.pass_interim(exchange.head()) && !request_.others_wait()) co_return Trouble::cancelled;
    }
}

/// Reads one head, interim or final.
net::awaitable<Trouble> FinalHead::read_one(client::Exchange& exchange, Terms const& terms, milliseconds limit) {
    // Inside a tunnel the origin answers, not the peer.
    bool const is_peers = sources_.peer() && (terms.method == Method::connect || !sources_.is_tunnelled());
    bool const doubts = is_peers && sources_.has_next() && (terms.may_give_way || is_askable(*sources_.peer()));
    if (doubts || upload_.running()) return read_patiently(exchange, terms, limit, doubts);
    watch_client(exchange);
    return exchange.read_head(terms.method, limit);
}

/// Used while the request's body is being sent, or for a doubtful peer: its process may be frozen while its kernel still
/// acknowledges. A peer that is silent for `pause` is checked by a query. One without queries gives way to the next source.
net::awaitable<Trouble> FinalHead::read_patiently(client::Exchange& exchange, Terms const& terms, milliseconds limit, bool doubts) {
    constexpr milliseconds doubtful{1'000};
    auto const peer = sources_.current().peer;
    bool const by_query = doubts && is_askable(*peer);
    auto pause = limit;
    if (doubts) pause = std::min(pause, peer->patience());
    if (by_query) pause = std::min(pause, doubtful);
    for (auto give_up = steady_now() + limit;;) {
        bool const uploading = upload_.running();   // the upload reads from the client, and so notices a disconnect
        if (!uploading) watch_client(exchange);
        auto const trouble = co_await exchange.read_head(terms.method, pause);
        if (!uploading) request_.client.unwatch();
        // While the body was being sent, the origin had nothing to answer. The body's own deadline covered that time.
        if (uploading) give_up = steady_now() + limit;
        if (trouble != Trouble::timed_out || client_gave_up()) co_return trouble;
        if (uploading) continue;
        if (!doubts || steady_now() >= give_up) co_return trouble;
        if (exchange.answered()) continue;   // a part of the head
        if (!by_query) co_return trouble;
        // The target of a CONNECT is no URL.
        auto const url = terms.method == Method::connect ? std::string_view() : request_.target.url;
        bool const lives = co_await request_.services.agent->is_there(peer, url, &request_.waiting);
        if (!lives) co_return trouble;
    }
}

bool FinalHead::is_askable(icp::Peer const& peer) const {
    return request_.services.agent && request_.services.agent->can_ask(peer, request_.target.url);
}

/// The handler holds two pointers: a larger one would allocate for each head.
void FinalHead::watch_client(client::Exchange& exchange) {
    request_.watch_client([&exchange] { exchange.cancel(); });
}

}   // namespace garner::proxy
