// Writes the body of a response into memory and onto disk, or passes it through a window to its followers.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache.hpp"
#include "http/cacheability.hpp"
#include "http/partial.hpp"
#include "net/wake.hpp"
#include "util/recycled_memory.hpp"

namespace garner::cache {

/// Belongs to one worker; every wait resumes there. Destroying it without finish() or fail() fails the fetch.
class Writer : public Recycled {
public:
    struct Response {
        store::Object::Parts parts;   // `body`: stored parts to complete; or nullptr. Borrows key and head
        http::VaryNames vary;
        std::string variant;
        http::FreshnessOptions freshness;   // of a part: used for the whole that it joins; the names outlive the writer
        std::optional<Bytes> expected;      // the length to be received
        std::optional<http::Part> place;    // for a part
    };
    struct Terms {
        net::Executor executor;
        milliseconds laggard;                              // how long a follower may delay others if only a window is kept
        std::function<void(http::StoreRefusal)> refused;   // called once, when and why the response will not be stored
    };
    /// Starts with the response fetched by `lead`, and takes the lease. nullptr without taking the lease, if memory
    /// has no room.
    static std::unique_ptr<Writer> begin(Cache& cache, FillLease& lead, Response const& response, Terms terms);
    Writer(Cache& cache, FillLease lead, Response const& response, store::ObjectPtr growing, Terms terms);
    ~Writer();

    Fill& fill() { return *lease_.fill(); }
    FillPtr const& shared_fill() const { return lease_.fill(); }
    store::ObjectPtr const& growing() const { return growing_; }
    /// The reason why nothing is stored from the beginning; none: it is to be stored.
    http::StoreRefusal refusal() const { return will_keep() ? http::StoreRefusal::none : why_not_memory_; }
    /// Publishes the head to followers. Every certain reader must be a follower before: a window waits only for
    /// followers.
    void publish_head();

    /// Memory for the next bytes; waits for the disk or for followers. Empty: no reader is left, or no memory.
    net::awaitable<std::span<char>> room();
    /// Room available without waiting, or none.
    std::span<char> room_at_hand() {
        return growing_->body()->room([](Bytes) { return false; });
    }
    /// Appends `bytes` of the last room. Wakes no reader: see flush().
    void grow(Bytes bytes) { growing_->body()->grow(bytes); }
    /// Hands the received bytes to the disk and to followers.
    void flush();
    bool is_kept() const { return kept_ != Kept::nowhere; }
    /// The body goes on to the followers only.
    void stop_storing(http::StoreRefusal why) {
        if (is_kept()) keep_nothing(why);
    }

    /// The body is complete: stores it if permitted, and ends the fetch.
    net::awaitable<void> finish();
    void fail(FetchFailure failure);
    /// Ends a wait because the worker is shutting down.
    void abort() { waiting_.wake(net::Wake::shutdown); }

private:
    enum class Kept : std::uint8_t {
        in_memory,   // and on disk, if there is one
        on_disk,     // memory keeps a window at the end of the received bytes
        nowhere      // memory keeps a window that follows the slowest reader
    };
    static std::unique_ptr<store::DiskFill> begin_on_disk(Cache& cache, FillLease& lead, Response const& response);
    void pass_memory(Response const& response);
    bool will_keep() const { return disk_ || why_not_memory_ == http::StoreRefusal::none; }
    net::awaitable<std::span<char>> room_before_disk();
    net::awaitable<std::span<char>> room_in_window();
    net::awaitable<bool> disk_keeps_up(Bytes behind);
    net::awaitable<bool> pause_for_disk();
    void forget_what_disk_has(Bytes but);
    void leave_memory(http::StoreRefusal why);
    void keep_nothing(http::StoreRefusal why);
    http::StoreRefusal why_not_on_disk() const;
    net::awaitable<void> look_for_parts();
    void store();
    store::ObjectPtr to_keep();
    store::ObjectPtr in_one_piece(store::Object::Parts const& parts);
    bool is_part() const { return growing_->status() == 206; }
    bool lies_in_one() const;
    Bytes window() const;
    Bytes in_memory_max() const;
    Fingerprint primary() const { return lease_.fill()->primary(); }

    Cache& cache_;
    FillLease lease_;
    store::ObjectPtr growing_;
    http::VaryNames vary_;
    std::string variant_;
    http::FreshnessOptions freshness_;
    std::vector<std::string_view> targeted_;   // of freshness_
    Terms terms_;
    Kept kept_ = Kept::in_memory;
    http::StoreRefusal why_not_memory_ = http::StoreRefusal::none;   // known from the head
    Bytes gathered_max_ = 0;                  // may be in memory until complete, although memory will not store it
    std::unique_ptr<store::DiskFill> disk_;   // null: no disk, or writing has stopped
    store::ObjectPtr parts_on_disk_;          // the stored parts that this part joins
    Bytes forgotten_ = 0;                     // memory may have dropped bytes before this offset
    net::WakeHandle waiting_;
};

}   // namespace garner::cache
