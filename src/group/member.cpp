#include "group/member.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "group/mutant.hpp"
#include "util/check.hpp"

namespace garner::group {

Member::Member(Settings settings, std::uint64_t process, MemberActions& actions, Time now)
    : settings_(std::move(settings)), lines_{settings_.uplink, settings_.downlink}, process_(process), actions_(actions),
      links_(settings_.voters) {
    check(links_.size() >= 1 && links_.size() <= voters_max);
    for (std::size_t voter = 0; voter < links_.size(); ++voter) connect(voter, now);
}

// ---- time ----

void Member::tick(Time now) {
    auto const& times = settings_.times;
    for (std::size_t voter = 0; voter < links_.size(); ++voter) {
        auto& link = links_[voter];
        bool const is_down = link.phase == Link::Phase::down;
        if (now >= link.changed + (is_down ? times.retry() : times.silence()))
            connect(voter, now);
        else if (link.phase == Link::Phase::open && now >= link.next_poll)
            poll(voter, now);
    }
    settle_all(now);
    renew(now);
}

Time Member::next_tick() const {
    auto const& times = settings_.times;
    auto next = Time::max();
    for (auto const& link : links_) {
        bool const is_down = link.phase == Link::Phase::down;
        next = std::min(next, link.changed + (is_down ? times.retry() : times.silence()));
        if (link.phase == Link::Phase::open) next = std::min(next, link.next_poll);
    }
    return next;
}

// ---- connections ----

void Member::connect(std::size_t voter, Time now) {
    links_[voter].begin(Link::Phase::connecting, now);
    actions_.connect(voter);
}

void Member::connected(std::size_t voter, Nonce const& nonce, Time now) {
    auto& link = links_[voter];
    link.phase = Link::Phase::greeted;
    link.changed = now;
    Hello hello{.nonce = nonce,
                .identity = settings_.identity,
                .process = process_,
                .instance = link.known.instance,
                .sequence = link.known.sequence,
                .member = settings_.member,
                .address = settings_.address,
                .domain = settings_.domain,
                .uplink = lines_.uplink,
                .downlink = lines_.downlink};
    actions_.send(voter, hello);
}

void Member::disconnected(std::size_t voter, Time now) { links_[voter].begin(Link::Phase::down, now); }

bool Member::receive(std::size_t voter, Message const& message, Time now) {
    auto& link = links_[voter];
    link.changed = now;
    bool good = false;
    if (auto const* welcome = std::get_if<Welcome>(&message)) good = welcomed(voter, *welcome, now);
    if (auto const* refusal = std::get_if<Refused>(&message)) good = refused(voter, *refusal, now);
    if (link.phase == Link::Phase::open) {
        if (auto const* state = std::get_if<State>(&message)) good = answered(voter, *state, now);
        if (auto const* list = std::get_if<News>(&message)) good = news(voter, *list, now);
        if (auto const* list = std::get_if<Standing>(&message)) good = standing(*list, now);
        if (auto const* one = std::get_if<Stored>(&message)) good = stored(voter, one->id, now);
        if (auto const* one = std::get_if<Confirmed>(&message)) good = confirmed(voter, one->id, now);
    }
    if (good) renew(now);
    return good;
}

bool Member::welcomed(std::size_t voter, Welcome const& welcome, Time now) {
    auto& link = links_[voter];
    auto& known = link.known;
    if (link.phase != Link::Phase::greeted || welcome.instance == 0) return false;
    bool const same_instance = known.instance == welcome.instance;
    bool const skips = !same_instance || known.sequence != welcome.sequence;
    if (skips) {
        bool const stays = is_mutant(Mutant::instance_trusted) || (same_instance && is_mutant(Mutant::reconnect_skips));
        if (!stays) known.trusted = false;
        if (!stays) known.as_of = never;
        link.skipped = now;
    }
    known.instance = welcome.instance;
    known.sequence = welcome.sequence;
    known.connected = true;
    known.refusal.clear();
    link.acknowledges = 0;
    link.must_acknowledge = false;
    link.phase = Link::Phase::open;
    for (auto const& one : submissions_)
        if (!one.over) actions_.send(voter, Append{one.notice});
    poll(voter, now);
    return true;
}

bool Member::refused(std::size_t voter, Refused const& refusal, Time now) {
    if (refusal.id == NoticeId{}) {
        links_[voter].known.refusal = refusal.why;
        return false;   // the voter closes the connection, too
    }
    if (auto* const one = find(refusal.id)) {
        one->refused.set(voter);
        one->why = refusal.why;
        settle(*one, now);
    }
    return true;
}

// ---- notices ----

void Member::poll(std::size_t voter, Time now) {
    auto& link = links_[voter];
    link.next_poll = now + settings_.times.poll();
    if (link.unanswered.size() == unanswered_max) return;   // silence() is near
    link.unanswered.push_back({.number = ++link.polls, .sent = now});
    actions_.send(voter, Poll{.number = link.polls, .applied = link.known.sequence});
}

bool Member::answered(std::size_t voter, State const& state, Time now) {
    auto& link = links_[voter];
    auto& polls = link.unanswered;
    while (!polls.empty() && polls.front().number < state.number) polls.pop_front();
    if (polls.empty() || polls.front().number != state.number || state.latest > link.known.sequence) return false;
    link.known.as_of = is_mutant(Mutant::age_from_arrival) ? now : std::max(link.known.as_of, polls.front().sent);
    polls.pop_front();
    if (state.number >= link.acknowledges) link.acknowledges = 0;
    if (link.must_acknowledge) acknowledge(voter, now);
    return true;
}

bool Member::news(std::size_t voter, News const& list, Time now) {
    auto& link = links_[voter];
    if (list.first != link.known.sequence + 1 || list.notices.empty()) return false;
    for (auto const& notice : list.notices) apply_once(notice, now);
    link.known.sequence += list.notices.size();
    acknowledge(voter, now);
    return true;
}

/// These offers have no place in the sequence. A member that misses one asks the origin.
bool Member::standing(Standing const& list, Time now) {
    for (auto const& notice : list.offers) {
        if (!notice.offer) return false;
        apply_once(notice, now);
    }
    return true;
}

/// One at a time: under load each is for many notices.
void Member::acknowledge(std::size_t voter, Time now) {
    auto& link = links_[voter];
    link.must_acknowledge = link.acknowledges != 0;
    if (link.must_acknowledge) return;
    poll(voter, now);
    link.acknowledges = link.polls;
}

/// Copies arrive from each voter. A second one would only outdate what was fetched since.
void Member::apply_once(Notice const& notice, Time now) {
    if (!seen_.insert(notice.id).second) return;
    seen_order_.push_back({.id = notice.id, .at = now});
    forget_seen(now);
    if (notice.offer) return actions_.take(*notice.offer);
    actions_.apply(notice.what);
}

void Member::forget_seen(Time now) {
    auto const oldest = now - 4 * settings_.times.lease;
    while (!seen_order_.empty() && (seen_order_.front().at < oldest || seen_order_.size() > seen_max)) {
        seen_.erase(seen_order_.front().id);
        seen_order_.pop_front();
    }
}

// ---- leases ----

bool Member::holds(Link const& link, Time now) const { return now <= link.known.as_of + settings_.times.held(); }

/// A majority of the voters, all trusted, had sent all that they had stored until then.
Time Member::common_as_of() const {
    std::array<Time, voters_max> times{};
    std::size_t count = 0;
    for (auto const& link : links_)
        if (link.known.trusted) times[count++] = link.known.as_of;
    std::size_t const needed = is_mutant(Mutant::one_voter_is_enough) ? 1 : settings_.majority();
    if (count < needed) return never;
    std::sort(times.begin(), times.begin() + count, std::greater());
    return times[needed - 1];
}

void Member::renew(Time now) {
    trust_again(now);
    current_until_ = common_as_of() + settings_.times.held();
    if (now <= current_until_) return;
    trust_anew(now);
    current_until_ = common_as_of() + settings_.times.held();
}

/// The notices that were skipped had been submitted before `skipped`: a majority stored it within the time to store, or never. The trusted voters
/// have sent all that was accepted until then, so nothing is missing.
void Member::trust_again(Time now) {
    auto const complete = common_as_of();
    for (auto& link : links_) {
        if (link.known.trusted || link.phase != Link::Phase::open || !holds(link, now)) continue;
        auto const wait = is_mutant(Mutant::trusted_back_early) ? Time(0) : settings_.times.lease;
        if (complete > link.skipped + wait) link.known.trusted = true;
    }
}

/// At the start, and after a majority of the voters restarted: the watermark stands for all that was submitted before.
void Member::trust_anew(Time now) {
    auto const count = std::ranges::count_if(links_, [&](auto const& link) { return holds(link, now); });
    if (static_cast<std::size_t>(count) < settings_.majority()) return;
    ++watermarks_;
    if (!is_mutant(Mutant::no_watermark)) actions_.raise_watermark();
    for (auto& link : links_) link.known.trusted = link.known.instance != 0;
}

// ---- submissions ----

void Member::set_lines(Lines const& lines) {
    if (lines == lines_) return;
    lines_ = lines;
    for (std::size_t voter = 0; voter < links_.size(); ++voter)
        if (links_[voter].phase == Link::Phase::open) actions_.send(voter, lines_);
}

NoticeId Member::submit(Notice notice, Time now) {
    notice.id = {.process = process_, .number = ++submitted_};
    apply_once(notice, now);
    submissions_.push_back({.notice = notice, .submitted = now, .stored = {}, .confirmed = {}, .refused = {}});
    for (std::size_t voter = 0; voter < links_.size(); ++voter)
        if (links_[voter].phase == Link::Phase::open) actions_.send(voter, Append{notice});
    return notice.id;
}

Member::Submission* Member::find(NoticeId const& id) {
    auto const found = std::ranges::lower_bound(submissions_, id.number, {}, [](auto const& one) { return one.notice.id.number; });
    return found != submissions_.end() && found->notice.id == id ? &*found : nullptr;
}

bool Member::stored(std::size_t voter, NoticeId const& id, Time now) {
    auto* const one = find(id);
    if (!one) return true;
    one->stored.set(voter);
    settle(*one, now);
    return true;
}

bool Member::confirmed(std::size_t voter, NoticeId const& id, Time now) {
    auto* const one = find(id);
    if (!one) return true;
    one->confirmed.set(voter);
    settle(*one, now);
    return true;
}

void Member::settle(Submission& one, Time now) {
    using enum MemberActions::Progress;
    if (one.over) return;
    auto const& times = settings_.times;
    auto const report = [&](MemberActions::Progress progress) {
        actions_.report(one.notice.id, progress, one.stored.count(), one.why);
    };
    if (one.accepted == never) {
        bool const in_time = now <= one.submitted + times.to_store() || is_mutant(Mutant::no_time_to_store);
        std::size_t const needed = is_mutant(Mutant::accepted_after_one_store) ? 1 : settings_.majority();
        bool const has_votes = one.stored.count() >= needed;
        one.over = !in_time || one.refused.count() > settings_.voters - settings_.majority();
        if (one.over) return report(not_accepted);
        if (!has_votes) return;
        one.accepted = now;
        report(accepted);
    }
    // A lease after the acceptance every member has applied it, or validates.
    one.over = one.confirmed.count() >= settings_.majority() || now > one.accepted + times.lease + times.lease / 50;
    if (one.over) report(everywhere);
}

void Member::settle_all(Time now) {
    for (auto& one : submissions_) settle(one, now);
    drop_settled();
}

void Member::drop_settled() {
    while (!submissions_.empty() && submissions_.front().over) submissions_.pop_front();
}

// ---- figures ----

std::vector<Member::VoterState> Member::voters() const {
    std::vector<VoterState> all;
    for (auto const& link : links_) all.push_back(link.known);
    return all;
}

}   // namespace garner::group
