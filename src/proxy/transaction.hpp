// One request, from its head to the last byte of its response.
#pragma once
#include <memory>

#include "proxy/cache_side.hpp"
#include "proxy/delivery.hpp"
#include "proxy/failed_fetch.hpp"
#include "proxy/fetching.hpp"
#include "proxy/own_answers.hpp"
#include "proxy/pass_through.hpp"
#include "proxy/request.hpp"
#include "proxy/request_check.hpp"
#include "proxy/response_writer.hpp"
#include "proxy/rest_of_body.hpp"
#include "proxy/step.hpp"
#include "proxy/storing.hpp"
#include "proxy/tunnel.hpp"
#include "proxy/upstream.hpp"
#include "util/late.hpp"

namespace garner::proxy {

/// A new one is created for each request, and holds its whole state. Belongs to one worker.
class Transaction {
public:
    /// `options` and all other arguments outlive the transaction.
    Transaction(Services& services, ClientStream& client, FixedOrigin const* only_origin, Scratch& scratch,
                std::shared_ptr<Options const> const& options)
        : request_(services, client, only_origin, scratch, options) {}
    Transaction(Transaction const&) = delete;

    /// Answers the request with head client.head(), and logs it. Without waiting: true for a small hit that the client's connection
    /// takes at once. After false run() must be called. One of these functions is called, once.
    bool run_at_once();
    /// Continues what run_at_once() began.
    net::awaitable<void> run();
    /// Answers input that could not be read as a request, and logs it. `logged`: the reason in the log; empty: `why`.
    net::awaitable<void> refuse_head(std::uint16_t status, std::string_view why, std::string_view logged = {});
    /// Revalidates a response that was served stale (RFC 5861 3), without a client and with the request of the one served.
    net::awaitable<void> refresh(cache::FillLease lead, store::ObjectPtr stale);
    /// Fetches the response for the store, without a client, unless a fresh one is stored, and returns when it is whole: the end in
    /// words. `offered`: set if it is to be offered to the group as soon as its head is here; called on any thread, once.
    net::awaitable<std::string> replicate(std::function<void(group::SubmissionResult const&)> offered);
    /// Asks for the rest of a truncated body, without a client and with the original request; the access rules apply
    /// anew. `at`: index in `sources` of the source that truncated it; afterwards of the last source asked.
    net::awaitable<Rest> find_rest(std::span<icp::Source const> sources, std::size_t& at, http::Remainder const& missing,
                                   client::Trouble trouble);

    /// Goes on with the tunnel of this request, which another process has begun, and logs it.
    net::awaitable<void> go_on(MovingTunnel tunnel);
    /// A tunnel is to leave for another process, if it can. Services::departures is set.
    void leave() {
        if (tunnel_.is_made()) tunnel_->leave();
    }
    /// The tunnel that has left; null: the request has ended here.
    std::unique_ptr<MovingTunnel> take_moved() { return tunnel_.is_made() ? tunnel_->take_moved() : nullptr; }

    /// Another request may follow on the client's connection.
    bool keeps_connection() const { return !request_.close; }
    /// Of the response; 0: none was sent.
    std::uint16_t sent_status() const { return request_.record.sent_status; }
    /// "GET http://example.com/ for 10.0.0.7, for 3 s"
    std::string text() const { return Record::name(request_); }
    /// Cancels all its waits; the client's connection is not used further. Called on the same worker.
    void abort();

private:
    using Verdict = RequestCheck::Verdict;
    Step first_step(Verdict verdict);
    net::awaitable<Step> check_further();
    net::awaitable<bool> is_allowed();
    net::awaitable<Step> take(Step step);
    net::awaitable<Step> fail();
    net::awaitable<void> end(Step step);
    net::awaitable<void> refuse();
    net::awaitable<void> tunnel();
    void make_fetching_parts();
    void finish();

    Request request_;
    FetchState state_;
    Step step_ = Step::check_further;
    RequestCheck check_{request_};
    ResponseWriter writer_{request_};
    Late<Upstream> upstream_;   // this and the tunnel: see make_fetching_parts()
    RestOfBody rest_{request_, upstream_.get()};
    PassThrough pass_through_{request_, writer_, upstream_.get(), rest_};
    Delivery delivery_{request_, writer_, rest_, pass_through_};
    Late<Tunnel> tunnel_;
    OwnAnswers own_answers_{request_, writer_};
    Storing storing_{request_, upstream_.get(), rest_, state_};
    FailedFetch failed_{request_, writer_, upstream_.get(), state_};
    CacheSide cache_side_{request_, upstream_.get(), delivery_, failed_, check_, state_};
    Fetching fetching_{request_, upstream_.get(), storing_, failed_, tunnel_.get(), state_};
};

}   // namespace garner::proxy
