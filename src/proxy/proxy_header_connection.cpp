#include "proxy/proxy_header_connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <memory>

#include "proxy/admission.hpp"

namespace garner::proxy {

using net::ProxyHeaderFault;
using net::ProxyHeaderParse;

namespace {

ProxyHeaderParse refused(ProxyHeaderFault fault) { return {.state = ProxyHeaderParse::State::refused, .fault = fault}; }

}   // namespace

net::awaitable<void> ProxyHeaderConnection::run() {
    begin_to_wait();
    auto const parse = co_await read_header();
    end_wait();
    drained_.disarm();
    services_.counters.proxy_headers.add(parse.fault);
    if (parse.fault != ProxyHeaderFault::none) co_return;
    auto accepted = hand_over();
    accepted.peer = client_of(parse.header);
    if (!parse.header.authority.empty() || !parse.header.unique_id.empty())
        accepted.header = std::make_shared<net::ProxyHeader const>(parse.header);
    if (admit_named(services_, accepted)) start_protocol(services_, std::move(accepted));
}

net::awaitable<ProxyHeaderParse> ProxyHeaderConnection::read_header() {
    auto const until = steady_now() + services_.options->deadlines.head;
    for (;;) {
        auto const left = std::chrono::duration_cast<milliseconds>(until - steady_now());
        if (left <= milliseconds{0}) co_return refused(ProxyHeaderFault::timed_out);
        auto const error = co_await transport().wait_input(left);
        if (error == net::asio::error::timed_out) co_return refused(ProxyHeaderFault::timed_out);
        if (error) co_return refused(ProxyHeaderFault::closed);
        auto parse = take_bytes();
        if (parse.state != ProxyHeaderParse::State::incomplete) co_return parse;
    }
}

/// Takes the header's bytes alone: TLS or a request follows them. An incomplete header has all bytes that are there.
ProxyHeaderParse ProxyHeaderConnection::take_bytes() {
    char bytes[1024];
    auto const count = ::recv(transport().descriptor(), bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return {};
    if (count <= 0) return refused(ProxyHeaderFault::closed);
    auto const before = received_.size();
    received_.append(bytes, static_cast<std::size_t>(count));
    auto parse = net::parse_proxy_header(received_);
    if (parse.state == ProxyHeaderParse::State::refused) return parse;
    auto const own = parse.state == ProxyHeaderParse::State::complete ? parse.size - before : static_cast<std::size_t>(count);
    auto const taken = transport().try_read({bytes, own});
    return taken.bytes == own ? parse : refused(ProxyHeaderFault::closed);
}

IpEndpoint ProxyHeaderConnection::client_of(net::ProxyHeader const& header) const {
    auto const& sender = peer();
    if (!header.source) return sender;
    auto const& named = header.source->address;
    bool const is_own = services_.own && std::ranges::count(services_.own->interfaces, named) > 0;
    // A header that names such an address must not give its sender the rights of a local client.
    return named.is_loopback() || named.is_unspecified() || is_own ? sender : *header.source;
}

}   // namespace garner::proxy
