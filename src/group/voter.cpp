#include "group/voter.hpp"

#include <algorithm>
#include <utility>

#include "group/mutant.hpp"

namespace garner::group {

Voter::Voter(Settings settings, std::uint64_t instance, Time now, std::size_t most)
    : settings_(std::move(settings)), instance_(instance), started_(now), now_(now), most_(most) {}

// ---- connections ----

bool Voter::receive(Link link, Message const& message, Time now) {
    now_ = now;
    auto& connection = connections_[link];
    if (auto const* hello = std::get_if<Hello>(&message)) return !connection.open && welcome(link, connection, *hello);
    if (!connection.open) return false;
    if (!std::exchange(connection.is_member, true)) {
        forget_trees();
        set_ready(link, connection);
    }
    if (auto const* poll = std::get_if<Poll>(&message)) return polled(link, connection, *poll, now);
    if (auto const* lines = std::get_if<Lines>(&message)) {
        connection.member.uplink = lines->uplink;
        connection.member.downlink = lines->downlink;
        forget_trees();
        return true;
    }
    auto const* one = std::get_if<Append>(&message);
    if (one) append(link, connection, one->notice);
    return one != nullptr;
}

void Voter::closed(Link link) {
    if (connections_.erase(link) > 0) forget_trees();
}

std::string Voter::why_not(Hello const& hello) const {
    auto const& own = settings_.identity;
    auto const& other = hello.identity;
    if (hello.version != protocol_version)
        return "this voter speaks version " + std::to_string(protocol_version) + " of the protocol, and the member version " +
               std::to_string(hello.version);
    if (own.name != other.name) return "the group has another name (group.name)";
    if (own.voters != other.voters) return "the lists of voters differ (group.voters)";
    if (own.lease != other.lease)
        return "the lease is " + std::to_string(own.lease.count()) + " ms here and " + std::to_string(other.lease.count()) +
               " ms in the member (group.lease)";
    return {};
}

bool Voter::welcome(Link link, Connection& connection, Hello const& hello) {
    set_ready(link, connection);
    auto why = why_not(hello);
    if (!why.empty()) {
        connection.replies.push_back(Refused{.id = {}, .why = std::move(why)});
        return false;
    }
    bool const goes_on = hello.instance == instance_ && hello.sequence + 1 >= first_ && hello.sequence <= latest();
    connection.open = true;
    connection.sent = goes_on && !is_mutant(Mutant::reconnect_skips) ? hello.sequence : latest();
    connection.member = {.process = hello.process, .name = hello.member, .address = hello.address, .domain = hello.domain};
    connection.member.uplink = hello.uplink;
    connection.member.downlink = hello.downlink;
    connection.wants_offers = !goes_on;
    connection.member.acknowledged = connection.sent;
    connection.replies.push_back(Welcome{.instance = instance_, .sequence = connection.sent});
    return true;
}

void Voter::set_ready(Link link, Connection& connection) {
    if (!connection.is_ready) ready_.push_back(link);
    connection.is_ready = true;
}

/// A member that reads nothing loses its connection, not the memory of the voter.
void Voter::reply(Link link, Connection& connection, Message message) {
    connection.is_full = connection.is_full || connection.replies.size() >= replies_max;
    if (!connection.is_full) connection.replies.push_back(std::move(message));
    set_ready(link, connection);
}

std::vector<Voter::Link> Voter::take_ready() {
    if (std::exchange(has_news_, false))
        for (auto& [link, connection] : connections_)
            if (connection.is_member) set_ready(link, connection);
    for (auto const link : ready_)
        if (auto const found = connections_.find(link); found != connections_.end()) found->second.is_ready = false;
    return std::exchange(ready_, {});
}

bool Voter::is_too_late(Link link) const {
    auto const found = connections_.find(link);
    return found != connections_.end() && found->second.open && (found->second.is_full || found->second.sent + 1 < first_);
}

std::optional<Message> Voter::next(Link link) {
    auto const found = connections_.find(link);
    if (found == connections_.end() || is_too_late(link)) return std::nullopt;
    auto& connection = found->second;
    std::optional<Message> message;
    if (!connection.replies.empty()) {
        message = std::move(connection.replies.front());
        connection.replies.pop_front();
    } else if (!connection.states.empty() && connection.states.front().latest <= connection.sent) {
        message = connection.states.front();
        connection.states.pop_front();
    } else if (connection.is_member && std::exchange(connection.wants_offers, false) && !offers_.all().empty()) {
        message = offers_for(connection);
    } else if (connection.is_member && connection.sent < latest()) {
        message = news_for(connection);
    }
    return message;
}

News Voter::news_for(Connection& connection) {
    News news{.first = connection.sent + 1};
    for (std::size_t bytes = 0; connection.sent < latest() && bytes < news_bytes; ++connection.sent) {
        auto const& notice = log_[connection.sent + 1 - first_];
        bytes += bytes_of(notice);
        news.notices.push_back(notice.offer ? as_sent(notice, connection) : notice);
    }
    return news;
}

// ---- offers ----

/// The newest ones, in one frame.
Standing Voter::offers_for(Connection const& connection) {
    offers_.end_old(now_);
    Standing standing;
    std::size_t bytes = 0;
    for (auto one = offers_.all().rbegin(); one != offers_.all().rend() && bytes < standing_bytes; ++one) {
        standing.offers.push_back(as_sent({.id = one->tag, .what = {}, .offer = one->offer}, connection));
        bytes += bytes_of(standing.offers.back());
    }
    return standing;
}

/// An offer that has ended keeps its place in the sequence.
Notice Voter::as_sent(Notice const& notice, Connection const& connection) {
    auto sent = notice;
    auto const* const held = offers_.find(notice.offer->url);
    bool const is_in_force = held && held->tag == notice.id;
    sent.offer->life = is_in_force ? life_left(held->ends, now_) : 0;
    sent.offer->parents = is_in_force ? parents_of(connection, notice.id, *notice.offer) : std::vector<std::string>();
    return sent;
}

std::vector<std::string> Voter::parents_of(Connection const& connection, NoticeId const& id, Offer const& offer) {
    std::vector<std::string> parents;
    auto const& tree = tree_of(id.process, offer.length);
    auto const own = places_.find(connection.member.process);
    if (own == places_.end()) return parents;
    for (auto const at : above(tree.parents, own->second, offer_parents_max)) parents.push_back(addresses_[at]);
    return parents;
}

Voter::Tree const& Voter::tree_of(std::uint64_t root, std::uint64_t length) {
    if (planned_.empty())
        for (auto const& [link, connection] : connections_) {
            auto const& member = connection.member;
            if (!connection.is_member || !places_.try_emplace(member.process, planned_.size()).second) continue;
            bool const can_serve = !member.address.empty() && member.address.size() <= proxy_address_max;
            planned_.push_back({.member = member.process,
                                .domain = member.domain,
                                .uplink = member.uplink,
                                .downlink = member.downlink,
                                .can_serve = can_serve});
            addresses_.push_back(member.address);
        }
    bool const is_small = length != 0 && length <= plan_small_bytes;
    auto const found = std::ranges::find_if(trees_, [&](Tree const& one) { return one.root == root && one.is_small == is_small; });
    if (found != trees_.end()) return *found;
    if (trees_.size() == trees_max) trees_.pop_front();
    return trees_.emplace_back(Tree{.root = root, .is_small = is_small, .parents = plan(planned_, root, length)});
}

void Voter::forget_trees() {
    planned_.clear();
    places_.clear();
    addresses_.clear();
    trees_.clear();
}

// ---- the list ----

void Voter::append(Link link, Connection& connection, Notice const& notice) {
    bool const is_known_offer = notice.offer && !sequences_.contains(notice.id) && !offers_.add(notice.id, *notice.offer, now_);
    if (is_known_offer) return reply(link, connection, Stored{notice.id});
    auto const [known, is_new] = sequences_.try_emplace(notice.id, latest() + 1);
    if (is_new && !notice.offer) offers_.end_concerned(notice.what);
    if (is_new) log_.push_back(notice), log_bytes_ += bytes_of(notice);
    waiting_.push_back({.id = notice.id, .sequence = known->second, .link = link});
    if (waiting_.size() > most_) waiting_.pop_front();   // its submitter waits for a lease instead
    reply(link, connection, Stored{notice.id});
    if (!is_new) return;
    has_news_ = true;
    while (log_.size() > most_ || log_bytes_ > log_bytes_max) forget_oldest();
}

void Voter::forget_oldest() {
    sequences_.erase(log_.front().id);
    log_bytes_ -= bytes_of(log_.front());
    log_.pop_front();
    ++first_;
}

// ---- acknowledgements ----

bool Voter::polled(Link link, Connection& connection, Poll const& poll, Time now) {
    auto& member = connection.member;
    bool const valid = poll.applied <= connection.sent && poll.applied >= member.acknowledged;
    if (!valid || connection.states.size() == states_max) return false;
    member.acknowledged = poll.applied;
    member.heard = now;
    connection.states.push_back({.number = poll.number, .latest = latest()});
    set_ready(link, connection);
    acknowledge(member.process, is_mutant(Mutant::confirmed_when_sent) ? connection.sent : poll.applied, now);
    confirm(now);
    return true;
}

void Voter::acknowledge(std::uint64_t process, std::uint64_t sequence, Time now) {
    auto const [known, is_new] = acknowledged_.try_emplace(process);
    auto& last = known->second;
    if (!is_new) by_sequence_.erase({last.sequence, process});
    // A late message of an earlier connection takes nothing back.
    last = {.sequence = std::max(last.sequence, sequence), .heard = now};
    by_sequence_.insert({last.sequence, process});
}

/// The lowest sequence of all processes that may hold a lease. A process that was not heard for a lease holds none.
std::uint64_t Voter::acknowledged_by_all(Time now) {
    while (!by_sequence_.empty()) {
        auto const [sequence, process] = *by_sequence_.begin();
        if (acknowledged_.at(process).heard + settings_.times.lease >= now) return sequence;
        acknowledged_.erase(process);
        by_sequence_.erase(by_sequence_.begin());
    }
    return latest();
}

void Voter::confirm(Time now) {
    // Members may hold leases of the process before.
    bool const is_new = now <= started_ + settings_.times.lease && !is_mutant(Mutant::confirmed_after_start);
    if (waiting_.empty() || is_new) return;
    auto const all = acknowledged_by_all(now);
    while (!waiting_.empty() && waiting_.front().sequence <= all) {
        auto const& one = waiting_.front();
        if (auto const found = connections_.find(one.link); found != connections_.end())
            reply(one.link, found->second, Confirmed{one.id});
        waiting_.pop_front();
    }
}

// ---- figures ----

std::vector<Voter::MemberState> Voter::members() const {
    std::vector<MemberState> all;
    for (auto const& [link, connection] : connections_)
        if (connection.is_member) all.push_back(connection.member);
    return all;
}

}   // namespace garner::group
