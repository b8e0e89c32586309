// A fetch in progress that others may follow instead of asking the origin themselves (collapsed forwarding).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/vary.hpp"
#include "net/asio.hpp"
#include "net/wake.hpp"
#include "store/disk_store.hpp"
#include "store/object.hpp"
#include "util/clock.hpp"
#include "util/hash.hpp"
#include "util/ip.hpp"
#include "util/link.hpp"
#include "util/mutex.hpp"

namespace garner::cache {

class Fetches;
struct NegativeTerms;
class Fill;
class Follower;
using FillPtr = std::shared_ptr<Fill>;

/// Why a fetch brought nothing: what its followers tell their clients too.
struct FetchFailure {
    std::uint16_t status = 502;
    std::string reason;            // in words
};

/// The request that met a failure which its own fields may have caused.
struct Witness {
    IpAddress client;              // addresses of one network are one client
    Fingerprint fields = 0;        // the fingerprint of the request's fields: see proxy/decision
    friend bool operator==(Witness const&, Witness const&) = default;
};

/// What a follower sees of a fill.
struct FillView {
    enum class Phase : std::uint8_t {
        head,       // nothing is known yet
        body,       // storable; `object` grows
        complete,   // `object` is whole
        refused,    // not to be shared: everybody fetches for himself
        failed,     // `failure`; after the head: `object` stays incomplete
        look_again  // nothing was fetched: it was on disk
    };
    Phase phase = Phase::head;
    store::ObjectPtr object;
    FetchFailure failure;
    char const* reason = "";       // refused: why, a literal
    std::uint64_t version = 0;     // changes with everything above and with the body's growth
};

/// A place among the few requests that fetch beside a fill whose leader waits for its head. Move-only; empty: none.
/// Dropped, it wakes the fill's followers: one of them may have the place.
class Beside {
public:
    Beside() = default;
    Beside(FillPtr fill, IpAddress client) : fill_(std::move(fill)), client_(client) {}
    Beside(Beside&& other) noexcept : fill_(std::move(other.fill_)), client_(other.client_) {}
    Beside& operator=(Beside&& other) noexcept;
    ~Beside() { drop(); }
    void drop() {
        if (fill_) leave();
    }
    explicit operator bool() const { return fill_ != nullptr; }

private:
    void leave();

    FillPtr fill_;
    IpAddress client_;
};

/// Shared by the leader's and the followers' workers. All members thread-safe unless said otherwise.
class Fill {
public:
    /// `asked`: the number of the moment in which its request goes out (see UrlHistory).
    Fill(Fetches& home, std::string key, Fingerprint primary, store::ObjectPtr stale, std::uint64_t asked)
        : home_(home), key_(std::move(key)), primary_(primary), stale_(std::move(stale)), in_shard_{.asked = asked} {}

    std::string const& key() const { return key_; }
    Fingerprint primary() const { return primary_; }
    /// The stored object that this fetch validates; nullptr when there is none.
    store::ObjectPtr const& stale() const { return stale_; }

    /// Requests that come may wait for it; false for a fetch beside others.
    bool leads_others() const { return leads_others_; }
    /// The variant that the URL's Vary marker selected when it began; empty: none.
    std::string const& sought() const { return sought_; }

    FillView view() const;
    /// The response's Vary permits this request to take the object. Only after the head.
    bool selects(http::Fields const& request) const;
    /// The names of its Vary, as http::to_string. Only after the head.
    std::string varies_by() const;
    std::size_t followers() const;
    /// The failure that this request has met, or one just like it, when it led the fill.
    std::optional<FetchFailure> failure_of(Witness const&) const;
    /// Somebody has some of it, or is about to.
    bool is_given() const;
    /// Remembers what it met, unless the URL was purged since it began. `witness` and the result: see NegativeCache::remember().
    bool remember_failure(FetchFailure const&, bool of_head_only, NegativeTerms const&, std::optional<Witness> const& witness) const;

    static constexpr std::size_t beside_max = 4;
    /// A place beside `fill`: none while beside_max are taken, or one by this client.
    static Beside go_beside(FillPtr const& fill, IpAddress const& client);
    /// The body grew: wakes the followers. Producer's worker.
    void grown();
    /// The least offset any follower still needs, for a body that keeps only a window; UINT64_MAX without followers.
    Bytes slowest_follower() const;
    /// Adds `waited`, the time since the last call, to the account of each follower that held others back at the last call: it
    /// had not read up to the size of the body then, and another follower had. Drops each follower that holds others back now
    /// and has more than `allowance` on its account. The other followers go on.
    void charge_laggards(Bytes size, SteadyTime::duration waited, milliseconds allowance);
    /// Wakes `handle` when a follower has read on or left.
    void wake_on_reading(net::WakeHandle handle);

private:
    friend class Cache;
    friend class DiskLookup;
    friend class Fetches;
    friend class FillLease;
    friend class Publication;
    friend class Supersession;
    friend class Follower;
    friend class Beside;
    void leave_beside(IpAddress const& client);
    void change(FillView::Phase phase, store::ObjectPtr object, FetchFailure failure, char const* reason);
    void set_variant(http::VaryNames vary, std::string variant);
    bool promote_next();
    bool is_second_to_fail(FetchFailure const&, Witness const&);
    std::vector<net::WakeHandle> take_waiting() REQUIRES(mutex_);

    Fetches& home_;
    std::string const key_;            // the primary cache key
    Fingerprint const primary_;
    store::ObjectPtr const stale_;
    bool leads_others_ = true;         // set before it is shared
    bool refreshes_ = false;           // the same: it began as Lookup::Kind::refresh
    bool off_disk_ = false;            // set by the leader
    store::ObjectPtr marker_;          // the URL's Vary marker as the disk has it; set by the leader
    std::string sought_;               // the same as refreshes_: the variant that the URL's Vary marker selected when it began; empty: none
    struct InShard {
        std::uint64_t asked = 0;       // when its request went out
        std::uint64_t read = 0;        // when it began to read the disk
        bool stored = true;            // false: nothing of it is stored any more, whatever comes
    };
    /// Guarded by the mutex of the URL's shard.
    InShard& in_shard([[maybe_unused]] Mutex const& of_shard) REQUIRES(of_shard) { return in_shard_; }
    InShard const& in_shard([[maybe_unused]] Mutex const& of_shard) const REQUIRES(of_shard) { return in_shard_; }
    InShard in_shard_;

    mutable Mutex mutex_;
    FillView view_ GUARDED_BY(mutex_);
    http::VaryNames vary_ GUARDED_BY(mutex_);
    std::string variant_ GUARDED_BY(mutex_);
    List<Follower> followers_ GUARDED_BY(mutex_);
    std::size_t follower_count_ GUARDED_BY(mutex_) = 0;
    net::WakeHandle producer_ GUARDED_BY(mutex_);
    std::vector<IpAddress> beside_ GUARDED_BY(mutex_);    // clients that fetch beside this fill
    std::optional<Witness> failed_for_ GUARDED_BY(mutex_);   // the last leader whose own request may have failed the fetch
    FetchFailure failure_ GUARDED_BY(mutex_);             // its failure
    bool begun_ GUARDED_BY(mutex_) = false;               // some follower has begun to send it
    bool closed_ GUARDED_BY(mutex_) = false;              // a newcomer would miss the beginning
};

/// The right and the duty to end a fill. Move-only; an empty lease ends nothing, and says nothing. Dropped before the head, the next follower is promoted; dropped
/// after it, the fill has failed.
class FillLease {
public:
    FillLease() = default;
    explicit FillLease(FillPtr fill) : fill_(std::move(fill)) {}
    FillLease(FillLease&& other) noexcept : fill_(std::move(other.fill_)) {}
    FillLease& operator=(FillLease&& other) noexcept {
        if (this == &other) return *this;
        drop();
        fill_ = std::move(other.fill_);
        return *this;
    }
    ~FillLease() { drop(); }

    explicit operator bool() const { return fill_ != nullptr; }
    FillPtr const& fill() const { return fill_; }
    /// For its beginning, before others see the fill: it validates what is sent meanwhile.
    void begin_refresh() { fill_->refreshes_ = true; }
    /// The same: the variant that is to be fetched.
    void seek(std::string_view variant) { fill_->sought_ = variant; }
    /// A client is about to be given this response, which may be stored: it gets its number. Where there is a disk: see
    /// give_after_disk().
    void give(store::Object::Parts& response, http::VaryNames const& vary);
    /// The same with a disk: waits until what the response replaces there is gone, whatever becomes of this process.
    net::awaitable<void> give_after_disk(store::Object::Parts& response, http::VaryNames const& vary, net::Executor executor);
    /// It will not be stored after all, and is given nevertheless: what it replaces leaves memory, too.
    void give_unstored(store::Object::Parts const& response, http::VaryNames const& vary);

    /// The head is storable and the body grows: followers whose request it selects may read it. A 206 has none.
    void head_is_storable(store::ObjectPtr growing, http::VaryNames vary, std::string variant);
    /// Stores the object, unless it was purged meanwhile, and ends the fill: complete. Without a charge (an object that
    /// the budget had no room for) only the disk may have it, and those who wait. `on_disk` has its body already.
    /// True when one of them keeps it.
    bool complete(store::ObjectPtr object, http::VaryNames vary, std::string variant, store::DiskFill* on_disk = nullptr);
    /// The disk was asked, and will not have it.
    void keep_off_disk() { fill_->off_disk_ = true; }
    /// The same with what was loaded from disk, where memory is to have it; those who wait look it up themselves.
    /// `marker`: the sequence of the URL's Vary marker there; variants before it count for nothing. False: purged or
    /// replaced since it was read, it is not for answering any more.
    bool loaded(store::ObjectPtr const& object, http::VaryNames const& vary, std::string const& variant, std::uint64_t marker);
    /// Ends the fill: those who wait look again.
    void look_again();
    /// Nobody else may have this response; later requests do not queue behind the URL for a while.
    void refuse(char const* reason);
    void fail(FetchFailure failure);
    /// The request of this leader may have caused the failure: the next follower leads, unless another client has already met a
    /// failure of this fill.
    void fail_alone(FetchFailure failure, Witness const&);
    /// The object is not stored, and no request joins the fill; its followers read on. Later requests do not queue behind
    /// the URL for a while; with a null `reason` (else a literal) the next one leads again.
    void stop_storing(char const* reason);
    /// Ends the fill without a word. Before the head the next follower leads; without followers, whoever comes too late
    /// to be one fetches for himself. After the head the fill has failed.
    void drop() {
        if (fill_) give_up();
    }

private:
    void give_up();

    FillPtr fill_;
};

/// One transaction's place among those that wait. Dropping it leaves the fill. Belongs to one worker.
class Follower : private Link {
public:
    explicit Follower(FillPtr fill);
    ~Follower();

    FillView view() const { return fill_->view(); }
    Fill const& fill() const { return *fill_; }
    /// Wakes the handle at the next change after `seen`; at once when that has happened already.
    void wake_on_change(std::uint64_t seen, net::WakeHandle handle);
    /// True once when the leader went before the head and this follower is next: take_lead() it.
    bool promoted() const;
    FillLease take_lead();
    /// How far this follower has read (see Fill::slowest_follower).
    void read_up_to(Bytes offset);
    /// True when it was too slow for a body that keeps only a window, or came too late for one.
    bool dropped() const;

private:
    friend class Fill;
    template <class>
    friend class garner::List;
    /// Said by the fill, of its followers: its mutex is theirs.
    void assert_held() const ASSERT_CAPABILITY(fill_->mutex_) {}
    FillPtr fill_;
    net::WakeHandle waiting_ GUARDED_BY(fill_->mutex_);
    Bytes offset_ GUARDED_BY(fill_->mutex_) = 0;
    SteadyTime::duration held_ GUARDED_BY(fill_->mutex_){};      // that it has held the others back
    bool holds_ GUARDED_BY(fill_->mutex_) = false;               // it did at the last look
    bool promoted_ GUARDED_BY(fill_->mutex_) = false;
    bool dropped_ GUARDED_BY(fill_->mutex_) = false;
};

}  // namespace garner::cache
