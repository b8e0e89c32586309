// The fetch of a response: the request to the sources, and the processing of the response.
#pragma once
#include "proxy/failed_fetch.hpp"
#include "proxy/fetch_state.hpp"
#include "proxy/step.hpp"
#include "proxy/storing.hpp"
#include "proxy/tunnel.hpp"

namespace garner::proxy {

/// Belongs to one request.
class Fetching {
public:
    Fetching(Request& request, Upstream& upstream, Storing& storing, FailedFetch& failed, Tunnel& tunnel, FetchState& state)
        : request_(request), upstream_(upstream), storing_(storing), failed_(failed), tunnel_(tunnel), state_(state) {}

    /// Fetches without the cache. A non-error response to an unsafe method invalidates; one to a POST may be stored.
    net::awaitable<Step> pass();
    /// Fetches for the cache; validates FetchState::stale when it has a validator.
    net::awaitable<Step> fetch();
    /// Asks the sources again, as `fetch` or ask_for_range() has prepared it.
    net::awaitable<Step> ask();
    /// RFC 9111 4.3.3: the 304 is about a different object than the stale one. The request is repeated without own
    /// conditions.
    net::awaitable<Step> ask_again();
    /// Waits until the removal of superseded objects is durable.
    net::awaitable<Step> await_removal();

private:
    char const* fault_of_switch() const;
    void set_conditions();
    void note_passing();
    Step take();
    bool is_nonsense();
    Step ask_for_range();
    bool stale_stands_in() const;
    Step take_new(store::Object const* parts);
    bool is_provoked(http::StoreRefusal why) const;
    Step take_provoked(http::ResponseCacheControl const& control);
    Step pass_on();
    void store_nothing(store::Object const* known, http::ResponseCacheControl const& control, http::StoreRefusal why);
    bool invalidate();
    bool invalidate_groups();
    void invalidate_here_and_in_group(cache::Invalidation const&);
    bool is_outdated_since() const;
    bool purge_changed(cache::Key const& key, std::string_view url);

    Request& request_;
    Upstream& upstream_;
    Storing& storing_;
    FailedFetch& failed_;
    Tunnel& tunnel_;
    FetchState& state_;
};

}   // namespace garner::proxy
