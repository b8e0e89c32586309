// The end of a request that fetches a response for the store, without a client.
#pragma once
#include <string>

#include "proxy/delivery.hpp"
#include "proxy/fetch_state.hpp"
#include "proxy/request.hpp"
#include "proxy/step.hpp"
#include "proxy/upstream.hpp"

namespace garner::proxy {

/// Belongs to one Transaction::replicate.
class Replica {
public:
    Replica(Request& request, FetchState& state, Upstream& upstream, Delivery& delivery)
        : request_(request), state_(state), upstream_(upstream), delivery_(delivery) {}

    /// Waits until the body is whole. `step`: the last step, which would send the response to a client. The end in words: "stored".
    net::awaitable<std::string> wait(Step step);
    /// Answers the offer, unless the voters were asked: they answer also after the fetch has ended.
    void answer_offer(std::string const& end);

private:
    std::string end_without_wait(Step step);
    std::string offer_stored();
    net::awaitable<bool> follow_to_end();

    Request& request_;
    FetchState& state_;
    Upstream& upstream_;
    Delivery& delivery_;
};

}   // namespace garner::proxy
