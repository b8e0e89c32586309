// A fetch that failed: what its client gets, what is remembered, and what other requests are told.
#pragma once
#include <optional>

#include "proxy/fetch_state.hpp"
#include "proxy/request.hpp"
#include "proxy/response_writer.hpp"
#include "proxy/upstream.hpp"

namespace garner::proxy {

/// Belongs to one request.
class FailedFetch {
public:
    FailedFetch(Request& request, ResponseWriter& writer, Upstream& upstream, FetchState& state)
        : request_(request), writer_(writer), upstream_(upstream), state_(state) {}

    /// True when a fetch failed so lately that the origin is not asked again: answer_known() then.
    bool is_remembered();
    net::awaitable<Step> answer_known();

    /// Remembers upstream's failure for later requests. `fill`: null for a request that leads none.
    void remember(cache::Fill const* fill);
    /// Answers upstream's failure, and tells the followers.
    net::awaitable<Step> answer();
    /// As answer(), with a failure that another request has met. `own`: a request just like this one.
    net::awaitable<Step> answer(cache::FetchFailure failure, bool own = false);

    /// The response of the origin is an error: remembers it while others wait, and tells the followers.
    void tell_of_error();
    /// The stale object goes to the client in place of a response.
    Step serve_stale(StaleUse why);

    /// The request that is told of a failure which it may have caused.
    cache::Witness witness() const { return {request_.client_network(), fingerprint_of(request_.head().fields)}; }

private:
    bool remember_error(cache::Fill const& fill, cache::FetchFailure const& failure);
    bool is_never_shared() const;
    cache::NegativeTerms negative_terms() const;
    void tell_followers();
    bool may_serve_stale() const;

    Request& request_;
    ResponseWriter& writer_;
    Upstream& upstream_;
    FetchState& state_;
    Failure failure_;
    bool own_ = false;               // this request may have caused it, and no other client has met it
    milliseconds remembered_for_{0};
};

}  // namespace garner::proxy
