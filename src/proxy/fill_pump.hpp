// Receives a stored body for all its followers. Belongs to the worker, so that it outlives the client that began it.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/writer.hpp"
#include "client/exchange.hpp"
#include "group/offer.hpp"
#include "http/freshness.hpp"
#include "proxy/origin_seats.hpp"
#include "proxy/resume.hpp"
#include "proxy/services.hpp"
#include "proxy/source_use.hpp"
#include "share/account.hpp"
#include "util/least_rate.hpp"
#include "util/recycled_memory.hpp"

namespace garner::proxy {

class FillPump : public Link, public Recycled {
public:
    FillPump(Services& services, std::shared_ptr<Options const> options, std::unique_ptr<cache::Writer> writer,
             std::unique_ptr<client::Exchange> exchange, SourceUse use, RecycledString pool_key, OriginSeat seat)
        : services_(services), options_(std::move(options)), seat_(std::move(seat)), exchange_(std::move(exchange)),
          use_(std::move(use)), pool_key_(std::move(pool_key)), writer_(std::move(writer)) {
        services_.background.pumps.push_back(*this);
    }

    ~FillPump() {
        if (keep_until_ != SteadyTime{}) --services_.background.refreshing;
    }

    /// Until that time the fill needs no follower, as long as its body can be kept. Call before start().
    void keep_until(SteadyTime until) {
        keep_until_ = until;
        ++services_.background.refreshing;
    }

    /// The body comes from a peer: if it is truncated, another source may send the rest. Before start().
    void may_resume(std::unique_ptr<Resumption> resumption) { resumption_ = std::move(resumption); }

    /// Its bytes count as replicated. Before start().
    void counts_as_replicated() { is_replicated_ = true; }
    /// The object is offered to the group once it is stored whole. Before start().
    void offer_when_whole(group::Offer offer) {
        offer_ = std::make_unique<PendingOffer>(PendingOffer{std::move(offer), steady_now()});
    }
    /// The fill takes its bytes from the line. Before start().
    void pay_by(std::unique_ptr<share::Account> account);

    /// Runs `pump` to its end, detached.
    static void start(std::unique_ptr<FillPump> pump);

    /// The worker is stopping.
    void abort() {
        exchange_->cancel();
        if (resumption_) resumption_->abort();
        writer_->abort();
        if (account_) account_->abort();
    }

private:
    static net::awaitable<void> run_and_destroy(std::unique_ptr<FillPump> pump);
    net::awaitable<void> run();
    net::awaitable<bool> append(std::string_view data);
    bool must_pay() const;
    void end_by_quota();
    bool worth_finishing();
    bool comes_too_slowly() const;
    net::awaitable<bool> go_on_elsewhere(client::Trouble trouble);
    void count_traffic();
    net::awaitable<void> finish(client::Trouble trouble);
    net::awaitable<void> store_whole();
    struct PendingOffer {
        group::Offer offer;
        SteadyTime made{};
    };

    Services& services_;
    std::shared_ptr<Options const> options_;
    OriginSeat seat_;   // of the client that began the fill, also while another one is left
    std::unique_ptr<client::Exchange> exchange_;
    SourceUse use_;
    RecycledString pool_key_;
    std::unique_ptr<cache::Writer> writer_;
    SteadyTime abandoned_at_{};   // since when there is no follower
    SteadyTime keep_until_{};
    Pace pace_;                                 // the current source's
    Bytes received_ = 0;                        // from the current source
    std::unique_ptr<share::Account> account_;   // null: it never waits for the line
    std::unique_ptr<PendingOffer> offer_;       // null: none
    bool is_replicated_ = false;
    std::unique_ptr<Resumption> resumption_;   // null: a truncated body is not resumed
};

}   // namespace garner::proxy
