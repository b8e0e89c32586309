// Waits for the head of a response, past interim responses, while the client is watched.
#pragma once
#include "client/exchange.hpp"
#include "proxy/request.hpp"
#include "proxy/response_writer.hpp"
#include "proxy/sources.hpp"
#include "proxy/upload.hpp"

namespace garner::proxy {

/// Belongs to one request.
class FinalHead {
public:
    FinalHead(Request& request, ResponseWriter& writer, Sources const& sources, Upload const& upload)
        : request_(request), writer_(writer), sources_(sources), upload_(upload) {}

    struct Terms {
        http::Method method = http::Method::get;
        bool of_rest = false;   // RequestChanges::of_rest, first_byte_max
        milliseconds first_byte_max = milliseconds::max();
        bool may_give_way = false;   // the next source may get the request, too
    };
    /// Returns when exchange.head() is the final head or a 101. Interim responses go to the client. Trouble::cancelled when
    /// the client disconnects, unless followers wait for the fetch. Trouble::timed_out also for a peer that is silent although
    /// it should have answered by now, if the next source may be asked.
    net::awaitable<client::Trouble> read(client::Exchange& exchange, Terms terms);

private:
    net::awaitable<client::Trouble> read_one(client::Exchange& exchange, Terms const& terms, milliseconds limit);
    net::awaitable<client::Trouble> read_patiently(client::Exchange& exchange, Terms const& terms, milliseconds limit, bool doubts);
    bool is_askable(icp::Peer const& peer) const;
    void watch_client(client::Exchange& exchange);
    bool client_gave_up() const { return request_.client_gone && !request_.others_wait(); }

    Request& request_;
    ResponseWriter& writer_;
    Sources const& sources_;
    Upload const& upload_;
};

}   // namespace garner::proxy
