// The rest of a body whose beginning the client has: a peer truncated it, the disk lost bytes, or memory was needed.
#pragma once
#include "http/remainder.hpp"
#include "proxy/upstream.hpp"

namespace garner::proxy {

/// Belongs to one request.
class RestOfBody {
public:
    RestOfBody(Request& request, Upstream& upstream) : request_(request), upstream_(upstream) {}

    /// True if another source may have the rest of a body that a peer truncated. An origin's own errors are passed on
    /// unchanged.
    bool may_go_on() const;
    /// Asks the remaining sources for it; true when the exchange continues with it.
    net::awaitable<bool> go_on_elsewhere(http::Remainder const& missing, client::Trouble trouble);
    /// Asks for the rest of a stored body where a fetch is allowed; true when the exchange continues with it. `is_there`:
    /// memory has the rest, but needs the space; a source then gets 2 s for its head.
    net::awaitable<bool> fetch(store::Object const& object, http::BrokenBody broken, bool is_there);

private:
    net::awaitable<bool> ask(http::Remainder const& missing, milliseconds first_byte_max);
    Sources& sources() const { return upstream_.sources(); }

    Request& request_;
    Upstream& upstream_;
};

}   // namespace garner::proxy
