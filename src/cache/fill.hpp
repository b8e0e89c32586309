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
#include "share/payers.hpp"
#include "store/disk_store.hpp"
#include "store/object.hpp"
#include "util/clock.hpp"
#include "util/hash.hpp"
#include "util/ip.hpp"
#include "util/intrusive_list.hpp"
#include "util/mutex.hpp"
#include "util/recycled_memory.hpp"

namespace garner::cache {

class Fetches;
struct NegativeTerms;
class Fill;
class Follower;
using FillPtr = std::shared_ptr<Fill>;

/// The kind of a failure: selects the texts of the error page.
enum class FailureKind : std::uint8_t {
    other,         // the status tells all
    name,          // the origin's name was not resolved
    refused,       // the origin refused the connection
    unreachable,   // no connection to the origin for another reason
    connect_timeout,
    tls,            // TLS handshake or certificate
    closed,         // the connection ended before a response
    timeout,        // no response in time
    invalid,        // a response that violates HTTP
    origin_error,   // the origin's error response, reported to followers
    peer,           // the failure is a peer's
    resources,      // this proxy lacks descriptors, ports or memory
    not_stored,     // only a stored response may be used
    quota           // the client has used up its quota
};

/// The reason a fetch failed, also reported to its followers' clients.
struct FetchFailure {
    FetchFailure() = default;
    FetchFailure(std::uint16_t status, std::string reason, FailureKind kind = FailureKind::other)
        : status(status), kind(kind), reason(std::move(reason)) {}
    std::uint16_t status = 502;
    FailureKind kind = FailureKind::other;
    std::string reason;   // in words
};

/// A request whose own fields may have caused the failure it met.
struct Witness {
    IpAddress client;         // addresses of one network are one client
    Fingerprint fields = 0;   // the fingerprint of the request's fields: see proxy/decision
    friend bool operator==(Witness const&, Witness const&) = default;
};

/// A follower's view of a fill.
struct FillView {
    enum class Phase : std::uint8_t {
        head,        // no head received yet
        body,        // storable; `object` grows
        complete,    // `object` is complete
        refused,     // uncacheable: each request fetches separately
        failed,      // `failure`; after the head `object` stays incomplete
        look_again   // nothing was fetched, because the object was on disk
    };
    Phase phase = Phase::head;
    store::ObjectPtr object;
    FetchFailure failure;
    char const* reason = "";     // refused: the reason, a literal
    std::uint64_t version = 0;   // changes with each field above and with the body's growth
};

/// A slot for a request that fetches beside a fill whose leader waits for its head. Move-only; empty: no slot.
/// Releasing it wakes the fill's followers, so that one of them can take it.
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

/// Shared by the workers of leader and followers. All members are thread-safe unless stated otherwise.
class Fill : public share::Payers {
public:
    /// `asked`: the event number at which the request is sent (see UrlHistory).
    Fill(Fetches& home, std::string_view key, Fingerprint primary, store::ObjectPtr stale, std::uint64_t asked)
        : home_(home), key_(key), primary_(primary), stale_(std::move(stale)), asked_(asked) {}

    std::string_view key() const { return key_; }
    Fingerprint primary() const { return primary_; }
    /// The stored object that this fetch validates; nullptr when there is none.
    store::ObjectPtr const& stale() const { return stale_; }
    /// The number at which the request was sent: an invalidation with a higher one may have been accepted before the response was
    /// made.
    std::uint64_t asked() const { return asked_; }

    /// True when requests may join this fetch; false for a fetch beside others.
    bool leads_others() const { return leads_others_; }
    /// The variant that the URL's Vary marker selected when the fetch began; empty: none.
    std::string const& sought() const { return sought_; }

    FillView view() const;
    /// Whether the response's Vary permits this request to use the object. Only after the head.
    bool selects(http::Fields const& request) const;
    /// The field names of its Vary, as http::to_string. Only after the head.
    std::string varies_by() const;
    std::size_t followers() const;
    /// The follower whose turn comes first; empty if none takes part.
    share::Payer payer(share::Line const& line, share::Direction direction) const override;
    std::optional<std::shared_ptr<share::Cap>> fastest_cap(share::Direction direction) const override;
    void note_charged(share::Cap const& cap, Bytes bytes) override;
    void begin_wait(net::WakeHandle handle) override;
    void end_wait() override;
    /// The last time at which the fetch waited for the line, a cap or the slow lane: `now` if it waits, the epoch if it never has.
    SteadyTime last_in_line(SteadyTime now) const;
    /// The failure that this request, or one with an equal witness, met as leader of the fill.
    std::optional<FetchFailure> failure_of(Witness const&) const;
    /// True when a client has received part of it, or is about to.
    bool is_given() const;
    /// Adds a negative entry, unless the URL was purged since the fetch began. `witness` and result: see
    /// NegativeCache::remember().
    bool remember_failure(FetchFailure const&, bool of_head_only, NegativeTerms const&,
                          std::optional<Witness> const& witness) const;

    static constexpr std::size_t beside_max = 4;
    /// A slot beside `fill`; empty when all beside_max are taken, or this client has one.
    static Beside go_beside(FillPtr const& fill, IpAddress const& client);
    /// The body grew: wakes the followers. Call on the producer's worker.
    void grown();
    /// The smallest offset that any follower still needs, for a body that keeps only a window; UINT64_MAX without
    /// followers.
    Bytes slowest_follower() const;
    /// Charges `waited`, the time since the last call, to each follower that delayed others at the last call: it had
    /// not read the whole body, and another follower had. Drops each follower that delays others now and has been
    /// charged more than `allowance`. The other followers continue.
    void charge_laggards(Bytes size, SteadyTime::duration waited, milliseconds allowance);
    /// Wakes `handle` when a follower has read on or left.
    void wake_on_reading(net::WakeHandle handle);

private:
    friend class Cache;
    friend class DiskLookup;
    friend class Fetches;
    friend class FillLease;
    friend class MemoryTier;
    friend class Publication;
    friend class Supersession;
    friend class Follower;
    friend class Beside;
    void leave_beside(IpAddress const& client);
    void change(FillView::Phase phase, store::ObjectPtr object, FetchFailure failure, char const* reason);
    void set_variant(http::VaryNames vary, std::string variant);
    bool promote_next();
    bool is_second_to_fail(FetchFailure const&, Witness const&);
    net::WakeHandles take_waiting() REQUIRES(mutex_);

    Fetches& home_;
    RecycledString const key_;   // the primary cache key
    Fingerprint const primary_;
    store::ObjectPtr const stale_;
    std::uint64_t const asked_;
    bool leads_others_ = true;   // set before it is shared
    bool refreshes_ = false;     // set before it is shared: it began as Lookup::Kind::refresh
    bool off_disk_ = false;      // set by the leader
    store::ObjectPtr marker_;    // the URL's Vary marker on disk; set by the leader
    std::string sought_;         // set before it is shared: see sought()
    struct InShard {
        std::uint64_t read = 0;   // when its disk read began
        bool stored = true;       // false: the response will not be stored
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
    struct InLine {
        net::WakeHandle payer;     // waits in the name of a follower
        std::uint32_t waits = 0;   // that have begun and not ended
        SteadyTime ended{};        // the last one
    };
    InLine in_line_ GUARDED_BY(mutex_);
    std::vector<IpAddress> beside_ GUARDED_BY(mutex_);       // clients that fetch beside this fill
    std::optional<Witness> failed_for_ GUARDED_BY(mutex_);   // the last leader whose own request may have caused the failure
    FetchFailure failure_ GUARDED_BY(mutex_);                // that leader's failure
    bool begun_ GUARDED_BY(mutex_) = false;                  // a follower has begun to send it
    bool closed_ GUARDED_BY(mutex_) = false;                 // a new follower would miss the beginning
};

/// The exclusive right and duty to end a fill. Move-only; an empty lease does nothing. Dropped before the head, the
/// next follower is promoted; dropped after it, the fill fails.
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
    /// Call before the fill is shared: the stored object is sent while this fetch validates it.
    void begin_refresh() { fill_->refreshes_ = true; }
    /// Call before the fill is shared: sets the variant to fetch.
    void seek(std::string_view variant) { fill_->sought_ = variant; }
    /// Call before a client gets a response that may be stored; assigns its sequence number. With a disk use
    /// give_after_disk().
    void give(store::Object::Parts& response, http::VaryNames const& vary);
    /// give() with a disk: waits until the removal of replaced records on disk survives a process crash.
    net::awaitable<void> give_after_disk(store::Object::Parts& response, http::VaryNames const& vary, net::Executor executor);
    /// The response is sent but will not be stored: the objects it replaces leave memory, too.
    void give_unstored(store::Object::Parts const& response, http::VaryNames const& vary);

    /// The head is storable and the body grows: followers whose request it selects may read it.
    /// A fill that leads others never has a 206.
    void head_is_storable(store::ObjectPtr growing, http::VaryNames vary, std::string variant);
    /// Stores the object, unless the URL was purged meanwhile, and ends the fill: complete. An uncharged object (no
    /// room in the budget) is only offered to the disk and to followers. `on_disk` has its body already. True when it
    /// is stored in memory or on disk.
    bool complete(store::ObjectPtr object, http::VaryNames vary, std::string variant, store::DiskFill* on_disk = nullptr);
    /// The disk has rejected the object.
    void keep_off_disk() { fill_->off_disk_ = true; }
    /// Like complete(), for an object loaded from disk that enters memory; followers repeat their lookup. `marker`:
    /// the sequence of the URL's Vary marker on disk; older variants are ignored. False: it was purged or replaced
    /// since it was read, and must not be served.
    bool loaded(store::ObjectPtr const& object, http::VaryNames const& vary, std::string const& variant, std::uint64_t marker);
    /// Ends the fill: followers repeat their lookup.
    void look_again();
    /// The response is uncacheable: later requests are not collapsed for a while.
    void refuse(char const* reason);
    void fail(FetchFailure failure);
    /// The leader's own request may have caused the failure: the next follower leads, unless another client has
    /// already met a failure of this fill.
    void fail_alone(FetchFailure failure, Witness const&);
    /// Stops storing: no request joins the fill; its followers continue to read. `reason`: a literal; later requests
    /// are not collapsed for a while. With null the next request leads again.
    void stop_storing(char const* reason);
    /// Ends the fill without a result. Before the head the next follower is promoted; without followers, a request
    /// that joins too late fetches separately. After the head the fill fails.
    void drop() {
        if (fill_) give_up();
    }

private:
    void give_up();

    FillPtr fill_;
};

/// One transaction's place among the followers. Destroying it leaves the fill. Belongs to one worker.
class Follower : private Link {
public:
    explicit Follower(FillPtr fill);
    ~Follower();

    /// It may pay for what the fill takes from the line. `cap`: the limit of its client; nullptr: none.
    void pay_as(share::Payer payer, std::shared_ptr<share::Cap> cap);
    /// The part of `bytes`, which its client has received, that the fill has not charged to its cap.
    Bytes not_charged(Bytes bytes);
    FillView view() const { return fill_->view(); }
    Fill const& fill() const { return *fill_; }
    /// Wakes the handle at the next change after version `seen`; at once if it has changed already.
    void wake_on_change(std::uint64_t seen, net::WakeHandle handle);
    /// True once, when the leader left before the head and this follower is next: call take_lead().
    bool promoted() const;
    FillLease take_lead();
    /// Reports how far this follower has read (see Fill::slowest_follower).
    void read_up_to(Bytes offset);
    /// True when it was too slow for a body that keeps only a window, or joined too late.
    bool dropped() const;

private:
    friend class Fill;
    template <class>
    friend class garner::List;
    /// For calls by the fill on its followers: they share its mutex.
    void assert_held() const ASSERT_CAPABILITY(fill_->mutex_) {}
    FillPtr fill_;
    net::WakeHandle waiting_ GUARDED_BY(fill_->mutex_);
    share::Payer payer_ GUARDED_BY(fill_->mutex_);   // empty: it never waits for the line
    std::shared_ptr<share::Cap> cap_ GUARDED_BY(fill_->mutex_);
    Bytes charged_ GUARDED_BY(fill_->mutex_) = 0;   // to its cap, and not received yet
    Bytes offset_ GUARDED_BY(fill_->mutex_) = 0;
    SteadyTime::duration held_ GUARDED_BY(fill_->mutex_){};   // time for which it has delayed others
    bool holds_ GUARDED_BY(fill_->mutex_) = false;            // it delayed others at the last call
    bool promoted_ GUARDED_BY(fill_->mutex_) = false;
    bool dropped_ GUARDED_BY(fill_->mutex_) = false;
};

}   // namespace garner::cache
