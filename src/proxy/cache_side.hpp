// The cache's part of a request: the lookup, and waiting for another request's fetch (collapsed forwarding).
#pragma once
#include <optional>

#include "proxy/delivery.hpp"
#include "proxy/failed_fetch.hpp"
#include "proxy/fetch_state.hpp"
#include "proxy/request_check.hpp"
#include "proxy/step.hpp"

namespace garner::proxy {

/// Belongs to one request.
class CacheSide {
public:
    CacheSide(Request& request, Upstream& upstream, Delivery& delivery, FailedFetch& failed, RequestCheck& check, FetchState& state)
        : request_(request), upstream_(upstream), delivery_(delivery), failed_(failed), check_(check), state_(state) {}

    /// Looks up in memory and decides the next step. A plain function, so that a hit allocates no coroutine frame.
    Step look();
    net::awaitable<Step> look_on_disk();
    /// Decides by the addresses of the origin if the client may have an object whose source address is not known.
    net::awaitable<Step> resolve_source();
    /// Waits for FetchState::found.follow, then answers from its result.
    net::awaitable<Step> follow();

private:
    cache::Collapse collapse() const;
    Step check_source();
    Step deny();
    Step decide();
    Step deliver(bool refreshes);
    Step deliver_offline();
    Step ask(Action action);
    void note_miss();
    void start_refresh();
    std::optional<Step> step_after(cache::FillView const& view, cache::Fill const& fill);
    bool is_invalidated(cache::FillView const& view, cache::Fill const& fill) const;
    Step look_anew();
    bool is_usable(cache::FillView const& view, cache::Fill const& fill) const;
    Step join(cache::FillView const& view);
    net::awaitable<Step> lead_after(cache::FillPtr const& fill);
    bool looks_again(std::uint64_t version);
    Step fetch_alone();
    milliseconds patience_with_leader() const;

    Request& request_;
    Upstream& upstream_;
    Delivery& delivery_;
    FailedFetch& failed_;
    RequestCheck& check_;
    FetchState& state_;
    int looks_again_ = 0;   // while the leader is slow
    static constexpr std::uint64_t no_version = UINT64_MAX;
    std::uint64_t looked_at_ = no_version;   // the version of the leader's fill at the last lookup
};

}   // namespace garner::proxy
