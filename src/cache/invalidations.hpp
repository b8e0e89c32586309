// The invalidations that were accepted, and the stored responses that they concern. Without I/O; the caller gives the wall time.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/invalidation.hpp"
#include "cache/lease.hpp"
#include "cache/event_numbers.hpp"
#include "cache/options.hpp"
#include "http/freshness.hpp"
#include "store/object.hpp"
#include "util/hash.hpp"
#include "util/mutex.hpp"

namespace garner::cache {

/// Invalidations and responses have numbers of one counter: a response is outdated by a matching invalidation with a higher number.
/// Thread-safe. A response that nothing new concerns costs two loads.
class Invalidations {
public:
    using Number = std::uint64_t;
    static constexpr std::size_t most_default = 1'000'000;
    /// `most`: this many are held, and an eighth of it of those of purged URLs. The oldest go, and all responses that are older
    /// than they count as outdated, unless they were compared with them before.
    explicit Invalidations(Numbers& numbers, std::size_t most = most_default)
        : numbers_(numbers), most_(most), purged_most_(std::max<std::size_t>(most / 8, 1)) {}

    /// Accepts one. Its number is taken under the lock of this object.
    Number accept(Invalidation const&, WallTime now);
    /// Accepts one of a URL whose responses the caller then removes. Clients can cause many of these: they replace no others, and
    /// the oldest go without consequence for stored responses. The disk keeps no line about them.
    Number accept_purged(Invalidation const&, WallTime now);
    /// All that is stored must be validated before it is used: invalidations may have been missed.
    Number raise_watermark(WallTime now);
    /// Those that an earlier process accepted.
    void restore(std::vector<Noted> const& all);
    /// The options have changed: every response is checked again.
    void configure(InvalidationOptions const& options);

    enum class State : std::uint8_t {
        current,
        soft,        // stale since `at`
        watermark,   // must be validated
        hard         // must not be used
    };
    struct Verdict {
        State state = State::current;
        http::ReuseReason reason = http::ReuseReason::fresh;
        WallTime at{};
        explicit operator bool() const { return state != State::current; }
        bool is_hard() const { return state == State::hard; }
        /// By an invalidation: a response below the watermark may be as good as before.
        bool is_invalidated() const { return state == State::soft || state == State::hard; }
        bool needs_validation() const { return state >= State::watermark; }
    };
    /// The state of a stored response.
    Verdict judge(store::Object const& object) const {
        auto const last = last_.load(std::memory_order_acquire);
        if (last <= object.sequence() || last == object.checked()) return {};
        return look(object, object.sequence()).verdict;
    }
    /// The state of the response to a request that was sent at this number.
    Verdict judge(store::Object const& object, Number asked) const {
        return last_.load(std::memory_order_acquire) <= asked ? Verdict() : look(object, asked).verdict;
    }
    /// Like judge(), immediately before the response is stored: knows every invalidation whose number is lower than that of the
    /// response.
    Verdict judge_newcomer(store::Object const& object, Number asked) const { return look(object, asked).verdict; }
    /// "invalidated by tag news of http://example.com"; empty for a response that is not outdated.
    std::string explain(store::Object const& object) const;

    // ---- in a group ----

    Lease lease;
    /// `group.objects` has the URL, which is in normal form.
    bool covers_url(std::string_view url) const;
    /// This cache may not know an invalidation of the URL.
    bool is_cut_off_for(std::string_view url) const { return !lease.is_current() && covers_url(url); }
    /// The response may be used as far as the lease is concerned. Call it before judge().
    bool is_vouched_for(store::Object const& object) const { return lease.is_current() || is_vouched_without_lease(object); }
    /// Whether a request for this URL goes out with no-cache, and to no sibling: another cache may not have applied an invalidation
    /// yet.
    bool must_pass_caches(std::string_view url) const;
    /// Whether the lease or the watermark forbids to serve this response in place of an error.
    bool holds_back(store::Object const& object) const;

    /// http::may_reuse() of a stored response with these terms. An outdated one is not fresh.
    http::ReuseAnswer may_reuse(store::Object const& object, http::Terms const& terms, http::RequestCacheControl const& request,
                                WallTime now) const;
    /// http::may_serve_stale_on_error(). Never after a hard invalidation, below the watermark, or without a lease.
    bool may_serve_stale_on_error(store::Object const& object, http::RequestCacheControl const& request, WallTime now,
                                  http::StaleOnErrorKind kind) const;

    struct Stats {
        std::size_t held = 0;
        std::array<std::uint64_t, 4> accepted{};   // by Invalidation::Kind
        Number watermark = 0;                      // number of the newest one that was forgotten; responses before it are outdated
        Bytes bytes = 0;
        Bytes bytes_max = 0;
    };
    Stats stats() const;

private:
    struct Entry {
        Number hard = 0, soft = 0;            // the last of each
        WallTime at{};                        // the time of the last one
        Lease::Time applied = Lease::never;   // when this process applied the latest of them
        Number newest() const { return std::max(hard, soft); }
    };
    enum class Key : char { url = 'u', prefix = 'p', tag = 't', any_tag = 'o', purged_url = 'g' };
    struct Held {
        Fingerprint hash = 0;
        Number number = 0;
    };
    struct Found {
        Verdict verdict;
        Number number = 0;
        std::string what;   // its text
    };
    /// Compares the response with all that may match it.
    class Search;

    static void raise(Entry&, bool soft, Number, WallTime at, Lease::Time applied);
    Lease::Time begin_to_apply() REQUIRES(mutex_);
    void note_accepted(Noted const&) REQUIRES(mutex_);
    void put(Noted const&, Lease::Time applied) REQUIRES(mutex_);
    void check_all_again() REQUIRES(mutex_);
    void add(Key, std::string_view origin, std::string_view text, Noted const&, Lease::Time applied) REQUIRES(mutex_);
    void forget_oldest() REQUIRES(mutex_);
    void forget_oldest_purged() REQUIRES(mutex_);
    Fingerprint hash_of(Key, std::string_view origin, std::string_view text) const;
    /// nullptr also if the entry is not newer than `after`.
    Entry const* find(Key, std::string_view origin, std::string_view text, Number after) const REQUIRES(mutex_);
    /// An entry of this kind newer than `after` was added.
    bool has(Key key, Number after) const REQUIRES(mutex_) { return newest_of_[index_of(key)] > after; }
    static std::size_t index_of(Key key);
    /// The numbers up to this one that are newer than `as_of` do not concern the response, as an earlier call found.
    Number compared(store::Object const& object, Number as_of) const REQUIRES(mutex_);
    Found look(store::Object const& object, Number as_of) const;
    Found find_newest(store::Object const& object, Number as_of) const REQUIRES(mutex_);
    bool covers(std::string_view url) const REQUIRES(mutex_);
    bool is_vouched_without_lease(store::Object const&) const;
    Lease::Time last_match(std::string_view url) const REQUIRES(mutex_);
    template <class Use>
    void for_each_prefix(std::string_view url, Use use) const;

    Numbers& numbers_;
    std::size_t const most_, purged_most_;
    Fingerprint const seed_ = random_bits();
    std::atomic<Number> last_{0};   // changes with each acceptance, and when every response must be compared again
    mutable Mutex mutex_;
    std::unordered_map<Fingerprint, Entry> table_ GUARDED_BY(mutex_);
    std::deque<Held> order_ GUARDED_BY(mutex_);              // oldest first
    std::deque<Held> purged_ GUARDED_BY(mutex_);             // Key::purged_url, oldest first
    std::array<Number, 5> newest_of_ GUARDED_BY(mutex_){};   // number of each kind of key
    /// The newest number of the entries whose hash has this remainder: a response that was compared lately needs no look-up.
    std::array<Number, 8'192> newest_in_slot_ GUARDED_BY(mutex_){};
    Number compare_from_ GUARDED_BY(mutex_) = 0;   // Object::checked() of a lower number says nothing
    Entry all_ GUARDED_BY(mutex_);
    Entry forgotten_ GUARDED_BY(mutex_);
    Lease::Time forgotten_purge_ GUARDED_BY(mutex_) = Lease::never;      // Entry::applied of the newest one
    Entry watermark_ GUARDED_BY(mutex_);                                 // its `soft`
    std::atomic<Lease::Time::rep> last_applied_{Lease::never.count()};   // the newest Entry::applied
    InvalidationOptions options_ GUARDED_BY(mutex_);
    std::array<std::uint64_t, 4> accepted_ GUARDED_BY(mutex_){};
};

}   // namespace garner::cache
