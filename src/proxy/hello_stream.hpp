// The client of an intercepted TLS connection, as a CONNECT that it has not sent.
#pragma once
#include <string>

#include "proxy/http1_stream.hpp"
#include "util/check.hpp"

namespace garner::proxy {

/// The client gets no response in HTTP: what is written before the tunnel is discarded.
class HelloStream : public Http1Stream {
public:
    /// `authority`: the target of the CONNECT. `hello`: the bytes that the client has sent.
    HelloStream(net::Transport& transport, std::shared_ptr<Client const> client, net::Worker& worker, OriginSeats& seats,
                std::string const& authority, std::string hello)
        : Http1Stream(transport, std::move(client), worker, seats),
          request_("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n"), hello_(std::move(hello)) {
        std::size_t scanned = 0;
        garner::check(http::parse_request_head(request_, http::HeadLimits::none(), scanned, head_).kind ==
                      http::HeadParse::Kind::complete);
        stay();
    }

    std::string_view leftover() const override { return hello_; }
    bool takes_interim() const override { return false; }
    net::IoResult try_send(std::span<iovec>&) override { return {}; }
    net::awaitable<net::IoResult> send(std::span<iovec>, milliseconds) override { co_return net::IoResult{}; }

private:
    std::string const request_;
    std::string const hello_;
};

}   // namespace garner::proxy
