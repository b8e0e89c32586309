// The body of a response on its way into memory and onto disk, or only through a window for those who read along.
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

namespace garner::cache {

/// Belongs to one worker; every wait resumes there. Without finish() or fail() the fetch has failed.
class Writer {
public:
    struct Response {
        store::Object::Parts parts;         // `body`: what is there of it already, stored parts; or nullptr. Borrows key and head
        http::VaryNames vary;
        std::string variant;
        http::FreshnessOptions freshness;   // of a part, for the whole that it joins; the names outlive the writer
        std::optional<Bytes> expected;      // the length of what comes
        std::optional<http::Part> place;    // of a part
    };
    struct Terms {
        net::Executor executor;
        milliseconds laggard;               // that a reader may hold others back, where only a window is kept
        std::function<void(http::StoreRefusal)> refused;   // told once, when and why nothing will be kept
    };
    /// Of the response that `lead` has fetched; takes the lease. nullptr, and the lease stays, where memory has no room for it.
    static std::unique_ptr<Writer> begin(Cache& cache, FillLease& lead, Response const& response, Terms terms);
    Writer(Cache& cache, FillLease lead, Response const& response, store::ObjectPtr growing, Terms terms);
    ~Writer();

    Fill& fill() { return *lease_.fill(); }
    FillPtr const& shared_fill() const { return lease_.fill(); }
    store::ObjectPtr const& growing() const { return growing_; }
    /// From the beginning nothing is kept of it: the reason; none: it is to be stored.
    http::StoreRefusal refusal() const { return will_keep() ? http::StoreRefusal::none : why_not_memory_; }
    /// Others may read it from now on. Who reads it for certain is a follower of its fill already: a window waits for nobody else.
    void publish_head();

    /// Memory for what comes next; waits for the disk or for readers. Empty: nobody wants it any more, or there is none.
    net::awaitable<std::span<char>> room();
    /// Room that is there without waiting, or none.
    std::span<char> room_at_hand() { return growing_->body()->room([](Bytes) { return false; }); }
    /// So many bytes of the last room have come. Wakes no reader: see flush().
    void grow(Bytes bytes) { growing_->body()->grow(bytes); }
    /// What has come goes to the disk and to the readers.
    void flush();
    bool is_kept() const { return kept_ != Kept::nowhere; }

    /// It is whole: stores it where it may, and ends the fetch.
    net::awaitable<void> finish();
    void fail(FetchFailure failure);
    /// Ends a wait: the worker is going down.
    void abort() { waiting_.wake(net::Wake::shutdown); }

private:
    enum class Kept : std::uint8_t {
        in_memory,   // and on disk, where there is one
        on_disk,     // memory has a window at the end of what has come
        nowhere      // memory has a window that follows the slowest reader
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
    Bytes gathered_max_ = 0;                   // that may be in memory until it is whole, though memory will not keep it
    std::unique_ptr<store::DiskFill> disk_;    // null: nothing goes to the disk, or no more
    store::ObjectPtr parts_on_disk_;           // that this part joins
    Bytes forgotten_ = 0;                      // before this offset memory may have nothing
    net::WakeHandle waiting_;
};

}  // namespace garner::cache
