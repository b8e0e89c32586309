// Receives a stored body for all who follow it; belongs to the worker, so that it outlives the client that began it.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/fill.hpp"
#include "client/exchange.hpp"
#include "http/freshness.hpp"
#include "proxy/resume.hpp"
#include "proxy/services.hpp"
#include "proxy/source_use.hpp"

namespace garner::proxy {

class FillPump : public Link {
public:
    FillPump(Services& services, std::shared_ptr<Options const> options, cache::FillLease lease,
             std::unique_ptr<client::Exchange> exchange, SourceUse use, std::string pool_key, store::ObjectPtr growing,
             http::VaryNames vary, std::string variant, http::FreshnessOptions freshness)
        : services_(services), options_(std::move(options)), lease_(std::move(lease)), exchange_(std::move(exchange)),
          use_(std::move(use)), pool_key_(std::move(pool_key)), growing_(std::move(growing)), vary_(std::move(vary)),
          variant_(std::move(variant)), freshness_(freshness),
          targeted_(options_->caching.targeted_cache_control.begin(), options_->caching.targeted_cache_control.end()) {
        freshness_.targeted = targeted_;
        services_.pumps.push_back(*this);
    }

    ~FillPump() {
        if (keep_until_ != SteadyTime{}) --services_.refreshing;
    }

    /// Until then it needs no follower, as long as what comes can be kept. Before start().
    void keep_until(SteadyTime until) {
        keep_until_ = until;
        ++services_.refreshing;
    }

    /// It comes from a peer: where it breaks off, it may go on elsewhere. Before start().
    void may_resume(std::unique_ptr<Resumption> resumption) { resumption_ = std::move(resumption); }

    /// Not for the store: those who follow already read along in a window. Before start().
    void keep_nothing(http::StoreRefusal why) {
        windowed_ = true;
        stop_storing(why);
    }

    /// Runs `pump` to its end, detached.
    static void start(std::unique_ptr<FillPump> pump);

    /// The worker is going down.
    void abort() {
        exchange_->cancel();
        if (resumption_) resumption_->abort();
        waiting_.wake(net::Wake::shutdown);
    }

private:
    static net::awaitable<void> run_and_destroy(std::unique_ptr<FillPump> pump);
    net::awaitable<void> run();
    net::awaitable<bool> append(std::string_view data);
    net::awaitable<std::span<char>> room();
    net::awaitable<std::span<char>> room_in_window();
    bool worth_finishing();
    net::awaitable<bool> go_on_elsewhere(client::Trouble trouble);
    Bytes count_traffic();
    void finish(client::Trouble trouble);
    void store();
    void stop_storing(http::StoreRefusal why);

    Services& services_;
    std::shared_ptr<Options const> options_;
    cache::FillLease lease_;
    std::unique_ptr<client::Exchange> exchange_;
    SourceUse use_;
    std::string pool_key_;
    store::ObjectPtr growing_;
    http::VaryNames vary_;
    std::string variant_;
    http::FreshnessOptions freshness_;
    std::vector<std::string_view> targeted_;   // into options_
    net::WakeHandle waiting_;
    SteadyTime abandoned_at_{};   // since when nobody follows
    SteadyTime keep_until_{};
    bool windowed_ = false;
    std::unique_ptr<Resumption> resumption_;   // null: whose body it is answers for its end
};

}  // namespace garner::proxy
