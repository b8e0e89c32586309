// The one way by which bytes go to the client: framing, waiting for the client, and responses of the proxy itself.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "http/message.hpp"
#include "proxy/error_page.hpp"
#include "proxy/head_writer.hpp"
#include "proxy/request.hpp"
#include "proxy/send_pace.hpp"

namespace garner::proxy {

/// Belongs to one request.
class ResponseWriter {
public:
    explicit ResponseWriter(Request& request);

    /// False when the client is gone or takes too little; the connection closes then. `body`: how many of the bytes, from the
    /// end, are the body's; what is taken of them is counted. Costs one system call where the socket takes all.
    net::awaitable<bool> send(std::span<iovec> parts, Bytes body = 0);
    /// As send(), without waiting. False when something is left for send().
    bool try_send(std::span<iovec>& parts, Bytes body);
    /// The end of a response head. Says whether the connection closes, so that it is said truly.
    std::string_view patch_of(Patch const& patch);
    /// The body's length is not known: ClientStream frames it. Before patch_of().
    void begin_without_length(Patch& patch);
    /// The client must not take what it has for the whole response.
    void show_truncation();

    /// RFC 9110 15.2. Nothing waits for a client that does not read: the response is dropped then. False: the client is gone.
    bool pass_interim(http::ResponseHead const& interim);

    /// A page about an error; a response that was begun is cut off instead. `more`: further fields, each with CRLF; at most
    /// 128 bytes.
    net::awaitable<void> error(std::uint16_t status, std::string_view what, std::string_view rule = {},
                               std::string_view more = {});
    net::awaitable<void> own_answer(std::uint16_t status, std::string_view type, std::string_view body,
                                    std::string_view extra = {});
    /// While a stored object is sent: see SendPace.
    SendPace& pace() { return pace_; }

private:
    net::awaitable<bool> send_waiting(std::span<iovec> parts, Bytes body);
    net::Error send_interim_rest();
    ErrorPage page_of(std::uint16_t status, std::string_view what, std::string_view rule) const;

    Request& request_;
    SendPace pace_;
    std::string interim_rest_;   // of an interim response that was begun: it goes out before anything else
};

}  // namespace garner::proxy
