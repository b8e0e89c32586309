#include "group/group.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <future>
#include <map>
#include <thread>
#include <utility>

#include "group/line_rate.hpp"
#include "group/member_offers.hpp"
#include "group/member_side.hpp"
#include "group/proxy_place.hpp"
#include "group/report_limit.hpp"
#include "group/shown.hpp"
#include "group/voter_side.hpp"
#include "io/log.hpp"
#include "util/awaited.hpp"
#include "util/boot_clock.hpp"
#include "util/mutex.hpp"

namespace garner::group {

namespace asio = net::asio;

namespace {

// The bound of submissions that wait for voters: a new connection sends all of them at once, within Link::waiting_max.
constexpr Bytes submissions_max = 768 * KiB;
constexpr Bytes around_notice = 32;   // in its frame
constexpr milliseconds state_patience{1'000};
constexpr auto shuts_down = "this proxy shuts down";

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string("garner");
}

/// All members have the voters in this order.
std::vector<IpEndpoint> sorted(std::vector<IpEndpoint> voters) {
    std::ranges::sort(voters, {}, [](auto const& one) { return one.text(); });
    return voters;
}

Settings settings_of(Options const& options, std::string proxy) {
    std::vector<std::string> texts;
    for (auto const& voter : sorted(options.voters)) texts.push_back(voter.text());
    Settings settings;
    settings.identity = identity_of(options.name, texts, options.lease);
    settings.times.lease = options.lease;
    settings.voters = texts.size();
    settings.member = options.member.empty() ? host_name() : options.member;
    settings.address = std::move(proxy);
    settings.domain = options.domain;
    settings.uplink = options.uplink;
    settings.downlink = options.downlink;
    return settings;
}

}   // namespace

// ---- the thread ----

class Group::Inside {
public:
    Inside(Options const& options, cache::Cache& cache, std::string proxy)
        : name_(options.name), settings_(settings_of(options, std::move(proxy))), voters_(sorted(options.voters)),
          address_(options.address), cache_(cache), timer_(io_),
          member_(io_, settings_, options.secret, voters_, totals_,
                  {.apply = [this](auto const& what) { apply(what); },
                   .take = [this](auto const& offer) { take(offer); },
                   .raise_watermark = [this] { raise_watermark(); },
                   .report = [this](auto const&... what) { report(what...); },
                   .settle = [this] { settle(); }}),
          voter_(io_, settings_, options.secret, totals_, [this] { settle(); }) {
        lease().begin(settings_.times.held(), settings_.times.spread());
    }

    Result<void> open(int handed) { return is_voter() ? voter_.open(address_, handed) : Result<void>(); }
    void start();
    void stop();
    bool pause();
    void resume();
    int descriptor() const { return is_voter() ? voter_.descriptor() : -1; }
    std::string address() const { return is_voter() ? address_.text() : std::string(); }
    /// Any thread.
    void apply_here(cache::Invalidation const& what) {
        offers.end_concerned(what);
        bool const is_purged = what.kind == cache::Invalidation::Kind::url && !what.soft;
        if (!is_purged) return cache_.invalidate(what);
        cache_.invalidations.accept_purged(what, wall_now());
        cache_.purge(what.text);
    }
    void submit(cache::Invalidation const&, Told accepted, Told everywhere);
    void offer(Offer offer, Told accepted);
    std::function<void(std::string const& url)> fetch = {};   // called on the thread of the group; set before start()
    MemberOffers offers;
    void note_transfer(std::uint64_t Lines::*line, std::uint64_t bytes, microseconds took) EXCLUDES(lines_mutex_);
    std::size_t voters() const { return voters_.size(); }
    SubmissionResult not_accepted(std::string why) const {
        return {.accepted = false,
                .everywhere = false,
                .stored = 0,
                .voters = voters(),
                .took = {},
                .spread = {},
                .why = std::move(why)};
    }
    /// No result came.
    std::string why_silent() const { return stopped_ ? shuts_down : "the group of this proxy does not respond"; }
    Times const& times() const { return settings_.times; }
    std::optional<GroupState> state();

private:
    struct Submission {
        Told accepted, everywhere;
        Time begun{};
        Bytes bytes = 0;
        SubmissionResult outcome = {};
        bool is_offer = false;   // it does not count as an invalidation
    };

    bool is_voter() const { return address_.port != 0; }
    std::optional<std::size_t> own_place() const {
        auto const found = std::ranges::find(voters_, address_);
        if (found == voters_.end()) return std::nullopt;
        return static_cast<std::size_t>(found - voters_.begin());
    }
    cache::Lease& lease() { return cache_.invalidations.lease; }

    void begin();
    void apply(cache::Invalidation const&);
    void take(Offer const&);
    std::string refusal(Bytes bytes);
    void raise_watermark();
    void tell_of_failure(std::string const& why) EXCLUDES(reports_mutex_);
    void report(NoticeId const&, MemberSide::Progress, std::size_t stored, std::string const& why);
    void settle();
    void talk_with_own();
    void publish();
    void look_at_lease(Time now);
    void set_timer();
    void tick();
    GroupState take_state();

    std::string const name_;
    Settings const settings_;
    std::vector<IpEndpoint> const voters_;
    IpEndpoint const address_;
    cache::Cache& cache_;

    asio::io_context io_{1};
    asio::executor_work_guard<net::Executor> work_{io_.get_executor()};
    net::Timer timer_;
    GroupState::Totals totals_;
    MemberSide member_;
    VoterSide voter_;
    bool is_submitting_ = false;   // the caller has applied it, or the offer is of this member
    Mutex lines_mutex_;
    LineRate sending_ GUARDED_BY(lines_mutex_), receiving_ GUARDED_BY(lines_mutex_);
    Lines told_ GUARDED_BY(lines_mutex_) = {settings_.uplink, settings_.downlink};
    bool is_settling_ = false;
    bool is_due_ = false;                               // a tick was posted
    std::map<std::uint64_t, Submission> submissions_;   // by NoticeId::number
    std::atomic<Bytes> waiting_{0};                     // Submission::bytes
    std::atomic<std::uint64_t> refused_{0};
    Mutex reports_mutex_;
    ReportLimit reports_ GUARDED_BY(reports_mutex_);   // of unsafe requests
    Histogram acceptance_, spread_;
    bool is_current_ = false;
    WallTime since_ = wall_now();
    Time began_{};
    std::deque<GroupState::Watermark> watermarks_;
    std::atomic<bool> stopped_{false};
    std::thread thread_;
};

void Group::Inside::start() {
    asio::post(io_, [this] { begin(); });
    thread_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "group");
        io_.run();
    });
}

void Group::Inside::begin() {
    began_ = boot_now();
    if (is_voter()) voter_.start();
    member_.set_own(is_voter() ? own_place() : std::nullopt, began_);
    member_.start(began_);
    settle();
}

void Group::Inside::stop() {
    if (stopped_.exchange(true) || !thread_.joinable()) return;
    asio::post(io_, [this] {
        member_.stop();
        voter_.stop();
        lease().renew(never);
        submissions_.clear();
        io_.stop();
    });
    thread_.join();
}

/// The new process has the voter. This one asks it like any other member.
bool Group::Inside::pause() {
    if (!thread_.joinable()) return true;
    auto const done = std::make_shared<std::promise<void>>();
    auto future = done->get_future();
    asio::post(io_, [this, done] {
        voter_.pause();
        member_.set_own(std::nullopt, boot_now());
        settle();
        done->set_value();
    });
    return future.wait_for(state_patience) == std::future_status::ready;
}

void Group::Inside::resume() {
    asio::post(io_, [this] {
        voter_.resume();
        if (voter_.is_running()) member_.set_own(own_place(), boot_now());
        settle();
    });
}

// ---- after each event ----

void Group::Inside::tick() {
    auto const now = boot_now();
    voter_.tick(now);
    member_.member().tick(now);
    settle();
}

void Group::Inside::settle() {
    if (stopped_ || std::exchange(is_settling_, true)) return;   // the first call goes on
    talk_with_own();
    voter_.flush();
    publish();
    set_timer();
    is_settling_ = false;
}

/// Messages between the member and the voter of this process, until neither has one.
void Group::Inside::talk_with_own() {
    if (!voter_.is_running()) return;
    auto& voter = voter_.voter();
    for (bool more = true; more;) {
        more = false;
        while (auto message = member_.take_for_own()) {
            if (auto* const hello = std::get_if<Hello>(&*message)) {
                voter.closed(VoterSide::own);
                hello->address = reachable_address(hello->address, address_.address);
            }
            (void)voter.receive(VoterSide::own, *message, boot_now());
            more = true;
        }
        while (auto const message = voter.next(VoterSide::own)) {
            member_.receive_from_own(*message, boot_now());
            more = true;
        }
    }
}

/// After the invalidations were applied.
void Group::Inside::publish() {
    lease().renew(member_.member().current_until());
    look_at_lease(boot_now());
}

void Group::Inside::look_at_lease(Time now) {
    bool const is_current = now <= member_.member().current_until();
    bool const is_late = now > began_ + settings_.times.lease;
    bool const is_first = totals_.cut_off == 0 && !is_current_;
    if (is_current == is_current_ && !(is_first && is_late && !is_current)) return;
    is_current_ = is_current;
    auto const before = std::exchange(since_, wall_now());
    if (is_current) {
        auto const seconds = std::chrono::duration<double>(since_ - before).count();
        return spdlog::info("group {}: this member is current (after {:.1f} s)", name_, seconds);
    }
    ++totals_.cut_off;
    GroupState state;
    state.voters = member_.voters(now);
    auto const* const does =
        lease().is_ignored() ? "serves responses that may be outdated (group.cut_off)" : "validates what the group covers";
    spdlog::warn("group {}: this member is cut off, and {}: no lease of {}", name_, does, state.silent());
}

void Group::Inside::set_timer() {
    constexpr microseconds least{1'000};
    auto const now = boot_now();
    auto next = member_.member().next_tick();
    if (is_current_) next = std::min(next, member_.member().current_until() + least);
    if (next <= now && !std::exchange(is_due_, true))   // events that come often must not delay it
        asio::post(io_, [this] {
            is_due_ = false;
            if (!stopped_) tick();
        });
    timer_.expires_after(std::clamp<microseconds>(next - now, least, settings_.times.lease));
    timer_.async_wait([this](net::Error const& cancelled) {
        if (!cancelled && !stopped_) tick();
    });
}

// ---- the cache ----

void Group::Inside::apply(cache::Invalidation const& what) {
    if (!is_submitting_) apply_here(what);
}

// ---- lines ----

void Group::Inside::note_transfer(std::uint64_t Lines::*line, std::uint64_t bytes, microseconds took) {
    bool const is_up = line == &Lines::uplink;
    bool const is_configured = (is_up ? settings_.uplink : settings_.downlink) != 0;
    if (is_configured || bytes < LineRate::bytes_least || stopped_) return;
    MutexLock const lock(lines_mutex_);
    auto& rate = is_up ? sending_ : receiving_;
    rate.add(bytes, took);
    auto const measured = rate.p90();
    if (!is_other_rate(told_.*line, measured)) return;
    told_.*line = measured;
    asio::post(io_, [this, lines = told_] {
        if (stopped_) return;
        member_.member().set_lines(lines);
        settle();
    });
}

// ---- offers ----

void Group::Inside::take(Offer const& offer) {
    bool const is_own = is_submitting_;
    if (!offers.add(offer, is_own)) return;
    ++(is_own ? totals_.offered : totals_.offers_taken);
    if (!is_own && fetch) fetch(offer.url);
}

void Group::Inside::raise_watermark() {
    cache_.invalidations.raise_watermark(wall_now());
    ++totals_.watermarks;
    bool const is_first = totals_.watermarks == 1;
    char const* const why = is_first ? "the start of this member" : "a majority of the voters restarted, or skipped invalidations";
    watermarks_.push_back({.at = wall_now(), .reason = why});
    if (watermarks_.size() > GroupState::watermarks_kept) watermarks_.pop_front();
    spdlog::info("group {}: stored responses are validated before they are used: {}", name_, why);
}

// ---- submissions ----

/// Empty: the bytes wait for the voters from now on.
std::string Group::Inside::refusal(Bytes bytes) {
    if (stopped_) return shuts_down;
    if (bytes > notice_bytes_max) return "it is longer than 64 KiB";
    if (waiting_.fetch_add(bytes) + bytes <= submissions_max) return {};
    waiting_ -= bytes;
    return "too many invalidations wait for the voters";
}

void Group::Inside::submit(cache::Invalidation const& what, Told accepted, Told everywhere) {
    Bytes const bytes = bytes_of(Notice{.id = {}, .what = what}) + around_notice;
    if (auto const why = refusal(bytes); !why.empty()) {
        ++refused_;
        if (!accepted) return tell_of_failure(why);
        return accepted(not_accepted(why));
    }
    asio::post(io_, [this, what, bytes, accepted = std::move(accepted), everywhere = std::move(everywhere)]() mutable {
        auto const now = boot_now();
        is_submitting_ = true;
        auto const id = member_.member().submit(what, now);
        is_submitting_ = false;
        submissions_[id.number] = {std::move(accepted), std::move(everywhere), now, bytes, {}, false};
        settle();
    });
}

void Group::Inside::offer(Offer offer, Told accepted) {
    if (!accepted) accepted = [](SubmissionResult const&) {};
    Bytes const bytes = bytes_of(Notice{.id = {}, .what = {}, .offer = offer}) + around_notice;
    auto const why = is_sendable(offer) ? refusal(bytes) : "its URL is longer than 8 KiB";
    if (!why.empty()) return accepted(not_accepted(why));
    asio::post(io_, [this, offer = std::move(offer), bytes, accepted = std::move(accepted)]() mutable {
        auto const now = boot_now();
        is_submitting_ = true;
        auto const id = member_.member().submit(std::move(offer), now);
        is_submitting_ = false;
        submissions_[id.number] = {std::move(accepted), {}, now, bytes, {}, true};
        settle();
    });
}

/// An unsafe request caused the invalidation: its client has no answer of the group.
void Group::Inside::tell_of_failure(std::string const& why) {
    MutexLock const lock(reports_mutex_);
    if (!reports_.is_due({}, why, boot_now())) return;
    spdlog::warn("group {}: an unsafe request invalidates responses at this member only: {}; purge its URL once the group is well",
                 name_, why);
}

void Group::Inside::report(NoticeId const& id, MemberSide::Progress progress, std::size_t stored, std::string const& why) {
    using enum MemberSide::Progress;
    auto const found = submissions_.find(id.number);
    if (found == submissions_.end()) return;
    auto& one = found->second;
    auto const passed = boot_now() - one.begun;
    auto& outcome = one.outcome;
    outcome.stored = stored;
    outcome.voters = voters();
    if (progress == accepted) {
        if (!one.is_offer) ++totals_.accepted;
        if (!one.is_offer) acceptance_.add(passed);
        outcome.accepted = true;
        outcome.took = passed;
        if (auto const told = std::exchange(one.accepted, nullptr)) told(outcome);
        return;
    }
    if (progress == not_accepted) {
        if (!one.is_offer) ++totals_.not_accepted;
        outcome.took = passed;
        outcome.why = why.empty() ? "a majority of the voters has not answered in time" : shown(why, 200);
        if (one.accepted)
            one.accepted(outcome);
        else
            tell_of_failure(outcome.why);
    } else {
        if (!one.is_offer) spread_.add(passed);
        outcome.everywhere = true;
        outcome.spread = passed;
    }
    if (one.everywhere) one.everywhere(outcome);
    waiting_ -= one.bytes;
    submissions_.erase(found);
}

// ---- figures ----

std::optional<GroupState> Group::Inside::state() {
    if (stopped_ || !thread_.joinable()) return std::nullopt;
    auto answer = std::make_shared<std::promise<GroupState>>();
    auto future = answer->get_future();
    asio::post(io_, [this, answer = std::move(answer)] { answer->set_value(take_state()); });
    return awaited(future, state_patience);
}

GroupState Group::Inside::take_state() {
    auto const now = boot_now();
    auto const until = member_.member().current_until();
    GroupState state;
    state.name = name_;
    state.member = settings_.member;
    state.address = address();
    state.lease = std::chrono::duration_cast<milliseconds>(settings_.times.lease);
    state.current = now <= until;
    state.since = since_;
    state.left = state.current ? until - now : Time(0);
    state.voters = member_.voters(now);
    if (!state.current) state.why = "no lease of " + state.silent();
    state.serves_cut_off = lease().is_ignored();
    state.is_voter = voter_.is_running();
    if (state.is_voter) state.held = voter_.voter().held();
    state.members = voter_.members(now);
    state.offers = offers.rows(now);
    state.watermarks.assign(watermarks_.begin(), watermarks_.end());
    state.totals = totals_;
    state.totals.refused = refused_;
    state.acceptance = acceptance_.snapshot();
    state.spread = spread_.snapshot();
    return state;
}

// ---- any thread ----

namespace {

/// Only the submission holds the promise, so that its end is seen.
std::future<SubmissionResult> submit_for(Group& group, cache::Invalidation const& what, bool everywhere) {
    auto const answer = std::make_shared<std::promise<SubmissionResult>>();
    auto future = answer->get_future();
    auto const tell = [answer](SubmissionResult const& outcome) { answer->set_value(outcome); };
    if (everywhere)
        group.submit(
            what,
            [tell](SubmissionResult const& outcome) {
                if (!outcome.accepted) tell(outcome);
            },
            [tell](SubmissionResult const& outcome) {
                if (outcome.accepted) tell(outcome);
            });
    else
        group.submit(what, tell);
    return future;
}

}   // namespace

Group::Group(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}

Group::~Group() { stop(); }

Result<std::unique_ptr<Group>> Group::open(Options const& options, cache::Cache& cache, std::string proxy, int handed) {
    auto inside = std::make_unique<Inside>(options, cache, std::move(proxy));
    if (auto const opened = inside->open(handed); !opened) return opened.fault();
    return std::unique_ptr<Group>(new Group(std::move(inside)));
}

void Group::start() { inside_->start(); }
void Group::stop() { inside_->stop(); }
bool Group::pause() { return inside_->pause(); }
void Group::resume() { inside_->resume(); }
int Group::descriptor() const { return inside_->descriptor(); }
std::string Group::address() const { return inside_->address(); }
std::optional<GroupState> Group::state() const { return inside_->state(); }

milliseconds Group::lease() const { return std::chrono::duration_cast<milliseconds>(inside_->times().lease); }

/// The longest wait for the voters, and the delays of threads.
milliseconds Group::patience() const {
    return std::chrono::duration_cast<milliseconds>(inside_->times().to_store()) + milliseconds(1'000);
}

void Group::offer(Offer offer, Told accepted) { inside_->offer(std::move(offer), std::move(accepted)); }
void Group::when_offered(std::function<void(std::string const& url)> fetch) { inside_->fetch = std::move(fetch); }
void Group::note_sent(std::uint64_t bytes, microseconds took) { inside_->note_transfer(&Lines::uplink, bytes, took); }
void Group::note_received(std::uint64_t bytes, microseconds took) { inside_->note_transfer(&Lines::downlink, bytes, took); }
bool Group::is_offered(std::string_view url) const { return inside_->offers.has(url); }
std::vector<IpEndpoint> Group::parents_of(std::string_view url) const { return inside_->offers.parents_of(url); }
void Group::note_fetch(std::string_view url, std::string state) { inside_->offers.note_fetch(url, std::move(state)); }

void Group::submit(cache::Invalidation const& what, Told accepted, Told everywhere) {
    inside_->apply_here(what);
    inside_->submit(what, std::move(accepted), std::move(everywhere));
}

SubmissionResult Group::submit_and_wait(cache::Invalidation const& what, bool everywhere) {
    auto future = submit_for(*this, what, everywhere);
    auto const limit = patience() + (everywhere ? 2 * lease() : milliseconds(0));
    auto outcome = awaited(future, limit);
    return outcome ? *std::move(outcome) : inside_->not_accepted(inside_->why_silent());
}

}   // namespace garner::group
