// The fetch of a response: what the sources are asked, and what becomes of the answer.
#pragma once
#include "proxy/failed_fetch.hpp"
#include "proxy/fetch_state.hpp"
#include "proxy/storing.hpp"
#include "proxy/tunnel.hpp"

namespace garner::proxy {

/// Belongs to one request.
class Fetching {
public:
    Fetching(Request& request, Upstream& upstream, Storing& storing, FailedFetch& failed, Tunnel& tunnel, FetchState& state)
        : request_(request), upstream_(upstream), storing_(storing), failed_(failed), tunnel_(tunnel), state_(state) {}

    /// Without the cache. A non-error answer to an unsafe method invalidates, one to a POST may be stored.
    net::awaitable<Step> pass();
    /// For the cache: FetchState::stale is validated when it has a validator.
    net::awaitable<Step> fetch();
    /// Once more, as `fetch` or ask_for_range() has prepared it.
    net::awaitable<Step> ask();
    /// RFC 9111 4.3.3: the response is about another one than ours. The request is repeated without our conditions.
    net::awaitable<Step> ask_again();
    /// Waits until what the response supersedes stays removed, whatever becomes of this process.
    net::awaitable<Step> forget();

private:
    void set_conditions();
    Step take();
    bool is_nonsense();
    Step ask_for_range();
    bool stale_stands_in() const;
    Step take_new(store::Object const* parts);
    Step pass_on();
    void store_nothing(store::Object const* known, http::ResponseCacheControl const& control, http::StoreRefusal why);
    bool invalidate();
    bool purge_changed(cache::Key const& key, std::string const& url);

    Request& request_;
    Upstream& upstream_;
    Storing& storing_;
    FailedFetch& failed_;
    Tunnel& tunnel_;
    FetchState& state_;
};

}  // namespace garner::proxy
