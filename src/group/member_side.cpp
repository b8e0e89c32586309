#include "group/member_side.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "group/shown.hpp"
#include "io/log.hpp"
#include "net/address.hpp"
#include "util/boot_clock.hpp"
#include "util/random_bits.hpp"
#include "util/text.hpp"

namespace garner::group {

namespace asio = net::asio;

MemberSide::MemberSide(asio::io_context& io, Settings const& settings, std::string secret, std::vector<IpEndpoint> voters,
                       GroupState::Totals& totals, Calls calls)
    : io_(io), settings_(settings), secret_(std::move(secret)), totals_(totals), calls_(std::move(calls)) {
    for (auto const& place : voters) outgoing_.push_back({.place = place});
}

void MemberSide::start(Time now) {
    MemberActions& actions = *this;
    member_.emplace(settings_, random_bits() | 1, actions, now);
}

void MemberSide::stop() {
    stopped_ = true;
    for (auto& one : outgoing_) drop(one);
}

// ---- the voter of this process ----

void MemberSide::set_own(std::optional<std::size_t> own, Time now) {
    auto const former = std::exchange(own_, own);
    if (own_) drop(outgoing_[*own_]);
    for_own_.clear();
    if (member_ && former != own)
        for (auto const& which : {former, own})
            if (which) member_->disconnected(*which, now);
}

std::optional<Message> MemberSide::take_for_own() {
    if (for_own_.empty()) return std::nullopt;
    auto message = std::move(for_own_.front());
    for_own_.pop_front();
    return message;
}

void MemberSide::receive_from_own(Message const& message, Time now) {
    if (own_ && !member_->receive(*own_, message, now)) member_->disconnected(*own_, now);
}

/// The member is called later: it is in a call itself.
void MemberSide::connect_own() {
    asio::post(io_, [this, voter = *own_, attempt = outgoing_[*own_].attempt] {
        if (stopped_ || own_ != voter || outgoing_[voter].attempt != attempt) return;
        for_own_.clear();
        member_->connected(voter, random_nonce(), boot_now());
        calls_.settle();
    });
}

// ---- connections ----

void MemberSide::drop(Outgoing& one) {
    ++one.attempt;
    net::Error ignored;
    for (auto const& socket : one.connecting) socket->close(ignored);
    one.connecting.clear();
    if (one.next_try) one.next_try->cancel();
    one.next_try = nullptr;
    if (one.link) one.link->drop();
    one.link = nullptr;
}

void MemberSide::connect(std::size_t voter) {
    auto& one = outgoing_[voter];
    if (one.link || !one.connecting.empty()) one.trouble = "no answer";
    drop(one);
    if (own_ == voter) return connect_own();
    one.next_try = std::make_shared<net::Timer>(io_);
    auto trying = try_to_connect(voter, one.attempt, one.next_try);
    asio::co_spawn(io_.get_executor(), std::move(trying), asio::detached);
}

/// The kernel sends a lost SYN again only after a second, so a second socket tries each L/8 beside the first, which serves a slow
/// line. A silent address is given up by Member, which connects anew.
net::awaitable<void> MemberSide::try_to_connect(std::size_t voter, std::uint64_t attempt, std::shared_ptr<net::Timer> timer) {
    while (!stopped_ && outgoing_[voter].attempt == attempt) {
        auto const socket = std::make_shared<net::TcpSocket>(io_);
        auto& tries = outgoing_[voter].connecting;
        net::Error ignored;
        if (tries.size() == 2) {
            tries.back()->close(ignored);
            tries.pop_back();
        }
        tries.push_back(socket);
        auto connecting = connect(voter, attempt, socket);
        asio::co_spawn(io_.get_executor(), std::move(connecting), asio::detached);
        timer->expires_after(settings_.times.retry());
        (void)co_await timer->async_wait(net::as_values);
    }
}

net::awaitable<void> MemberSide::connect(std::size_t voter, std::uint64_t attempt, std::shared_ptr<net::TcpSocket> socket) {
    net::TcpEndpoint const endpoint(net::to_asio(outgoing_[voter].place.address), outgoing_[voter].place.port);
    auto [error] = co_await socket->async_connect(endpoint, net::as_values);
    if (stopped_ || outgoing_[voter].attempt != attempt) co_return;
    if (error) {
        auto& tries = outgoing_[voter].connecting;
        std::erase(tries, socket);
        if (!tries.empty()) co_return;
        drop(outgoing_[voter]);
        note_trouble(voter, lower_case(error.message()), false);
        member_->disconnected(voter, boot_now());
    } else {
        opened(voter, std::move(*socket));
    }
    calls_.settle();
}

void MemberSide::opened(std::size_t voter, net::TcpSocket socket) {
    auto& one = outgoing_[voter];
    drop(one);
    one.link = std::make_shared<Link>(std::move(socket), Channel::Side::member, secret_, one.place);
    auto const attempt = one.attempt;
    Link::Events events;
    events.received = [this, voter, attempt](Message const& message) { return received(voter, attempt, message); };
    events.ended = [this, voter, attempt](Link::End how, std::string const& why) { ended(voter, attempt, how, why); };
    one.link->start(std::move(events));
    member_->connected(voter, random_nonce(), boot_now());
}

void MemberSide::send(std::size_t voter, Message const& message) {
    auto& one = outgoing_[voter];
    if (own_ == voter)
        for_own_.push_back(message);
    else if (one.link)
        one.link->send(message);
}

bool MemberSide::received(std::size_t voter, std::uint64_t attempt, Message const& message) {
    auto& one = outgoing_[voter];
    if (stopped_ || one.attempt != attempt) return false;
    if (auto const* const refused = std::get_if<Refused>(&message); refused && refused->id == NoticeId{})
        note_trouble(voter, refused->why, true);
    if (std::holds_alternative<Welcome>(message)) one.trouble.clear();
    if (auto const* const news = std::get_if<News>(&message)) totals_.received += news->notices.size();
    bool const good = member_->receive(voter, message, boot_now());
    if (!good && one.trouble.empty()) one.trouble = "it violated the protocol";
    calls_.settle();
    return good;
}

void MemberSide::ended(std::size_t voter, std::uint64_t attempt, Link::End how, std::string const& why) {
    auto& one = outgoing_[voter];
    if (stopped_ || one.attempt != attempt) return;
    one.link = nullptr;
    if (how == Link::End::bad_frame) ++totals_.bad_frames;
    if (!why.empty()) note_trouble(voter, why, how == Link::End::bad_frame);
    member_->disconnected(voter, boot_now());
    calls_.settle();
}

void MemberSide::note_trouble(std::size_t voter, std::string why, bool is_refusal) {
    auto& one = outgoing_[voter];
    auto const place = one.place.text();
    why = shown(why, 200);
    // The end of the connection follows a refusal, and says less.
    bool const is_told = one.trouble.starts_with("refused: ") && !is_refusal;
    if (!is_told) one.trouble = (is_refusal ? "refused: " : "") + why;
    if (is_refusal) ++totals_.links_refused;
    if (is_refusal && reports_.is_due(place, why, boot_now()))
        spdlog::warn("group: voter {} and this member refuse each other: {}", place, why);
}

std::vector<GroupState::VoterRow> MemberSide::voters(Time now) const {
    std::vector<GroupState::VoterRow> rows;
    auto const known = member_->voters();
    for (std::size_t i = 0; i < outgoing_.size(); ++i) {
        auto const& one = known[i];
        GroupState::VoterRow row{.address = outgoing_[i].place.text(),
                                 .is_own = own_ == i,
                                 .connected = one.connected,
                                 .trusted = one.trusted,
                                 .instance = one.instance,
                                 .sequence = one.sequence};
        if (one.as_of != never) row.age = now - one.as_of;
        if (one.as_of != never) row.left = std::max(Time(0), one.as_of + settings_.times.held() - now);
        row.trouble = one.connected && row.left > Time(0) ? std::string() : outgoing_[i].trouble;
        rows.push_back(std::move(row));
    }
    return rows;
}

}   // namespace garner::group
