#include "cache/invalidations.hpp"

#include <algorithm>
#include <utility>

#include "cache/key.hpp"
#include "http/rule_request.hpp"
#include "http/tags.hpp"
#include "http/uri.hpp"
#include "util/check.hpp"

namespace garner::cache {

namespace {

// An entry of the table with the overhead of the standard library.
constexpr Bytes node_bytes = 72;

}   // namespace

// ---- the table ----

std::size_t Invalidations::index_of(Key key) {
    switch (key) {
    case Key::url: return 0;
    case Key::prefix: return 1;
    case Key::tag: return 2;
    case Key::any_tag: return 3;
    case Key::purged_url: break;
    }
    return 4;
}

Fingerprint Invalidations::hash_of(Key key, std::string_view origin, std::string_view text) const {
    thread_local std::string whole;
    whole.assign(1, static_cast<char>(key)).append(origin).append(" ").append(text);
    return fingerprint(whole, seed_);
}

Invalidations::Entry const* Invalidations::find(Key key, std::string_view origin, std::string_view text, Number after) const {
    auto const hash = hash_of(key, origin, text);
    if (newest_in_slot_[hash % newest_in_slot_.size()] <= after) return nullptr;
    auto const found = table_.find(hash);
    return found == table_.end() ? nullptr : &found->second;
}

void Invalidations::raise(Entry& entry, bool soft, Number number, WallTime at, Lease::Time applied) {
    auto& last = soft ? entry.soft : entry.hard;
    last = std::max(last, number);
    entry.at = std::max(entry.at, at);
    entry.applied = std::max(entry.applied, applied);
}

void Invalidations::add(Key key, std::string_view origin, std::string_view text, Noted const& noted, Lease::Time applied) {
    auto const hash = hash_of(key, origin, text);
    auto& entry = table_[hash];
    raise(entry, noted.what.soft, noted.number, noted.at, applied);
    for (auto* const newest : {&newest_of_[index_of(key)], &newest_in_slot_[hash % newest_in_slot_.size()]})
        *newest = std::max(*newest, noted.number);
    auto& order = key == Key::purged_url ? purged_ : order_;
    order.push_back({hash, entry.newest()});
    while (order_.size() > most_) forget_oldest();
    while (purged_.size() > purged_most_) forget_oldest_purged();
}

void Invalidations::forget_oldest() {
    auto const oldest = order_.front();
    order_.pop_front();
    auto const found = table_.find(oldest.hash);
    if (found == table_.end() || found->second.newest() != oldest.number) return;   // renewed since
    auto const& entry = found->second;
    if (entry.hard) raise(forgotten_, false, entry.hard, entry.at, entry.applied);
    if (entry.soft) raise(forgotten_, true, entry.soft, entry.at, entry.applied);
    table_.erase(found);
}

/// Its stored responses were removed, and a fetch from before it is not stored. Only requests that are to pass caches miss it.
void Invalidations::forget_oldest_purged() {
    auto const oldest = purged_.front();
    purged_.pop_front();
    auto const found = table_.find(oldest.hash);
    if (found == table_.end() || found->second.newest() != oldest.number) return;   // renewed since
    forgotten_purge_ = std::max(forgotten_purge_, found->second.applied);
    table_.erase(found);
}

void Invalidations::put(Noted const& noted, Lease::Time applied) {
    auto const& what = noted.what;
    switch (what.kind) {
    case Invalidation::Kind::url: return add(Key::url, {}, what.text, noted, applied);
    case Invalidation::Kind::prefix: return add(Key::prefix, {}, what.text, noted, applied);
    case Invalidation::Kind::all: return raise(all_, what.soft, noted.number, noted.at, applied);
    case Invalidation::Kind::tag: break;
    }
    add(Key::tag, what.origin, what.text, noted, applied);
    add(Key::any_tag, what.origin, {}, noted, applied);   // for responses whose tags are unreadable or not known yet
}

/// Call it before the number is drawn: must_pass_caches() of a request with a higher number sees the time, and waits for the lock.
Lease::Time Invalidations::begin_to_apply() {
    auto const now = boot_now();
    last_applied_.store(now.count(), std::memory_order_release);
    return now;
}

void Invalidations::note_accepted(Noted const& noted) {
    ++accepted_[static_cast<std::size_t>(noted.what.kind)];
    last_.store(noted.number, std::memory_order_release);
}

Invalidations::Number Invalidations::accept(Invalidation const& what, WallTime now) {
    MutexLock const lock(mutex_);
    auto const applied = begin_to_apply();
    Noted const noted{what, numbers_.next(), now};
    put(noted, applied);
    note_accepted(noted);
    return noted.number;
}

Invalidations::Number Invalidations::accept_purged(Invalidation const& what, WallTime now) {
    check(what.kind == Invalidation::Kind::url && !what.soft);
    MutexLock const lock(mutex_);
    auto const applied = begin_to_apply();
    Noted const noted{what, numbers_.next(), now};
    add(Key::purged_url, {}, what.text, noted, applied);
    note_accepted(noted);
    return noted.number;
}

Invalidations::Number Invalidations::raise_watermark(WallTime now) {
    MutexLock const lock(mutex_);
    auto const applied = begin_to_apply();
    auto const number = numbers_.next();
    raise(watermark_, true, number, now, applied);
    last_.store(number, std::memory_order_release);
    return number;
}

void Invalidations::restore(std::vector<Noted> const& all) {
    MutexLock const lock(mutex_);
    for (auto const& noted : all) put(noted, Lease::never);
    if (!all.empty()) check_all_again();
}

void Invalidations::configure(InvalidationOptions const& options) {
    lease.set_ignored(options.serves_cut_off);
    MutexLock const lock(mutex_);
    options_ = options;
    if (last_.load() != 0) check_all_again();
}

/// No response has been compared with this number.
void Invalidations::check_all_again() {
    compare_from_ = numbers_.next();
    last_.store(compare_from_, std::memory_order_release);
}

Invalidations::Stats Invalidations::stats() const {
    MutexLock const lock(mutex_);
    return {.held = table_.size(),
            .accepted = accepted_,
            .watermark = forgotten_.newest(),
            .bytes = sizeof newest_in_slot_ + table_.size() * node_bytes + (order_.size() + purged_.size()) * sizeof(Held),
            .bytes_max = sizeof newest_in_slot_ + (most_ + purged_most_) * (node_bytes + sizeof(Held))};
}

// ---- judgements ----

/// The newest hard match decides; without one the watermark, and then the newest soft match.
class Invalidations::Search {
public:
    explicit Search(Number as_of) : as_of_(as_of) {}

    void consider(Entry const* entry, http::ReuseReason reason, std::string_view text = {}, std::string_view origin = {}) {
        if (!entry) return;
        take(entry->hard, State::hard, *entry, reason, text, origin);
        take(entry->soft, State::soft, *entry, reason, text, origin);
    }
    void consider_watermark(Entry const& entry) {
        take(entry.soft, State::watermark, entry, http::ReuseReason::invalidated_watermark, {}, {});
    }
    Found result() && { return std::move(best_); }

private:
    void take(Number number, State state, Entry const& entry, http::ReuseReason reason, std::string_view text,
              std::string_view origin) {
        if (number <= as_of_ || state < best_.verdict.state) return;
        if (state == best_.verdict.state && number <= best_.number) return;
        best_.verdict = {state, reason, entry.at};
        best_.number = number;
        best_.what = text;
        if (!origin.empty()) best_.what.append(" of ").append(origin);
    }

    Number const as_of_;
    Found best_;
};

bool Invalidations::covers(std::string_view url) const {
    if (options_.objects.empty()) return true;
    auto const uri = http::parse_absolute(url);
    if (!uri) return true;
    http::RuleRequest const request{.scheme = uri->scheme, .host = uri->authority.host, .port = uri->authority.port, .url = url};
    return std::ranges::any_of(options_.objects, [&](auto const& matcher) { return matcher.may_match_url(request); });
}

/// Calls `use` for each prefix that may be invalidated, shortest first.
template <class Use>
void Invalidations::for_each_prefix(std::string_view url, Use use) const {
    auto const path = url.substr(0, url.find('?'));
    auto end = path.find('/', origin_of(url).size());
    for (std::size_t slashes = 0; end != path.npos && slashes < prefix_slashes_max; ++slashes) {
        use(path.substr(0, end + 1));
        end = path.find('/', end + 1);
    }
}

Invalidations::Number Invalidations::compared(store::Object const& object, Number as_of) const {
    bool const counts = as_of == object.sequence() && object.checked() >= compare_from_;
    return counts ? std::max(as_of, object.checked()) : as_of;
}

Invalidations::Found Invalidations::find_newest(store::Object const& object, Number as_of) const {
    using enum http::ReuseReason;
    auto const url = plain_url_of(object.key());
    auto const origin = origin_of(url);
    auto const after = compared(object, as_of);
    Search search(after);
    search.consider(&all_, invalidated_all);
    search.consider(&forgotten_, invalidated_oldest);
    search.consider_watermark(watermark_);
    for (auto const key : {Key::url, Key::purged_url})
        if (has(key, after)) search.consider(find(key, {}, url, after), invalidated_url, url);
    if (has(Key::prefix, after))
        for_each_prefix(url, [&](std::string_view prefix) NO_THREAD_SAFETY_ANALYSIS {
            search.consider(find(Key::prefix, {}, prefix, after), invalidated_prefix, prefix);
        });
    if (has(Key::tag, after)) {
        auto const tags = http::tags_of(object.head(), options_.tag_fields);
        for (auto const of : {origin, std::string_view()}) {
            for (auto const& tag : tags.names) search.consider(find(Key::tag, of, tag, after), invalidated_tag, tag, of);
            if (tags.unreadable) search.consider(find(Key::any_tag, of, {}, after), invalidated_tag, "(unreadable tags)", of);
        }
    }
    auto found = std::move(search).result();
    return found.verdict && covers(url) ? found : Found{};
}

Invalidations::Found Invalidations::look(store::Object const& object, Number as_of) const {
    if (store::is_marker(&object)) return {};
    MutexLock const lock(mutex_);
    auto found = find_newest(object, as_of);
    if (!found.verdict && as_of <= object.sequence()) object.set_checked(last_.load(std::memory_order_relaxed));
    return found;
}

std::string Invalidations::explain(store::Object const& object) const {
    auto const found = look(object, object.sequence());
    if (!found.verdict) return {};
    auto const words = std::string(http::text(found.verdict.reason));
    return found.what.empty() ? words : words + " " + found.what;
}

http::ReuseAnswer Invalidations::may_reuse(store::Object const& object, http::Terms const& terms,
                                           http::RequestCacheControl const& request, WallTime now) const {
    bool const vouched = is_vouched_for(object);   // before the table
    auto const verdict = judge(object);
    if (!verdict && vouched) return http::may_reuse(terms, request, now);
    auto answer = http::may_reuse(verdict ? http::stale_since(terms, verdict.at) : terms, request, now);
    bool const would_serve = answer.reuse != http::Reuse::revalidate;
    if (!vouched || verdict.needs_validation()) answer.reuse = http::Reuse::revalidate;
    bool const is_validated = answer.reuse == http::Reuse::revalidate;
    if (verdict && is_validated && !http::is_by_request(answer.reason)) answer.reason = verdict.reason;
    if (!verdict && would_serve) answer.reason = http::ReuseReason::held_back;
    return answer;
}

bool Invalidations::may_serve_stale_on_error(store::Object const& object, http::RequestCacheControl const& request, WallTime now,
                                             http::StaleOnErrorKind kind) const {
    if (is_cut_off_for(plain_url_of(object.key()))) return false;
    auto const verdict = judge(object);
    if (verdict.needs_validation()) return false;
    auto const terms = verdict ? http::stale_since(object.terms(), verdict.at) : object.terms();
    return http::may_serve_stale_on_error(terms, request, now, kind);
}

// ---- in a group ----

bool Invalidations::covers_url(std::string_view url) const {
    MutexLock const lock(mutex_);
    return covers(url);
}

bool Invalidations::is_vouched_without_lease(store::Object const& object) const {
    return lease.vouches_for(object.terms().passed, boot_now()) || !covers_url(plain_url_of(object.key()));
}

bool Invalidations::holds_back(store::Object const& object) const {
    if (is_cut_off_for(plain_url_of(object.key()))) return true;
    return judge(object).state == State::watermark;
}

bool Invalidations::must_pass_caches(std::string_view url) const {
    if (!lease.is_in_group()) return false;
    if (!lease.is_current()) return covers_url(url);
    auto const since = boot_now() - lease.spread();
    if (Lease::Time(last_applied_.load(std::memory_order_acquire)) < since) return false;
    MutexLock const lock(mutex_);
    return last_match(url) >= since && covers(url);
}

/// When the latest invalidation that may concern a response of this URL was applied. The tags of the response are not known: any
/// tag of its origin counts.
Lease::Time Invalidations::last_match(std::string_view url) const {
    auto last = std::max({all_.applied, forgotten_.applied, forgotten_purge_, watermark_.applied});
    auto const consider = [&](Entry const* entry) {
        if (entry) last = std::max(last, entry->applied);
    };
    consider(find(Key::url, {}, url, 0));
    consider(find(Key::purged_url, {}, url, 0));
    consider(find(Key::any_tag, origin_of(url), {}, 0));
    consider(find(Key::any_tag, {}, {}, 0));
    if (has(Key::prefix, 0))
        for_each_prefix(url,
                        [&](std::string_view prefix) NO_THREAD_SAFETY_ANALYSIS { consider(find(Key::prefix, {}, prefix, 0)); });
    return last;
}

}   // namespace garner::cache
