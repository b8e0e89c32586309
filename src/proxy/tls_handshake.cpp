#include "proxy/tls_handshake.hpp"

#include <boost/asio/error.hpp>

#include "proxy/http1_connection.hpp"
#include "proxy/http2_connection.hpp"

namespace garner::proxy {

using net::HandshakeFault;

namespace {

constexpr char const* clear_text = "this port accepts TLS only: use https:// in the address of the proxy";

HandshakeFault fault_of(net::Transport const& transport, net::Error const& error) {
    if (!error) return HandshakeFault::none;
    if (!transport.secure()) return transport.tls_fault().empty() ? HandshakeFault::closed : HandshakeFault::clear_text;
    if (error == net::asio::error::timed_out) return HandshakeFault::timed_out;
    auto const kind = transport.tls()->fault_kind();
    return kind == HandshakeFault::none ? HandshakeFault::closed : kind;
}

}   // namespace

net::awaitable<void> TlsHandshake::run() {
    begin_to_wait();
    auto const limit = services_.options->deadlines.head;
    std::string_view const nothing_yet;
    auto const error = co_await transport().accept_tls(point().tls, nothing_yet, limit);
    end_wait();
    drained_.disarm();
    auto const fault = fault_of(transport(), error);
    services_.counters.handshakes.add(fault);
    if (fault == HandshakeFault::none) {
        if (transport().tls()->resumed()) services_.counters.handshakes_resumed.add();
        start_protocol();
        co_return;
    }
    note_failure(fault);
    if (fault == HandshakeFault::clear_text) start(std::make_unique<Http1Connection>(services_, hand_over(), clear_text));
}

/// A client of TLS 1.3 sends a request together with the end of its handshake: bytes that this worker has not read yet are read
/// first. The handshake's own limit applies.
void TlsHandshake::end_if_silent() {
    constexpr milliseconds moment{100};
    net::Error error;
    bool const has_unread = transport().socket().available(error) > 0;
    if (has_unread && !error)
        drained_.arm(moment);
    else
        abort();
}

void TlsHandshake::start_protocol() {
    if (transport().tls()->http2())
        start(std::make_unique<Http2Connection>(services_, hand_over()));
    else
        start(std::make_unique<Http1Connection>(services_, hand_over()));
}

/// A client that disconnects without a word is no complaint: browsers open connections in advance.
void TlsHandshake::note_failure(HandshakeFault fault) {
    if (fault == HandshakeFault::closed || services_.drain.begun) return;
    auto const why = transport().tls_fault();
    services_.shared.handshake_failures.note(client(), own_endpoint(), why.empty() ? net::text(fault) : std::string_view(why));
}

}   // namespace garner::proxy
