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
#include "util/least_rate.hpp"

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

    /// Goes to the disk as it comes, and has that as its source already. Before start().
    void write_to(std::unique_ptr<store::DiskFill> disk) { disk_ = std::move(disk); }

    /// Not for memory to keep, and short: it goes to the disk when it is whole. Before start().
    void gather_for_disk() { gathered_most_ = store::Object::inline_body_max; }

    /// Not for memory. What goes to the disk is kept there, and its readers follow it from there; of the rest nothing is
    /// kept, and those who follow already read along in a window. Before start(), after write_to().
    void leave_memory(http::StoreRefusal why);

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
    net::awaitable<std::span<char>> room_before_disk();
    net::awaitable<std::span<char>> room_in_window();
    net::awaitable<bool> disk_keeps_up(Bytes behind);
    void forget_what_disk_has(Bytes but);
    http::StoreRefusal why_not_on_disk() const;
    bool worth_finishing();
    bool comes_too_slowly() const;
    net::awaitable<bool> go_on_elsewhere(client::Trouble trouble);
    void count_traffic();
    net::awaitable<void> finish(client::Trouble trouble);
    void store();
    net::awaitable<void> look_for_parts();
    bool is_part() const { return growing_->status() == 206; }
    Bytes window() const;
    Bytes most_in_memory() const;
    net::awaitable<bool> pause_for_disk();
    bool lies_in_one() const;
    store::ObjectPtr to_keep();
    void keep_nothing(http::StoreRefusal why);

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
    enum class Kept : std::uint8_t {
        in_memory,   // and on disk, where there is one
        on_disk,     // memory has a window at the end of what has come
        nowhere      // memory has a window that follows the slowest reader
    };
    Kept kept_ = Kept::in_memory;
    Bytes gathered_most_ = 0;                  // that may be in memory until it is whole, though longer than object_max
    std::unique_ptr<store::DiskFill> disk_;    // null: nothing goes to the disk, or no more
    store::ObjectPtr parts_on_disk_;           // that this part joins
    Pace pace_;                                // of the present source
    Bytes received_ = 0;                       // from the present source
    Bytes forgotten_ = 0;                      // before this offset memory may have nothing
    std::unique_ptr<Resumption> resumption_;   // null: whose body it is answers for its end
};

}  // namespace garner::proxy
