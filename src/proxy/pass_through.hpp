// Passes on a response that is not stored, at the client's pace.
#pragma once
#include <span>
#include <string_view>

#include "proxy/request.hpp"
#include "proxy/response_writer.hpp"
#include "proxy/rest_of_body.hpp"
#include "proxy/upstream.hpp"

namespace garner::proxy {

/// Belongs to one request.
class PassThrough {
public:
    PassThrough(Request& request, ResponseWriter& writer, Upstream& upstream, RestOfBody& rest)
        : request_(request), writer_(writer), upstream_(upstream), rest_(rest) {}

    /// Sends the response whose head has arrived, with new framing.
    net::awaitable<void> stream(std::string_view why_not_stored);
    /// Sends `before`, at most two parts, then the rest of the exchange's body. `head`: the response's, needed to continue
    /// from another source if a peer truncates the body. False: the send was incomplete.
    net::awaitable<bool> pass_on(std::string_view head, http::BrokenBody body, std::span<std::string_view const> before = {});

private:
    bool can_go_on(std::string_view head, http::BrokenBody const& body) const;
    net::awaitable<client::Exchange::Piece> wait_for_event();
    net::awaitable<bool> go_on(client::Trouble trouble, std::string_view head, http::BrokenBody body);
    net::awaitable<bool> pay();
    net::awaitable<void> end_by_quota();
    net::awaitable<void> break_off(client::Trouble trouble);

    Request& request_;
    ResponseWriter& writer_;
    Upstream& upstream_;
    RestOfBody& rest_;
};

}   // namespace garner::proxy
