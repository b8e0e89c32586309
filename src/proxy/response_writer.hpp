// All bytes to the client pass here: framing, waiting for the client, and the proxy's own responses.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "http/message.hpp"
#include "proxy/error_page.hpp"
#include "proxy/head_writer.hpp"
#include "proxy/request.hpp"
#include "proxy/slow_client.hpp"

namespace garner::proxy {

/// Belongs to one request.
class ResponseWriter {
public:
    explicit ResponseWriter(Request& request);

    enum class Pages : bool { copied, lent };   // lent: only if ClientStream::lender()
    /// False when the client is gone or too slow; the connection closes then. `body`: how many of the last bytes belong to
    /// the body; those that the socket accepts are counted. Costs one system call if the socket accepts all.
    net::awaitable<bool> send(std::span<iovec> parts, Bytes body = 0, Pages pages = Pages::copied);
    /// Like send(), without waiting. False when some bytes are left for send().
    bool try_send(std::span<iovec>& parts, Bytes body, Pages pages = Pages::copied);
    /// The end of a response head. Decides whether the connection closes, so that the head announces it correctly: `patch.close`.
    std::string_view patch_of(Patch& patch);
    /// The body's length is unknown: ClientStream frames it. Before patch_of().
    void begin_without_length(Patch& patch);
    /// The client must see that the response is truncated.
    void show_truncation();

    /// RFC 9110 15.2. The response is dropped rather than wait for a client that does not read. False: the client is gone.
    bool pass_interim(http::ResponseHead const& interim);

    /// Sends an error page; a response that was begun is truncated instead. `more`: further fields, each with CRLF.
    net::awaitable<void> error(std::uint16_t status, std::string_view what, std::string_view rule = {},
                               cache::FailureKind kind = cache::FailureKind::other, std::string_view more = {});
    net::awaitable<void> own_answer(std::uint16_t status, std::string_view type, std::string_view body,
                                    std::string_view extra = {});
    /// For a tunnel that is refused after its 200: draws an id. Record::texts have the rule and the reason.
    void note_refused_tunnel();
    /// Used while a stored object is sent: see SlowClientGuard.
    SlowClientGuard& pace() { return pace_; }

private:
    net::awaitable<bool> send_waiting(std::span<iovec> parts, Bytes body, Pages pages);
    net::Error send_interim_rest();
    ErrorPage page_of(std::uint16_t status, std::string_view what, std::string_view rule) const;
    void log_reason(std::string_view what, std::string_view rule);
    bool is_failed_login(std::uint16_t status, std::string_view rule) const;
    std::string note_refusal();
    Refused refused(std::string_view rule, std::string_view because) const;
    void keep_refusal(std::string_view rule, std::string_view because);

    Request& request_;
    SlowClientGuard pace_;
    std::string interim_rest_;   // the rest of an interim response; sent before anything else
};

}   // namespace garner::proxy
