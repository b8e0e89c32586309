// A failed fetch: the client's response, the remembered failure, and the notice to other requests.
#pragma once
#include <optional>

#include "proxy/fetch_state.hpp"
#include "proxy/request.hpp"
#include "proxy/response_writer.hpp"
#include "proxy/step.hpp"
#include "proxy/upstream.hpp"

namespace garner::proxy {

/// Belongs to one request.
class FailedFetch {
public:
    FailedFetch(Request& request, ResponseWriter& writer, Upstream& upstream, FetchState& state)
        : request_(request), writer_(writer), upstream_(upstream), state_(state) {}

    /// True when a fetch failed so recently that the origin is not asked again; answer_known() is then the next step.
    bool is_remembered();
    net::awaitable<Step> answer_known();

    /// Remembers upstream's failure for later requests. `fill`: null for a request that leads none.
    void remember(cache::Fill const* fill);
    /// Answers with upstream's failure, and tells the followers.
    net::awaitable<Step> answer();
    /// Answers with a failure that another request has met. `own`: that request was just like this one.
    net::awaitable<Step> answer(cache::FetchFailure failure, bool own = false);

    /// The origin's response is an error: remembers it while followers wait, and tells them.
    void tell_of_error();
    /// Serves the stale object in place of a response.
    Step serve_stale(StaleUse why);

    /// Identifies this request, which may have caused the failure.
    cache::Witness witness() const { return {request_.client_network(), fingerprint_of(request_.head().fields)}; }

private:
    bool remember_error(cache::Fill const& fill, cache::FetchFailure const& failure);
    bool is_never_shared() const;
    cache::NegativeTerms negative_terms() const;
    void note_no_source();
    std::string_view decisive_rule() const;
    void tell_followers();
    bool may_serve_stale() const;
    void note_held_back();
    void note_stored_copy();

    Request& request_;
    ResponseWriter& writer_;
    Upstream& upstream_;
    FetchState& state_;
    Failure failure_;
    bool own_ = false;   // this request may have caused it; no other client has met it
    milliseconds remembered_for_{0};
};

}   // namespace garner::proxy
